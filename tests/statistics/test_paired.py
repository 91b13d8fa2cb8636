"""Tests of pairs: against scipy and statsmodels, and against every assignment of signs."""

from itertools import product

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from agenttrace.statistics import bootstrap_interval, mcnemar_exact, wilcoxon_signed_rank

DIFFERENCES = st.lists(st.integers(-6, 6), max_size=10)


@given(st.integers(0, 200), st.integers(0, 200))
def test_mcnemar_is_that_of_statsmodels(b, c):
    from statsmodels.stats.contingency_tables import mcnemar

    theirs = mcnemar([[3, b], [c, 5]], exact=True).pvalue if b + c else 1.0
    assert mcnemar_exact(b, c) == pytest.approx(theirs, rel=1e-9)


def test_mcnemar_counts_large_numbers_and_refuses_what_is_no_count():
    assert mcnemar_exact(5_000, 5_400) < 1e-4
    for wrong in (-1, 1.5, "2", None):
        with pytest.raises(ValueError, match="whole numbers"):
            mcnemar_exact(wrong, 3)


@given(DIFFERENCES)
def test_the_signed_rank_test_counts_every_assignment_of_signs(differences):
    from scipy.stats import rankdata

    changes = [d for d in differences if d]
    ranks = rankdata([abs(d) for d in changes]) if changes else []
    plus = sum(rank for rank, d in zip(ranks, changes, strict=True) if d > 0)
    smaller = min(plus, sum(ranks) - plus)
    sums = [
        sum(r for r, sign in zip(ranks, signs, strict=True) if sign)
        for signs in product((0, 1), repeat=len(ranks))
    ]
    p_value = min(1.0, sum(min(s, sum(ranks) - s) <= smaller + 1e-9 for s in sums) / len(sums))
    result = wilcoxon_signed_rank(differences)
    assert (result.statistic, result.pairs) == (smaller, len(changes))
    # A sum in the very middle is both ends at once and would be counted twice.
    assert result.p_value == pytest.approx(p_value)


@given(st.lists(st.floats(-1, 1).filter(bool), min_size=1, max_size=50, unique_by=abs))
def test_without_ties_it_is_the_exact_test_of_scipy(differences):
    from scipy.stats import wilcoxon

    theirs = wilcoxon(differences, method="exact")
    ours = wilcoxon_signed_rank(differences)
    assert ours.statistic == theirs.statistic
    assert ours.p_value == pytest.approx(theirs.pvalue)


@given(st.lists(st.integers(-9, 9).filter(bool), min_size=51, max_size=120))
def test_beyond_fifty_pairs_it_is_the_normal_approximation_of_scipy_with_ties(differences):
    from scipy.stats import wilcoxon

    theirs = wilcoxon(differences, method="asymptotic", correction=False)
    ours = wilcoxon_signed_rank([*differences, 0, 0.0])
    assert ours.statistic == theirs.statistic
    assert ours.p_value == pytest.approx(theirs.pvalue)


def test_pairs_without_a_difference_say_nothing():
    assert wilcoxon_signed_rank([0.0, 0.0]) == (0.0, 1.0, 0, 0)
    assert [wilcoxon_signed_rank(few).side for few in ([1, 2], [-1, -2], [1, -1])] == [1, -1, 0]
    assert wilcoxon_signed_rank([]).p_value == 1.0


@given(st.lists(st.sampled_from([-1.0, -0.5, 0.0, 0.25, 1.0]), min_size=8, max_size=40), st.integers(0, 3))
def test_the_bootstrap_is_near_that_of_scipy_and_always_the_same(values, seed):
    from numpy.random import default_rng
    from scipy.stats import bootstrap

    assume(len(set(values)) > 1 and sum(v != max(values, key=values.count) for v in values) > 3)
    import numpy

    ours = bootstrap_interval(values, seed=seed)
    assert ours == bootstrap_interval(values, seed=seed)
    theirs = bootstrap(
        (values,), numpy.mean, n_resamples=4_000, method="BCa", rng=default_rng(seed)
    ).confidence_interval
    # Means of resamples lie on a grid: an end near the middle of a step may fall to either side of it.
    step = (max(values) - min(values)) / len(values)
    assert ours == pytest.approx((theirs.low, theirs.high), abs=step + 0.05)


def test_the_bootstrap_leans_the_way_in_which_the_values_are_skewed():
    """A few large losses pull the end that is far from zero; a wrong sign would pull the other one."""
    from numpy import mean
    from numpy.random import default_rng
    from scipy.stats import bootstrap

    values = [0.01 * n for n in range(16)] + [0.4, 0.6, 0.9, 1.6]
    for skewed in (values, [-value for value in values]):
        theirs = bootstrap(
            (skewed,), mean, n_resamples=20_000, method="BCa", rng=default_rng(1)
        ).confidence_interval
        ours = bootstrap_interval(skewed, resamples=20_000)
        assert ours == pytest.approx((theirs.low, theirs.high), abs=0.015)


def test_the_bootstrap_of_equal_values_has_no_width_and_of_one_value_is_an_error():
    assert bootstrap_interval([0.5, 0.5, 0.5]) == (0.5, 0.5)
    with pytest.raises(ValueError):
        bootstrap_interval([0.5])
