"""`Bound`: a comparison sign and a number that a measure must meet, read from ``>= 0.8`` or a number."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from dataclasses import dataclass

from agenttrace.core.errors import ConfigError
from agenttrace.core.numbers import is_number
from agenttrace.core.text import short_repr

ROUNDING = 1e-9
"""A measure this near to a bound is the bound: 0.7 is no sum of binary fractions."""

SIGNS: dict[str, Callable[[float, float], bool]] = {
    ">=": lambda value, bound: value >= bound - ROUNDING,
    ">": lambda value, bound: value > bound + ROUNDING,
    "==": lambda value, bound: abs(value - bound) <= ROUNDING,
    "<=": lambda value, bound: value <= bound + ROUNDING,
    "<": lambda value, bound: value < bound - ROUNDING,
}
SIGN_AND_NUMBER = r"(?P<sign>>=|<=|==|>|<)\s*(?P<bound>-?(?:\d*\.?\d+|\d+\.))\s*"
"""The end of a requirement's line, the whole text of a bound."""

_TEXT = re.compile(r"\s*" + SIGN_AND_NUMBER)


@dataclass(frozen=True, slots=True)
class Bound:
    """A comparison sign (>=, >, ==, <=, <) and the number on its right."""

    sign: str
    number: float

    @classmethod
    def parse(cls, value: object) -> Bound:
        """Read ``>= 0.8``, or a number, which is the least value that is accepted.

        Raises:
            ConfigError: it is neither, or the number is not finite.
        """
        match = _TEXT.fullmatch(value) if isinstance(value, str) else None
        if match is not None:
            sign, number = match["sign"], float(match["bound"])
        else:
            sign, number = ">=", _as_float(value)
        if not math.isfinite(number):
            raise ConfigError(
                f"require is a number, or a sign and a number such as '>= 0.8'; got {short_repr(value)}"
            )
        return cls(sign, number)

    def accepts(self, value: float) -> bool:
        """Whether this value meets the bound."""
        return SIGNS[self.sign](value, self.number)

    def __str__(self) -> str:
        return f"{self.sign} {self.number:.12g}"


def _as_float(value: object) -> float:
    try:
        return float(value) if is_number(value) else math.nan
    except OverflowError:  # an integer beyond all floats
        return math.inf
