"""Examples made of what happened."""

from __future__ import annotations

from typing import Any, Literal

from agenttrace.core.example import Example
from agenttrace.core.recorded import written_call
from agenttrace.core.trace import TOOL, Trace
from agenttrace.expectations.from_run import expectation_of

Expect = Literal["nothing", "names", "calls"]
"""What of a run is taken as the expectation for later runs: nothing, the tools' names in order, or the names
with their arguments."""


def example_from_trace(trace: Trace, expect: Expect = "nothing") -> Example:
    """The run as an example: its input, output and calls, and on request the calls as the expectation.

    The input is the root's, as keyword arguments; None where the root is itself a tool call (an agent that
    was not decorated). A recorded chat's input is its first text. The trace's id, customer, session and tags
    are in `additional_metadata`.
    """
    root = trace.root
    given: Any = None
    if root is not None and root.span_type != TOOL and root.input is not None:
        recorded = root.attributes.get("agenttrace.recorded")
        given = root.input["input"] if recorded else dict(root.input)
    origin = {
        "trace_id": trace.trace_id,
        "customer_id": trace.customer_id,
        "session_id": trace.session_id,
        "tags": list(trace.tags) or None,
    }
    return Example(
        input=given,
        actual_output=trace.output,
        tools_called=[written_call(call) for call in trace.tool_calls],
        expected_tools=None if expect == "nothing" else expectation_of(trace, expect),
        additional_metadata={key: value for key, value in origin.items() if value is not None},
        name=trace.name or None,
    )
