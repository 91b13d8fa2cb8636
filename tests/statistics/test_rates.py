"""Fisher's exact test, against scipy."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agenttrace.statistics import fisher_exact

COUNT = st.integers(0, 60)


@given(COUNT, COUNT, COUNT, COUNT)
def test_it_is_that_of_scipy(a, b, c, d):
    from scipy import stats

    assert fisher_exact(a, b, c, d) == pytest.approx(stats.fisher_exact([[a, b], [c, d]]).pvalue)


def test_an_empty_row_says_nothing_and_a_negative_count_is_an_error():
    assert fisher_exact(0, 0, 3, 4) == 1.0
    with pytest.raises(ValueError):
        fisher_exact(1, 2, -3, 4)


def test_thousands_of_trials_are_no_more_than_a_moment():
    from scipy import stats

    table = [[4_000, 4_000], [4_000, 4_300]]
    assert fisher_exact(*table[0], *table[1]) == pytest.approx(stats.fisher_exact(table).pvalue)
