"""How alike two JSON answers are, value by value."""

from __future__ import annotations

from typing import Any

from agenttrace.core.example import Example
from agenttrace.core.json_reader import InvalidJSON, lenient_json
from agenttrace.core.marks import Redacted, cause_of
from agenttrace.core.score import Score
from agenttrace.core.trace import Trace
from agenttrace.expectations.partly_recorded import taken_from_a_record
from agenttrace.expectations.reading import in_both_readings
from agenttrace.expectations.values import agreement, differences
from agenttrace.scorers.answer_scorer import AnswerScorer


class JSONSimilarityScorer(AnswerScorer):
    """Agreement of `actual_output` with `expected_output`, from 0 to 1.

    Scalars agree or not; a mapping's agreement is the mean over the keys of either side, a list's the mean
    over the positions of the longer side. Text that is JSON is read first; `expected_output` may hold
    matchers.
    """

    def __init__(self, threshold: float = 1.0, *, name: str = "JSON Similarity", gate: bool = True) -> None:
        super().__init__(name, threshold, gate)

    @in_both_readings
    def score(self, example: Example, trace: Trace | None = None) -> Score:
        """Compare the two answers.

        Raises:
            ScorerError: a field is missing.
        """
        expected, actual = taken_from_a_record(self._expected(example)), self._actual(example, trace)
        is_text = type(actual) is Redacted and isinstance(expected, str)
        is_same = is_text and agreement(expected, actual) == 1.0
        value = 1.0 if is_same else self._agreement_unread(*map(_unread, (expected, actual)))
        if value is None:
            expected, actual = _read(expected), _read(actual)
            value = agreement(expected, actual)
        places = differences(expected, actual) if value < 1 else []
        reason = f"agreement {value:.6g}"
        if places:
            reason += "; differs in " + ", ".join(d.path or "the whole" for d in places[:10])
        return self.scored(value, reason, {"differences": [place.to_dict() for place in places]})


def _unread(value: Any) -> Any:
    """What is compared of an answer not recorded whole: redacted text is read where it is JSON."""
    return _read(value) if cause_of(value) == "redacted" else value


def _read(value: Any) -> Any:
    if isinstance(value, str):
        try:
            return lenient_json(value)
        except InvalidJSON:
            return value
    return value
