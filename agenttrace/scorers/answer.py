"""The answer of an example or of its trace, as scorers of answers read it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from agenttrace.core.errors import ExpectationError, ScorerError
from agenttrace.core.example import Example
from agenttrace.core.jsonable import jsonable
from agenttrace.core.trace import Trace
from agenttrace.expectations.matcher import write_value
from agenttrace.expectations.values import Difference


def actual_answer(scorer: str, example: Example, trace: Trace | None) -> Any:
    """Return the example's `actual_output`, or else the trace's output.

    Raises:
        ScorerError: there is neither.
    """
    if example.actual_output is not None:
        return example.actual_output
    if trace is not None and trace.output is not None:
        return trace.output
    raise ScorerError(f"{scorer} needs the example's actual_output, or a trace with an output")


def expected_answer(scorer: str, example: Example) -> Any:
    """Return the example's `expected_output`.

    Raises:
        ScorerError: there is none.
    """
    if example.expected_output is None:
        raise ScorerError(f"{scorer} needs the example's expected_output")
    return example.expected_output


def as_text(scorer: str, value: Any) -> str:
    """Return a text as it is, and a number as Python writes it.

    Raises:
        ScorerError: the value is a list, a mapping or a bool.
    """
    if isinstance(value, str):
        return value
    if isinstance(value, int | float) and not isinstance(value, bool):
        return str(value)
    raise ScorerError(f"{scorer} compares texts, got {type(value).__name__} {value!r:.100}")


def differences_data(differences: Sequence[Difference]) -> list[dict[str, Any]]:
    """Return the differences of two answers as JSON-safe data."""
    return [
        {
            "path": d.path,
            "kind": d.kind,
            "expected": _expected_data(d.expected),
            "got": jsonable(d.got),
            "note": d.note,
        }
        for d in differences
    ]


def _expected_data(expected: Any) -> Any:
    try:
        return write_value(expected)
    except ExpectationError:  # a predicate has no written form
        return repr(expected)
