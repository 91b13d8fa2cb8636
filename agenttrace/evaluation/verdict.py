"""What one run of an example amounts to, its scores included."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from agenttrace.core.errors import did_you_mean
from agenttrace.core.example import Example
from agenttrace.core.report import ResultOutcome
from agenttrace.core.score import Score
from agenttrace.core.tool_call import ExpectedToolCall
from agenttrace.core.trace import Trace


def obstacle(example: Example, trace: Trace, function_name: str) -> str | None:
    """Why the trace of a run cannot be compared with what the example expects, or None: it can.

    Tools are expected but nothing at all was recorded; or a tool is expected that the recorder does not know
    (it knows the tools that are decorated in this process, and those that were called).
    """
    if not example.expected_tools:
        return None
    if not trace.spans:
        return (
            f"tools are expected, but nothing was recorded while {function_name} ran; decorate the tools "
            'with @tracer.observe(span_type="tool") and the function itself with @tracer.observe, and check '
            "that AGENTTRACE_ENABLED is not 0"
        )
    if not trace.tools:
        return None
    known = {*trace.tools, *(call.name for call in trace.tool_calls)}
    for name in expected_names(example.expected_tools):
        if name not in known:
            hint = did_you_mean(name, known)
            return f"the tool {name!r} is expected, but no tool of that name is recorded{hint}"
    return None


def expected_names(expected: Any) -> Iterator[str]:
    """The tools that a plain list of expectations names; richer expectations are checked by their scorers."""
    if not isinstance(expected, Sequence) or isinstance(expected, str):
        return
    for item in expected:
        if isinstance(item, str | Mapping | ExpectedToolCall):
            try:
                yield ExpectedToolCall.of(item).name
            except ValueError:  # one level deeper than a plain call: the scorer reads it
                continue


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
