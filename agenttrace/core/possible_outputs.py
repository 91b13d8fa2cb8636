"""What a tool may have returned, where only the answer is known that a model was given."""

from __future__ import annotations

from typing import Any

from agenttrace.core.json_reader import json_or_literal
from agenttrace.core.marks import cause_of
from agenttrace.core.tool_call import ToolCall


def possible_outputs(call: ToolCall) -> tuple[Any, ...]:
    """The output of a call; where that is an answer, also the value that its text spells."""
    output = call.known_output
    if not call.from_answer or type(output) is not str or cause_of(output) is not None:
        return (output,)
    value = json_or_literal(output)
    return (output,) if value is output else (output, value)
