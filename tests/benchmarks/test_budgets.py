"""Each promise is set beside what was measured."""

from benchmarks.budgets import lines, table
from tests.benchmarks import sample


def test_figures_within_the_budgets_meet_all_that_was_measured():
    made = lines(sample.everything())
    assert {line.met for line in made} == {True, None}
    assert [line.promise for line in made if line.met is None] == ["the pytest plugin adds ≤ 5 ms"]
    assert {line.number for line in made} == {"1", "2", "3", "4", "5", "6", "8"}


def test_a_slow_call_is_not_met_and_the_note_says_by_how_much():
    (line,) = [line for line in lines(sample.everything(p50=3.0)) if line.promise.startswith("sync: ≤")]
    assert line.met is False
    assert "2.0 × the budget" in line.note


def test_a_lost_span_is_not_met():
    found = sample.everything()
    found["overhead"]["ours"]["sustained"]["stored"] -= 1
    (line,) = [line for line in lines(found) if "none lost" in line.promise]
    assert line.met is False
    assert "1 of 150,000 lost" in line.measured


def test_an_evaluation_that_is_lost_is_not_met():
    found = sample.everything()
    found["online"]["microseconds"]["room"]["accounted"] -= 1
    (line,) = [line for line in lines(found) if line.number == "5"]
    assert line.met is False


def test_without_peers_the_comparison_is_not_measured():
    found = sample.everything()
    found["overhead"]["peers"] = {}
    (line,) = [line for line in lines(found) if "fastest peer" in line.promise]
    assert (line.met, line.note) == (None, "no peer")


def test_the_table_has_a_row_a_budget():
    made = lines(sample.everything())
    assert len(table(made).splitlines()) == len(made) + 2
