"""`AnswerScorer`: the base of scorers that compare an answer with the expected one."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from typing import Any

from agenttrace.core.errors import ScorerError
from agenttrace.core.example import Example
from agenttrace.core.jsonable import jsonable
from agenttrace.core.marks import Cause, cause_of, cause_within, without_digests
from agenttrace.core.numbers import is_number
from agenttrace.core.score import Score, checked_gate, checked_threshold
from agenttrace.core.trace import Trace
from agenttrace.expectations.reading import cannot_tell
from agenttrace.expectations.values import agreement


class AnswerScorer:
    """Holds a scorer's name and threshold, reads the two answers, writes the score.

    With `gate=False` the score informs: it is shown and stored, and fails nothing.
    """

    def __init__(self, name: str, threshold: float, gate: bool = True) -> None:
        self.name = name
        self.gate = checked_gate(gate, name)
        self.threshold = checked_threshold(threshold, name)

    def check(self, example: Example) -> None:
        """Raise ScorerError where nothing readable says what is expected."""
        self._expected(example)

    def _expected(self, example: Example) -> Any:
        """The example's `expected_output`; ScorerError where there is none."""
        if example.expected_output is None:
            raise ScorerError(f"{self.name} needs the example's expected_output")
        return example.expected_output

    def _actual(self, example: Example, trace: Trace | None) -> Any:
        """The example's `actual_output`, or else the trace's output; ScorerError where there is neither."""
        if example.actual_output is not None:
            return example.actual_output
        if trace is not None and trace.output is not None:
            return trace.output
        raise ScorerError(f"{self.name} needs the example's actual_output, or a trace with an output")

    def _whole(self, answer: Any) -> Any:
        """An answer that is read as a whole; ScorerError where it was not recorded whole."""
        cause = cause_within(answer)
        if cause is not None:
            raise ScorerError(
                f"{self.name} reads the answer as a whole, and it was {cause} when it was recorded; "
                "give the example's actual_output"
            )
        return answer

    def _agreement_unread(self, expected: Any, answer: Any) -> float | None:
        """Agreement where a text that is changed, or read, before it is compared was not recorded whole; None
        where both are. Texts that are the same agree; how others read cannot be told."""
        cause: Cause | None = cause_of(answer) if isinstance(answer, str) else None
        if cause is None and isinstance(expected, str):
            cause = cause_of(expected)
        if cause is None:
            return None
        return 1.0 if agreement(expected, answer) == 1.0 else cannot_tell(cause)

    def _text(self, value: Any) -> str:
        """A text as it is, a number as Python writes it; ScorerError for anything else."""
        if isinstance(value, str):
            return value
        if is_number(value):
            with suppress(ValueError):  # an integer that Python refuses to print
                return str(value)
        raise ScorerError(f"{self.name} compares texts, got {type(value).__name__} {shown(value, 100)}")

    def scored(self, value: float, reason: str, details: Mapping[str, Any] | None = None) -> Score:
        """The score of a value."""
        return Score.of(self.name, value, self.threshold, reason=reason, details=details)


def shown(value: Any, most: int) -> str:
    """A value's text, or its beginning, without digests; an integer that Python refuses to print stands as it
    is recorded."""
    value = without_digests(value)
    try:
        text = repr(value)
    except ValueError:
        text = repr(jsonable(value))
    return text if len(text) <= most else f"{text[: most - 1]}…"  # redaction looks at what is cut so
