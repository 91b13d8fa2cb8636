"""What formulas refuse: a value that is no number would make a number out of nothing."""

import math

import pytest

from agenttrace.statistics import (
    bootstrap_interval,
    clustered_standard_error,
    fisher_exact,
    interval_of_mean,
    pass_at_k,
    pass_hat_k,
    wilcoxon_signed_rank,
)


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf, "1", None])
def test_a_value_that_is_no_finite_number_is_refused_and_named(value):
    for formula in (wilcoxon_signed_rank, bootstrap_interval):
        with pytest.raises(ValueError, match="finite numbers, got"):
            formula([0.5, value, 1.0])
    with pytest.raises(ValueError, match="finite numbers, got"):
        clustered_standard_error([[0.5, value], [1.0]])


def test_the_interval_of_a_mean_has_no_nan():
    with pytest.raises(ValueError, match="from 0 to 1"):
        interval_of_mean([[0.5, math.nan], [1.0]])


@pytest.mark.parametrize("count", [-1, 1.5, "2", None, math.nan])
def test_a_count_that_is_no_whole_number_is_refused(count):
    with pytest.raises(ValueError, match="whole numbers from 0"):
        fisher_exact(3, 1, count, 4)
    for formula in (pass_at_k, pass_hat_k):
        with pytest.raises(ValueError, match="whole numbers from 0"):
            formula(5, count, 2)


def test_a_bootstrap_draws_at_least_once():
    with pytest.raises(ValueError, match="resamples"):
        bootstrap_interval([0.1, 0.2], resamples=0)
