"""Trials that stop early: every order of passes counted, and 20,000 suites simulated."""

from itertools import combinations
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agenttrace.statistics.sequential import ERROR, boundary

CASES = st.integers(1, 9).flatmap(lambda n: st.tuples(st.just(n), st.integers(0, n + 1)))


def stopped(bounds, trials):
    """The verdict of the first trials that settle one, and how many these are."""
    passes = 0
    for number, passed in enumerate(trials, 1):
        passes += passed
        verdict = bounds.verdict(number, passes)
        if verdict is not None:
            return verdict, number
    raise AssertionError("all trials settle every verdict")


@given(CASES, st.sampled_from([0.0, 0.05, 0.2, 0.5]))
def test_of_all_orders_of_the_trials_no_more_than_the_error_is_settled_wrongly(case, error):
    n, needed = case
    bounds = boundary(n, needed, error)
    for total in range(n + 1):
        right = "holds" if total >= needed else "fails"
        orders = list(combinations(range(n), total))
        wrong = sum(stopped(bounds, [at in passing for at in range(n)])[0] != right for passing in orders)
        assert wrong <= error * len(orders) + 1e-9


@given(CASES)
def test_without_an_error_it_stops_as_soon_as_the_rest_cannot_change_the_verdict(case):
    n, needed = case
    bounds = boundary(n, needed, 0.0)
    for trials in range(1, n + 1):
        for passes in range(trials + 1):
            best, worst = passes + n - trials >= needed, passes >= needed
            expected = "holds" if worst else "fails" if not best else None
            assert bounds.verdict(trials, passes) == expected


def test_where_all_must_pass_one_failure_settles_it():
    bounds = boundary(30, 30)
    assert bounds.verdict(1, 0) == "fails"
    assert bounds.verdict(20, 20) is None
    assert bounds.verdict(29, 29) == "holds"


@pytest.mark.parametrize("wrong", [(0, 0), (5, 7), (5, -1), (5, 3, 1.0), (5, 3, -0.1)])
def test_a_boundary_that_cannot_be_is_an_error(wrong):
    with pytest.raises(ValueError):
        boundary(*wrong)


def test_more_passes_than_trials_are_an_error():
    with pytest.raises(ValueError):
        boundary(5, 3).verdict(2, 3)


RATES = [0.0, 0.3, 0.6, 0.7, 0.75, 0.8, 0.85, 0.9, 0.95, 1.0]
SUITES, EXAMPLES = 2_000, 10
"""For each rate: together 20,000 suites of ten examples."""


def test_in_20_000_suites_early_verdicts_are_wrong_no_more_often_than_stated_and_trials_are_saved():
    """``pass_rate >= 0.8`` of at most 30 trials, at every true rate: a verdict is false where all 30
    differ."""
    bounds = boundary(30, 24)
    rng = Random(20_000)
    shares, used = {}, {}
    for rate in RATES:
        false = ran = 0
        for _ in range(SUITES * EXAMPLES):
            trials = [rng.random() < rate for _ in range(30)]
            verdict, number = stopped(bounds, trials)
            false += verdict != ("holds" if sum(trials) >= 24 else "fails")
            ran += number
        shares[rate] = false / (SUITES * EXAMPLES)
        used[rate] = ran / (SUITES * EXAMPLES)
    assert max(shares.values()) <= ERROR
    assert used[1.0] == 12  # 60 % of 30 trials saved
    assert used[0.0] == 3
    assert 5 < used[0.3] < 7
    assert max(used.values()) < 24  # a fifth is saved at the worst rate
    assert sum(used.values()) / len(used) < 18  # four of ten over all rates
    print({rate: (round(shares[rate], 4), round(used[rate], 1)) for rate in RATES})
