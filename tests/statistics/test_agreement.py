"""Cohen's kappa and its interval, against statsmodels, brute force and simulation."""

from fractions import Fraction
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agenttrace.statistics.agreement import cohens_kappa, kappa_interval, observed_agreement

TABLES = st.integers(2, 4).flatmap(
    lambda size: st.lists(
        st.lists(st.integers(0, 30), min_size=size, max_size=size), min_size=size, max_size=size
    )
)


def of_cases(table):
    """Kappa from the list of cases, exactly: every pair of cases of the two raters is a chance meeting."""
    cases = [(i, j) for i, row in enumerate(table) for j, count in enumerate(row) for _ in range(count)]
    n = len(cases)
    observed = Fraction(sum(i == j for i, j in cases), n)
    expected = Fraction(
        sum(cases.count(case) * sum(case[0] == other for _, other in cases) for case in set(cases)), n * n
    )
    return None if expected == 1 else (observed - expected) / (1 - expected)


@given(TABLES)
def test_kappa_is_what_the_list_of_cases_gives(table):
    small = [[count % 4 for count in row] for row in table]
    if sum(map(sum, small)) == 0:
        assert cohens_kappa(small) is None
        return
    exact = of_cases(small)
    assert cohens_kappa(small) == (None if exact is None else pytest.approx(float(exact)))


@given(TABLES)
def test_kappa_is_what_statsmodels_gives(table):
    agreement = pytest.importorskip("statsmodels.stats.inter_rater")
    kappa = cohens_kappa(table)
    if kappa is not None:
        assert kappa == pytest.approx(agreement.cohens_kappa(table, return_results=False))


@pytest.mark.parametrize("table", [[[400, 40], [60, 300]], [[300, 100], [100, 300]]])
def test_of_many_cases_the_interval_is_that_of_the_standard_error(table):
    agreement = pytest.importorskip("statsmodels.stats.inter_rater")
    result = agreement.cohens_kappa(table)
    interval = kappa_interval(table)
    assert interval.low == pytest.approx(result.kappa_low, abs=0.01)
    assert interval.high == pytest.approx(result.kappa_upp, abs=0.01)


def test_five_cases_that_all_agree_prove_little():
    assert cohens_kappa([[3, 0], [0, 2]]) == 1
    interval = kappa_interval([[3, 0], [0, 2]])
    assert interval.low < 0.6
    assert interval.high > 0.95


def test_the_interval_holds_the_true_kappa_about_as_often_as_it_says():
    random, shares = Random(7), [0.5, 0.08, 0.12, 0.3]
    p = shares
    expected = (p[0] + p[1]) * (p[0] + p[2]) + (p[2] + p[3]) * (p[1] + p[3])
    true = (p[0] + p[3] - expected) / (1 - expected)
    hits = 0
    for _ in range(60):
        cells = random.choices(range(4), shares, k=25)
        table = [[cells.count(0), cells.count(1)], [cells.count(2), cells.count(3)]]
        hits += kappa_interval(table).contains(true)
    assert hits >= 53


def test_one_verdict_alone_tells_nothing_beyond_chance():
    assert cohens_kappa([[9, 0], [0, 0]]) is None
    assert observed_agreement([[9, 0], [0, 0]]) == 1
    assert kappa_interval([[9, 0], [0, 0]]).contains(0)
    assert (cohens_kappa([[0, 0], [0, 0]]), observed_agreement([[0, 0], [0, 0]])) == (None, None)


@pytest.mark.parametrize("table", [[[1]], [[1, 2]], [[1, 2], [3]], [[1, -1], [0, 1]], [[1.5, 0], [0, 1]]])
def test_what_is_no_confusion_table_is_an_error(table):
    with pytest.raises(ValueError, match="confusion table"):
        cohens_kappa(table)
