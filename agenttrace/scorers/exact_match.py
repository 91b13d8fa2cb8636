"""Whether the answer equals the expected one."""

from __future__ import annotations

from agenttrace.core.example import Example
from agenttrace.core.score import Score, checked_flag
from agenttrace.core.trace import Trace
from agenttrace.expectations.partly_recorded import taken_from_a_record
from agenttrace.expectations.reading import in_both_readings
from agenttrace.expectations.values import agreement, differences
from agenttrace.scorers.answer_scorer import AnswerScorer, shown


class ExactMatchScorer(AnswerScorer):
    """1.0 where `actual_output` equals `expected_output`, else 0.0.

    Compared as JSON values: ``1`` equals ``1.0``, ``True`` is not ``1``, key order is free; `expected_output`
    may hold matchers. With `ignore_case` and `strip`, texts are compared in lower case, without white space
    at their ends.
    """

    def __init__(
        self,
        threshold: float = 1.0,
        *,
        ignore_case: bool = False,
        strip: bool = False,
        name: str = "Exact Match",
        gate: bool = True,
    ) -> None:
        super().__init__(name, threshold, gate)
        self.ignore_case = checked_flag(ignore_case, "ignore_case", name)
        self.strip = checked_flag(strip, "strip", name)

    @in_both_readings
    def score(self, example: Example, trace: Trace | None = None) -> Score:
        """Compare the two answers.

        Raises:
            ScorerError: a field is missing.
        """
        expected, actual = taken_from_a_record(self._expected(example)), self._actual(example, trace)
        changes = self.ignore_case or self.strip
        value = self._agreement_unread(expected, actual) if changes else None
        if value is None:
            expected, actual = self._plain(expected), self._plain(actual)
            value = agreement(expected, actual)
        equal = value == 1.0
        places = [] if equal else differences(expected, actual)
        reason = (
            "equal"
            if equal
            else f"differs in {len(places)} place{'s' if len(places) > 1 else ''}: "
            + "; ".join(
                f"{d.path or 'the value'}: expected {shown(d.expected, 80)}, got {shown(d.got, 80)}"
                for d in places[:5]
            )
        )
        return self.scored(float(equal), reason, {"differences": [place.to_dict() for place in places]})

    def _plain(self, value: object) -> object:
        if not isinstance(value, str):
            return value
        value = value.strip() if self.strip else value
        return value.casefold() if self.ignore_case else value
