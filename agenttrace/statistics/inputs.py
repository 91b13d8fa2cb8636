"""What a formula is given: finite values, and counts that are whole numbers."""

from __future__ import annotations

from collections.abc import Iterable
from math import isfinite
from numbers import Integral, Real
from typing import Any


def check_finite(values: Iterable[Any]) -> None:
    """Raise ValueError for a value that is not a finite number: it would spoil a mean in silence."""
    for value in values:
        if not isinstance(value, Real) or not isfinite(value):
            raise ValueError(f"values are finite numbers, got {value!r}")


def check_counts(*counts: Any) -> None:
    """Raise ValueError for a count that is negative, or no whole number."""
    if not all(isinstance(count, Integral) and int(count) >= 0 for count in counts):
        raise ValueError(f"counts are whole numbers from 0, got {', '.join(map(repr, counts))}")
