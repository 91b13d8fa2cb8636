"""Rates, intervals and tests of significance: pure functions of numbers, of the standard library alone."""

from agenttrace.statistics.clustered import clustered_standard_error, interval_of_mean
from agenttrace.statistics.paired import bootstrap_interval, mcnemar_exact, wilcoxon_signed_rank
from agenttrace.statistics.proportions import Interval, pass_at_k, pass_hat_k, wilson_interval
from agenttrace.statistics.rates import fisher_exact
from agenttrace.statistics.sequential import Boundary, boundary

__all__ = [
    "Boundary",
    "Interval",
    "bootstrap_interval",
    "boundary",
    "clustered_standard_error",
    "fisher_exact",
    "interval_of_mean",
    "mcnemar_exact",
    "pass_at_k",
    "pass_hat_k",
    "wilcoxon_signed_rank",
    "wilson_interval",
]
