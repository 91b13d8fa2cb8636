"""How near a number is to the expected one."""

from __future__ import annotations

import math
import re
from typing import Any

from agenttrace.core.errors import ScorerError
from agenttrace.core.example import Example
from agenttrace.core.score import Score
from agenttrace.core.tagged import opened
from agenttrace.core.trace import Trace
from agenttrace.scorers.answer_scorer import AnswerScorer, shown

_NUMBER = re.compile(r"\s*[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?\s*", re.ASCII)
"""No ``1_000``, which is a number in code only, and no ``nan``."""


class NumericDifferenceScorer(AnswerScorer):
    """1 − |actual − expected| / (|actual| + |expected|): 1.0 for equal numbers, 0.0 for opposite signs.

    Two zeros are equal. The outputs are numbers, or texts that can be read as one. Formula as in autoevals'
    NumericDiff.
    """

    def __init__(
        self, threshold: float = 1.0, *, name: str = "Numeric Difference", gate: bool = True
    ) -> None:
        super().__init__(name, threshold, gate)

    def score(self, example: Example, trace: Trace | None = None) -> Score:
        """Compare the two numbers.

        Raises:
            ScorerError: a field is missing, or is not a finite number.
        """
        expected = self._expected(example)
        actual = self._whole(self._actual(example, trace))
        actual = self._number("actual_output", opened(actual) if type(actual) is dict else actual)
        # Halves: the sum of two large numbers is no finite number any more.
        size = abs(actual / 2) + abs(expected / 2)
        value = 1.0 if size == 0 else 1 - abs(actual / 2 - expected / 2) / size
        reason = (
            f"1 − |{actual!r} − {expected!r}| / (|{actual!r}| + |{expected!r}|)" if size else "both are 0"
        )
        return self.scored(value, reason, {"expected": expected, "actual": actual})

    def _expected(self, example: Example) -> float:
        return self._number("expected_output", super()._expected(example))

    def _number(self, field: str, value: Any) -> float:
        try:
            is_other = isinstance(value, bool) or (
                isinstance(value, str) and _NUMBER.fullmatch(value) is None
            )
            number = math.nan if is_other else float(value)
        except OverflowError:
            raise ScorerError(
                f"{self.name}: {field} is a finite number that a float can hold, got {shown(value, 40)}"
            ) from None
        except (TypeError, ValueError):
            number = math.nan
        if not math.isfinite(number):
            raise ScorerError(f"{self.name}: {field} is a finite number, got {shown(value, 100)}")
        return number
