"""How sure is a mean whose values come in groups, such as the trials of each example?"""

from __future__ import annotations

from collections.abc import Sequence
from math import fsum, sqrt

from agenttrace.statistics.inputs import check_finite
from agenttrace.statistics.proportions import Interval, wilson_interval

FEW = 10
"""Clusters below which the spread between them says too little to narrow an interval."""


def clustered_standard_error(clusters: Sequence[Sequence[float]]) -> float | None:
    """Return the standard error of the mean of all values; each inner list is one cluster.

    Trials of one example are alike, so n trials of m examples say less than n examples would: the sum over
    clusters of the squared sum of deviations from the mean, by n², times m / (m − 1) (Liang and Zeger,
    Biometrika 73, 1986; for evaluations of models Miller 2024, arXiv:2411.00640). With one value a cluster
    this is the usual standard error. None where there are fewer than two clusters with values: then nothing
    says how clusters differ.

    Raises:
        ValueError: a value that is not a finite number.
    """
    filled = [values for values in clusters if values]
    for values in filled:
        check_finite(values)
    if len(filled) < 2:
        return None
    n = sum(map(len, filled))
    mean = fsum(value for values in filled for value in values) / n
    squares = fsum(fsum(value - mean for value in values) ** 2 for values in filled)
    return sqrt(squares * len(filled) / (len(filled) - 1)) / n


def interval_of_mean(clusters: Sequence[Sequence[float]], confidence: float = 0.95) -> Interval:
    """Return the interval of the mean of values from 0 to 1; each inner list is one cluster.

    Wilson's interval with an effective sample size: as many independent trials as would have the clustered
    standard error (Dean and Pagano, Survey Research Methods 9, 2015). It is never below the number of
    clusters; never above that of values either, where these are all 0 or 1, where there are fewer than 10
    clusters, or where no value differs. So the interval has a width even where all trials passed. Of one
    cluster, Wilson's interval of its values. From 0 to 1 where there are no values.

    Raises:
        ValueError: a value that is not from 0 to 1.
    """
    filled = [values for values in clusters if values]
    values = [value for each in filled for value in each]
    if not values:
        return Interval(0.0, 1.0)
    if not all(0 <= value <= 1 for value in values):
        raise ValueError(f"values are from 0 to 1, got {min(values)!r} to {max(values)!r}")
    n, mean = float(len(values)), fsum(values) / len(values)
    error = clustered_standard_error(filled)
    if error is not None:
        most = n if len(filled) < FEW or not error or {0, 1}.issuperset(values) else float("inf")
        effective = mean * (1 - mean) / error**2 if error else n
        n = min(max(effective, len(filled)), most)
    return wilson_interval(min(mean * n, n), n, confidence)
