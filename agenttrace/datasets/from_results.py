"""Examples made of the results of an evaluation, with what their runs did as what is expected."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Literal

from agenttrace.core.errors import DatasetError
from agenttrace.core.example import Example
from agenttrace.core.marks import without_digests
from agenttrace.core.report import ScoringResult
from agenttrace.core.trace import Trace
from agenttrace.datasets.from_traces import example_from_trace, told_apart

ExpectOfResult = Literal["nothing", "names", "calls", "own"]
"""What is expected of later runs: as of a trace, or what the example itself expects."""


def examples_from_results(
    results: Iterable[ScoringResult], expect: ExpectOfResult, *, outputs: bool
) -> Iterator[Example]:
    """An example of each one that has results: of its first trial among them.

    Raises:
        DatasetError: a result has neither a trace nor recorded calls, and calls are to be expected.
    """
    first = {result.position: result for result in reversed([*results])}
    return told_apart(_example(first[position], expect, outputs) for position in sorted(first))


def _example(result: ScoringResult, expect: ExpectOfResult, outputs: bool) -> Example:
    example, trace = result.example, result.trace
    if trace is None and example.tools_called is not None:
        trace = Trace.from_calls(example.tools_called)
    name = example.name or f"example {result.position + 1}"
    if trace is None and expect in ("names", "calls"):
        raise DatasetError(
            f"nothing says what was called in {name}: its run has no trace, or it is stored no more; "
            "expect 'own' or 'nothing'"
        )
    called, expected = example.tools_called, example.expected_tools
    if trace is not None:
        made = example_from_trace(trace, "nothing" if expect == "own" else expect, outputs=outputs)
        called, expected = made.tools_called, expected if expect == "own" else made.expected_tools
    metadata = dict(example.additional_metadata or {})
    if result.trace_id is not None:
        metadata["trace_id"] = result.trace_id
    fields = {
        "input": example.input,
        "actual_output": example.actual_output,
        "additional_metadata": metadata,
        "tools_called": called,
        "expected_tools": None if expect == "nothing" else expected,
    }
    return example.changed(name=name, **{field: without_digests(value) for field, value in fields.items()})
