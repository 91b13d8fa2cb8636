"""Shares of trials: against scipy, and against counting every draw."""

from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agenttrace.statistics import Interval, pass_at_k, pass_hat_k, wilson_interval

COUNTS = st.integers(1, 300).flatmap(lambda n: st.tuples(st.just(n), st.integers(0, n)))
SMALL = st.integers(1, 8).flatmap(
    lambda n: st.tuples(st.lists(st.booleans(), min_size=n, max_size=n), st.integers(1, n))
)


@given(COUNTS, st.sampled_from([0.5, 0.9, 0.95, 0.99]))
def test_the_wilson_interval_is_that_of_scipy(counts, confidence):
    from scipy.stats import binomtest

    n, passes = counts
    theirs = binomtest(passes, n).proportion_ci(confidence, method="wilson")
    assert wilson_interval(passes, n, confidence) == pytest.approx((theirs.low, theirs.high), abs=1e-12)


@given(COUNTS)
def test_the_wilson_interval_holds_the_share_and_mirrors(counts):
    n, passes = counts
    interval = wilson_interval(passes, n)
    assert interval.contains(passes / n)
    mirrored = wilson_interval(n - passes, n)
    assert mirrored == pytest.approx((1 - interval.high, 1 - interval.low))


def test_without_trials_nothing_is_known():
    assert wilson_interval(0, 0) == Interval(0.0, 1.0)


@pytest.mark.parametrize("wrong", [(-1, 3), (4, 3), (1, 2, 1.0), (1, 2, 0)])
def test_a_share_beyond_its_trials_and_a_confidence_beyond_certainty_are_errors(wrong):
    with pytest.raises(ValueError):
        wilson_interval(*wrong)


@given(SMALL)
def test_pass_at_k_and_pass_hat_k_count_the_draws(case):
    trials, k = case
    draws = list(combinations(trials, k))
    n, passes = len(trials), sum(trials)
    assert pass_at_k(n, passes, k) == pytest.approx(sum(map(any, draws)) / len(draws))
    assert pass_hat_k(n, passes, k) == pytest.approx(sum(map(all, draws)) / len(draws))


def test_many_trials_overflow_nothing():
    assert 0 < pass_hat_k(100_000, 90_000, 100) < 1e-4
    assert pass_at_k(100_000, 90_000, 100) == 1.0


@pytest.mark.parametrize("function", [pass_at_k, pass_hat_k])
@pytest.mark.parametrize("wrong", [(3, 1, 0), (3, 1, 4), (3, 4, 1), (3, -1, 1), (0, 0, 1)])
def test_more_draws_than_trials_are_an_error(function, wrong):
    with pytest.raises(ValueError):
        function(*wrong)
