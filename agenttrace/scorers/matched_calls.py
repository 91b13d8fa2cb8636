"""How many of the expected calls find an actual call of their own that agrees."""

from __future__ import annotations

from typing import Any

from agenttrace.core.score import Score
from agenttrace.expectations.comparison import Comparison
from agenttrace.expectations.explain import explain


def matched_score(name: str, threshold: float, strict: bool, comparison: Comparison) -> Score:
    """Matched by expected, under the optimal one-to-one pairing; with `strict`, all or 0.

    Nothing expected is 1.0 where nothing was called, else 0.0. Details: per expected call, by its number from
    1, the matched call, or the nearest one with what parts them.
    """
    if not comparison.expects_calls:
        value, reason = (0.0 if comparison.calls else 1.0), comparison.aligned
    else:
        value = comparison.matched / comparison.required
        reason = f"{comparison.matched} of {comparison.required} expected calls matched"
    if strict and value < 1:
        value, reason = 0.0, f"{reason}; strict: 0 unless all"
    rows = sorted(
        (row for row in comparison.rows if row.expected is not None), key=lambda row: row.number or 0
    )
    return Score.of(
        name,
        value,
        threshold,
        reason=reason,
        details={"calls": [_row(row) for row in rows], **comparison.facts()},
        diff=explain(comparison) if value < 1 else None,
        strict=strict,
    )


def _row(row: Any) -> dict[str, Any]:
    data: dict[str, Any] = row.to_dict()
    actual = data["actual"] if data["actual"] is not None else data["nearest"]
    return {
        "number": data["number"],
        "expected": data["expected"],
        "matched": data["kind"] == "matched",
        "call": actual,
        "differences": data["differences"],
    }
