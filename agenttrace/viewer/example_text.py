"""A trace as an example: the YAML to paste into a file of examples, its calls as expected ones."""

from __future__ import annotations

from agenttrace.core.errors import AgentTraceError
from agenttrace.core.example import Example
from agenttrace.core.jsonable import jsonable, to_json
from agenttrace.core.trace import Trace
from agenttrace.datasets.dataset import row_of
from agenttrace.datasets.from_traces import example_from_trace
from agenttrace.datasets.yaml_format import write_yaml
from agenttrace.viewer.reads import Asked, Reads

_MOST_CALLS = 12
_MOST_CHARACTERS = 3_000
_FIELDS = ("name", "input", "tags", "expected_tools")


def example_text(reads: Reads, asked: Asked) -> tuple[int, str]:
    """The trace ``id`` as an example, as plain text."""
    trace = reads.store.trace(asked["id"])
    if trace is None:
        return 404, "there is no such trace\n"
    return 200, yaml_of(trace)


def yaml_of(trace: Trace) -> str:
    """A file of examples that holds this one: its name, input and tags, and the calls as expected ones."""
    whole = example_from_trace(trace, "calls")
    example = Example(
        name=whole.name, input=whole.input, tags=whole.tags, expected_tools=whole.expected_tools
    )
    row = row_of(example, 0)
    return write_yaml([{key: row[key] for key in _FIELDS if key in row}], {})


def short_yaml_of(trace: Trace) -> str | None:
    """The same for a page; None where it is too long to stand there, or YAML cannot hold it."""
    calls = trace.tool_calls
    if len(calls) > _MOST_CALLS:
        return None
    try:
        if len(to_json(jsonable([trace.input, *(call.arguments for call in calls)]))) > _MOST_CHARACTERS:
            return None
        return yaml_of(trace)
    except AgentTraceError:
        return None
