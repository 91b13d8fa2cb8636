"""Expected arguments in the shape in which a tool's calls are recorded."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from agenttrace.core.errors import ExpectationError
from agenttrace.core.tool_call import ArgumentMode, ToolDefinition
from agenttrace.expectations.pattern import Call


def states_all(tool: ToolDefinition, arguments: Mapping[str, Any]) -> bool:
    """Whether binding the arguments through the tool would leave them as they are."""
    parameters = tool.parameters
    return len(parameters) == len(arguments) and all(one.name in arguments for one in parameters)


def bound_arguments(
    tool: ToolDefinition, same_name: Sequence[ToolDefinition], expected: Call, mode: ArgumentMode
) -> dict[str, Any]:
    """An expected call's arguments as a call of `tool` records them, defaults filled in.

    Where they do not fit this tool but another one of the same name, they stay as they are: no call of this
    tool agrees with them then.

    Raises:
        ExpectationError: no tool of that name has such a parameter.
    """
    given = {**expected.arguments} if isinstance(expected.arguments, Mapping) else {}
    try:
        bound = tool.bind(given)
    except ExpectationError as error:
        if any(_fits(other, given) for other in same_name):
            return given
        raise ExpectationError(f"{expected.source}: {error}" if expected.source else str(error)) from None
    if mode == "exact":
        return bound
    rest = next((p.name for p in tool.parameters if p.kind == "var_keyword"), None)
    return {key: value for key, value in bound.items() if key in given or (key == rest and value)}


def _fits(tool: ToolDefinition, given: Mapping[str, Any]) -> bool:
    try:
        tool.bind(given)
    except ExpectationError:
        return False
    return True
