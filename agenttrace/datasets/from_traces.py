"""Examples made of recorded runs: `example_from_trace`, with names that tell them apart."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Literal

from agenttrace.core.example import Example
from agenttrace.core.marks import left_out, without_digests
from agenttrace.core.recorded_calls import ROOT_NAME, call_to_mapping, input_of_run
from agenttrace.core.text import short_line
from agenttrace.core.tool import TOOL
from agenttrace.core.tool_call import ToolCall
from agenttrace.core.trace import Trace
from agenttrace.expectations.expectation import expectation_of

Expect = Literal["nothing", "names", "calls"]
"""What is expected of later runs: nothing, the tools' names in order, or the names with their arguments."""

NAME_LENGTH = 60


def examples_from_traces(traces: Iterable[Trace], expect: Expect, *, outputs: bool) -> Iterator[Example]:
    """An example of each run; one that would have an earlier one's name has a number after it."""
    return told_apart(example_from_trace(trace, expect, outputs=outputs) for trace in traces)


def told_apart(examples: Iterable[Example]) -> Iterator[Example]:
    """The same examples, each with a name: one that would have an earlier one's has a number after it."""
    counts: dict[str, int] = {}
    for example in examples:
        name = example.name or ROOT_NAME
        number = counts[name] = counts.get(name, 0) + 1
        while number > 1 and f"{name} ({number})" in counts:
            number += 1
        if number > 1:
            name = f"{name} ({number})"
            counts[name] = 1
        example.name = name
        yield example


def example_from_trace(trace: Trace, expect: Expect = "nothing", *, outputs: bool = False) -> Example:
    """Make an example of a run: its input, output and calls, on request with the calls as expected ones.

    The input is the root's, as keyword arguments; None where the root is itself a tool call (an agent that
    was not decorated). A recorded chat's input is its first text, that of an imported trace a text where it
    has no parameter's name. The name is that of the root with the
    beginning of its input; a recorded run that has a name keeps it. The trace's tags are the example's, its
    id, customer and session are in `additional_metadata`.
    Without `outputs`, what the tools returned is left out: a mark says that it is not known.
    """
    root = trace.root
    agent_input: Any = None
    if root is not None and root.span_type != TOOL and root.input is not None:
        agent_input = without_digests(input_of_run(root))
    origin = {
        "trace_id": trace.trace_id,
        "customer_id": trace.customer_id,
        "session_id": trace.session_id,
    }
    return Example(
        input=agent_input,
        actual_output=without_digests(trace.output),
        tools_called=without_digests([_recorded(call, outputs=outputs) for call in trace.tool_calls]),
        expected_tools=None if expect == "nothing" else expectation_of(trace, expect),
        additional_metadata={key: value for key, value in origin.items() if value is not None},
        tags=list(trace.tags) or None,
        name=_name(trace, agent_input),
    )


def _recorded(call: ToolCall, *, outputs: bool) -> dict[str, Any]:
    recorded = call_to_mapping(call)
    if not outputs and "output" in recorded:
        recorded["output"] = left_out("span")
    return recorded


def _name(trace: Trace, agent_input: Any) -> str | None:
    if trace.is_recorded_run and trace.name != ROOT_NAME:
        return trace.name
    values = agent_input.values() if isinstance(agent_input, Mapping) else [agent_input]
    text = ", ".join(str(value) for value in values if isinstance(value, str | int | float))
    root = "" if trace.is_recorded_run else trace.name
    return (
        short_line(": ".join(filter(None, (root, without_digests(text)))), NAME_LENGTH) or trace.name or None
    )
