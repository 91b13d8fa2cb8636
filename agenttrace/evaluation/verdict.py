"""What one run of an example amounts to, its scores included."""

from __future__ import annotations

from collections.abc import Sequence

from agenttrace.core.example import Example
from agenttrace.core.report import ResultOutcome
from agenttrace.core.score import Score
from agenttrace.core.trace import Trace


def obstacle(example: Example, trace: Trace, function_name: str) -> str | None:
    """Why the trace of a run cannot be compared with what the example expects, or None: it can."""
    if not example.expected_tools or trace.spans:
        return None
    return (
        f"tools are expected, but nothing was recorded while {function_name} ran; decorate the tools "
        'with @tracer.observe(span_type="tool") and the function itself with @tracer.observe, and check '
        "that AGENTTRACE_ENABLED is not 0"
    )


def outcome_of(
    failure: str | None, obstacle: str | None, scores: Sequence[Score]
) -> tuple[ResultOutcome, str | None]:
    """The outcome of one result, with the error that explains it where the scores do not.

    The agent's own failure comes first, then what made a comparison impossible. A score below its threshold
    fails the example even where another scorer broke; a scorer that broke never passes; neither do scorers
    that all skipped.
    """
    if failure is not None:
        return "failed", failure
    if obstacle is not None:
        return "errored", obstacle
    found = {score.outcome for score in scores}
    if "failed" in found:
        return "failed", None
    if "errored" in found:
        return "errored", None
    if "passed" in found:
        return "passed", None
    return "errored", "every scorer skipped this example, so nothing says that it passes"
