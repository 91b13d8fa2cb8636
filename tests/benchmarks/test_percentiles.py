"""Percentiles and tables of the benchmarks."""

from benchmarks.percentiles import figure, markdown, median, percentile


def test_a_percentile_is_one_of_the_samples():
    samples = [5.0, 1.0, 4.0, 2.0, 3.0]
    assert median(samples) == 3.0
    assert percentile(samples, 0.99) == 5.0
    assert percentile(samples, 0.0) == 1.0


def test_a_figure_is_short_and_a_missing_one_a_dash():
    assert [figure(1234.5), figure(56.78), figure(1.234), figure(None)] == ["1,234", "56.8", "1.23", "—"]


def test_a_table_has_columns_of_equal_width():
    lines = markdown(["name", "µs"], [["a", "1.00"], ["a longer name", "20"]]).splitlines()
    assert len({len(line) for line in lines}) == 1
    assert lines[1].endswith("-: |")
