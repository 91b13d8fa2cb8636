"""Shares of trials that passed: their interval, and what they say of k trials at once."""

from __future__ import annotations

from math import comb, sqrt
from statistics import NormalDist
from typing import NamedTuple

from agenttrace.statistics.inputs import check_counts


class Interval(NamedTuple):
    """The numbers from `low` to `high`, both included."""

    low: float
    high: float

    def contains(self, number: float) -> bool:
        """Whether a number lies in the interval."""
        return self.low <= number <= self.high


def wilson_interval(passes: float, n: float, confidence: float = 0.95) -> Interval:
    """Return the score interval of a share (Wilson, JASA 22, 1927); from 0 to 1 where `n` is 0.

    Unlike the usual mean ± 2 standard errors it holds for few trials and for shares near 0 and 1. `n` need
    not be a whole number: an effective sample size will do.

    Raises:
        ValueError: not 0 ≤ passes ≤ n, or a confidence that is not between 0 and 1.
    """
    if not (0 <= passes <= n):
        raise ValueError(f"passes are from 0 to n = {n!r}, got {passes!r}")
    if n == 0:
        return Interval(0.0, 1.0)
    z = normal_quantile(confidence)
    share, spread = passes / n, z * z / n
    middle = (share + spread / 2) / (1 + spread)
    half = z * sqrt(share * (1 - share) / n + spread / (4 * n)) / (1 + spread)
    low = 0.0 if passes == 0 else max(middle - half, 0.0)
    high = 1.0 if passes == n else min(middle + half, 1.0)
    return Interval(low, high)


def pass_at_k(n: int, passes: int, k: int) -> float:
    """Return the chance that of k trials, drawn from n without putting back, at least one passed.

    The unbiased estimate of Chen et al. 2021 (arXiv:2107.03374): 1 − C(n − passes, k) / C(n, k).

    Raises:
        ValueError: no whole numbers, not 1 ≤ k ≤ n, or not 0 ≤ passes ≤ n.
    """
    _check(n, passes, k)
    return 1 - comb(n - passes, k) / comb(n, k)


def pass_hat_k(n: int, passes: int, k: int) -> float:
    """Return pass^k, the chance that k trials, drawn from n without putting back, all passed.

    The unbiased estimate of Yao et al. 2024 (tau-bench, arXiv:2406.12045): C(passes, k) / C(n, k).

    Raises:
        ValueError: no whole numbers, not 1 ≤ k ≤ n, or not 0 ≤ passes ≤ n.
    """
    _check(n, passes, k)
    return comb(passes, k) / comb(n, k)


def normal_quantile(confidence: float) -> float:
    """Return how many standard deviations on either side hold this share of a normal distribution.

    Raises:
        ValueError: the confidence is not between 0 and 1.
    """
    if not 0 < confidence < 1:
        raise ValueError(f"confidence is between 0 and 1, got {confidence!r}")
    return NormalDist().inv_cdf((1 + confidence) / 2)


def _check(n: int, passes: int, k: int) -> None:
    check_counts(n, passes, k)
    if not 1 <= k <= n:
        raise ValueError(f"k is from 1 to the number of trials, {n!r}, got {k!r}")
    if not 0 <= passes <= n:
        raise ValueError(f"passes are from 0 to n = {n!r}, got {passes!r}")
