"""`expectation_of`: turn the tool calls of a good run into the expectation for later runs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

from agenttrace.core.errors import ExpectationError, did_you_mean
from agenttrace.core.tool_call import ToolCall
from agenttrace.core.trace import Trace
from agenttrace.expectations.matcher import write_value

CallParts = Literal["calls", "names"]
"""Which parts of each call are expected: its name with its arguments, or its name alone."""


def expectation_of(run: Trace | Sequence[ToolCall], expect: CallParts = "calls") -> list[Any]:
    """The tool calls of a run as expected tools, in their order: plain data to keep, edit, or compare with.

    ``Example(input=…, expected_tools=expectation_of(captured.trace))``. Failed attempts are among the calls.
    Arguments are those that were recorded, defaults included. A call whose arguments could not be read is
    expected by name only.

    Raises:
        ExpectationError: `run` is neither a trace nor its calls, or `expect` is unknown.
    """
    if expect not in ("calls", "names"):
        raise ExpectationError(
            f"expect is 'calls' or 'names', got {expect!r}{did_you_mean(str(expect), ('calls', 'names'))}"
        )
    calls = run.tool_calls if isinstance(run, Trace) else run
    if not isinstance(calls, list | tuple) or not all(isinstance(call, ToolCall) for call in calls):
        raise ExpectationError(f"a run is a Trace, or its tool_calls, got {run!r:.200}")
    if expect == "names":
        return [call.name for call in calls]
    return [
        call.name
        if call.arguments_error is not None
        else {"tool_name": call.name, "parameters": write_value(call.arguments)}
        for call in calls
    ]
