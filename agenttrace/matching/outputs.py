"""Agreement of an expected output with what a call gave, or with the answer that a model was given for it.

An answer is text as a rule, where the tool may have given data (`possible_outputs`). What agrees
with the text and not with the value that it spells, or the other way round, cannot be told; only `re_` and
`semantic` are always asked about the text. An expected text also stands for the data that it spells.
"""

from __future__ import annotations

from typing import Any

from agenttrace.core.json_reader import json_or_literal
from agenttrace.core.possible_outputs import possible_outputs
from agenttrace.core.tool_call import ToolCall
from agenttrace.expectations.matcher import Context, Matcher
from agenttrace.expectations.reading import cannot_tell
from agenttrace.expectations.values import Difference, agree, prepare

_OF_TEXT = frozenset({"$re", "$semantic"})
_VALUE = "the value of the output"
_REMEDY = (
    "expect the text as it stands, or observe the tool with span_type='tool': recorded is the text that the "
    "model was given, which the tool may have returned, or the value that it spells"
)


def agree_with_output(
    expected: Any, call: ToolCall, context: Context, into: list[Difference] | None = None
) -> float:
    """Agreement of a prepared expected output with that of a call; the differences go to `into`, if given."""
    if call.output is None and call.failed:
        return _agree_with_nothing(expected, call, into)
    outputs = possible_outputs(call)
    if isinstance(expected, Matcher) and expected.operator in _OF_TEXT:
        outputs = outputs[:1]
    readings: list[tuple[float, list[Difference]]] = []
    for output in outputs:
        differences: list[Difference] = []
        readings.append((agree(_for(output, expected), output, context, "output", differences), differences))
    readings.sort(key=lambda reading: reading[0])
    agreement, differences = readings[-1]
    if readings[0][0] < agreement and cannot_tell("not recorded", _VALUE, _REMEDY) == 0.0:
        agreement, differences = readings[0]
    if into is not None:
        into.extend(differences)
    return agreement


def _agree_with_nothing(expected: Any, call: ToolCall, into: list[Difference] | None) -> float:
    """Agreement with what a call gave that failed: nothing, which is another thing than null."""
    if isinstance(expected, Matcher) and expected.accepts_absence:
        return 1.0
    if into is not None:
        why = "it failed" if call.error is None else f"it raised {call.error.type}"
        into.append(Difference("output", expected, None, "missing", f"{why}, and returned nothing"))
    return 0.0


def _for(output: Any, expected: Any) -> Any:
    """The expected output, or where that is text and the output is not, the data that it spells."""
    if type(expected) is not str or isinstance(output, str):
        return expected
    value = json_or_literal(expected)
    return expected if isinstance(value, str) else prepare(value)
