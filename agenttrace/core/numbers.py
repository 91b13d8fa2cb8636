"""What counts as a number: True and False do not, though Python makes them integers."""

from __future__ import annotations

import math
import sys
from numbers import Real
from typing import Any, TypeGuard


def is_number(value: Any) -> TypeGuard[float]:
    """Whether a value is an int or a float."""
    return isinstance(value, int | float) and not isinstance(value, bool)


def is_finite(value: Any) -> TypeGuard[float]:
    """Whether a value is an int or a float, and neither NaN nor infinite."""
    return is_number(value) and math.isfinite(value)


def is_decimal(value: Any) -> bool:
    """Whether a value is a `decimal.Decimal`, of exactly that class."""
    decimal = sys.modules.get("decimal")
    return decimal is not None and type(value) is vars(decimal).get("Decimal")


def plain_number(value: Any) -> Any:
    """A bool, a number of the standard library or of numpy as a float; anything else as it is.

    NaN stays NaN, and what is beyond every float becomes infinite.
    """
    numpy = sys.modules.get("numpy")
    is_flag = isinstance(value, bool) or (numpy is not None and isinstance(value, numpy.bool_))
    if not (is_flag or isinstance(value, Real) or is_decimal(value)):
        return value
    try:
        return float(value)
    except OverflowError:
        return math.inf
    except ValueError:  # a signalling NaN
        return math.nan


def is_whole(value: Any, least: int = 0) -> TypeGuard[int]:
    """Whether a value is an int of at least `least`."""
    return isinstance(value, int) and not isinstance(value, bool) and value >= least
