"""Is the difference between two runs of the same examples chance? Tests and an interval for pairs."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby
from math import erfc, sqrt
from random import Random
from statistics import NormalDist, fmean
from typing import NamedTuple

from agenttrace.statistics.inputs import check_counts, check_finite
from agenttrace.statistics.proportions import Interval

MOST_EXACT = 50
"""Pairs up to which the signed rank test counts every assignment of signs."""


class SignedRanks(NamedTuple):
    """The result of a signed rank test: the smaller rank sum, the two-sided p-value, the pairs that
    differ, and the `side` with the larger rank sum: 1 above 0, -1 below, 0 where they are equal."""

    statistic: float
    p_value: float
    pairs: int
    side: int = 0


def mcnemar_exact(b: int, c: int) -> float:
    """Return the two-sided p-value of `b` examples that only passed before, and `c` that only passed after.

    The exact form of McNemar's test (Psychometrika 12, 1947): were it chance, each of the b + c would be on
    either side with probability 1/2. Examples with the same outcome in both runs do not count. 1 where none
    changed.

    Raises:
        ValueError: a count is negative, or no whole number.
    """
    check_counts(b, c)
    n = b + c
    ways = tail = 1
    for i in range(min(b, c)):
        ways = ways * (n - i) // (i + 1)
        tail += ways
    return min(1.0, 2 * tail / (1 << n))


def wilcoxon_signed_rank(differences: Sequence[float]) -> SignedRanks:
    """Test whether paired differences lie around 0 (Wilcoxon, Biometrics 1, 1945), two-sided.

    Differences of 0 are left out; equal sizes share their mean rank. Up to 50 pairs every assignment of signs
    is counted, with ties too; beyond that the normal approximation corrected for ties, without a continuity
    correction. No pair that differs: a p-value of 1.

    Raises:
        ValueError: a difference that is not a finite number.
    """
    check_finite(differences)
    changes = [difference for difference in differences if difference]
    n = len(changes)
    if not n:
        return SignedRanks(0.0, 1.0, 0)
    doubled, ties = _doubled_ranks([abs(change) for change in changes])
    positive = sum(rank for rank, change in zip(doubled, changes, strict=True) if change > 0)
    total = n * (n + 1)
    smaller = min(positive, total - positive)
    if n <= MOST_EXACT:
        p_value = _share_of_signs(doubled, smaller)
    else:
        variance = n * (n + 1) * (2 * n + 1) / 24 - sum(t**3 - t for t in ties) / 48
        p_value = erfc((total / 2 - smaller) / 2 / sqrt(2 * variance))
    side = (2 * positive > total) - (2 * positive < total)
    return SignedRanks(smaller / 2, min(1.0, p_value), n, side)


def _doubled_ranks(sizes: Sequence[float]) -> tuple[list[int], list[int]]:
    """Twice the rank of each size, a whole number also for ties, and how many share each rank."""
    order = sorted(range(len(sizes)), key=sizes.__getitem__)
    ranks, ties, before = [0] * len(sizes), [], 0
    for _, group in groupby(order, key=sizes.__getitem__):
        places = list(group)
        for place in places:
            ranks[place] = 2 * before + len(places) + 1
        ties.append(len(places))
        before += len(places)
    return ranks, ties


def _share_of_signs(doubled: Sequence[int], smaller: int) -> float:
    """The share of all assignments of signs whose smaller rank sum is at most this one."""
    ways = [1] + [0] * smaller  # ways[s]: assignments whose positive ranks sum up to s
    for rank in doubled:
        for at in range(smaller, rank - 1, -1):
            ways[at] += ways[at - rank]
    return 2 * sum(ways) / (1 << len(doubled))


def bootstrap_interval(
    values: Sequence[float], *, confidence: float = 0.95, resamples: int = 2_000, seed: int = 0
) -> Interval:
    """Return a bootstrap interval of the mean; of differences of pairs, of the mean difference.

    Bias-corrected and accelerated (BCa; Efron, JASA 82, 1987). The same values and seed give the same
    interval. Equal values give an interval without width.

    Raises:
        ValueError: fewer than two values, one that is not a finite number, fewer than one resample, or a
            confidence that is not between 0 and 1.
    """
    check_finite(values)
    if resamples < 1:
        raise ValueError(f"resamples are a whole number from 1, got {resamples!r}")
    n = len(values)
    if n < 2 or not 0 < confidence < 1:
        raise ValueError(
            f"wanted two values or more and a confidence between 0 and 1, got {n}, {confidence!r}"
        )
    mean = fmean(values)
    if min(values) == max(values):
        return Interval(mean, mean)
    rng = Random(seed)  # noqa: S311 - not a secret: the interval is to be the same each time
    means = sorted(fmean(rng.choices(values, k=n)) for _ in range(resamples))
    normal = NormalDist()
    below = sum(m < mean for m in means) + sum(m == mean for m in means) / 2
    bias = normal.inv_cdf(min(max(below, 0.5), resamples - 0.5) / resamples)
    # The whole mean is above the jackknife's by (value − mean) / (n − 1): the factor cancels out.
    deviations = [value - mean for value in values]
    acceleration = sum(d**3 for d in deviations) / (6 * sum(d * d for d in deviations) ** 1.5)

    def end(share: float) -> float:
        z = bias + normal.inv_cdf(share)
        adjusted = normal.cdf(bias + z / (1 - acceleration * z))
        return means[min(int(adjusted * resamples), resamples - 1)]

    return Interval(end((1 - confidence) / 2), end((1 + confidence) / 2))
