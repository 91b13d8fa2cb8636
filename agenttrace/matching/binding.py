"""Expected arguments as the calls of a tool record theirs: bound through its parameters, some ignored."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from agenttrace.core.errors import ExpectationError
from agenttrace.core.tool import ToolDefinition
from agenttrace.core.tool_call import ArgumentMode, ToolCall
from agenttrace.expectations.matcher import Context
from agenttrace.expectations.pattern import Call
from agenttrace.expectations.values import Difference, agree


def without_ignored(
    arguments: Mapping[str, Any], expected: Call, tool: ToolDefinition | None
) -> dict[str, Any]:
    """The arguments without the ignored ones, also among those that the tool takes through ``**options``."""
    rest = tool.rest if tool is not None else None
    return {
        key: without_ignored(value, expected, None) if key == rest and isinstance(value, Mapping) else value
        for key, value in arguments.items()
        if key not in expected.ignore
    }


def states_all(tool: ToolDefinition, arguments: Mapping[str, Any]) -> bool:
    """Whether binding the arguments through the tool would leave them as they are."""
    parameters = tool.parameters
    return len(parameters) == len(arguments) and not [p for p in parameters if p.name not in arguments]


def bound_arguments(
    tool: ToolDefinition, same_name: Sequence[ToolDefinition], expected: Call, mode: ArgumentMode
) -> dict[str, Any]:
    """An expected call's arguments as a call of `tool` records them, defaults filled in.

    Where they do not fit this tool but another one of the same name, they stay as they are: no call of this
    tool agrees with them then.

    Raises:
        ExpectationError: no tool of that name has such a parameter.
    """
    arguments = {**expected.arguments} if isinstance(expected.arguments, Mapping) else {}
    try:
        bound = tool.bind(arguments)
    except ExpectationError as error:
        if any(_fits(other, arguments) for other in same_name):
            return arguments
        raise ExpectationError(f"{expected.source}: {error}" if expected.source else str(error)) from None
    if mode == "exact":
        return bound
    return {key: value for key, value in bound.items() if key in arguments or (key == tool.rest and value)}


def _fits(tool: ToolDefinition, arguments: Mapping[str, Any]) -> bool:
    try:
        tool.bind(arguments)
    except ExpectationError:
        return False
    return True


def agree_unusual(
    expected: Call, arguments: Any, actual: ToolCall, context: Context, into: list[Difference] | None
) -> float:
    """Compare arguments that could not be read, or of which some are ignored."""
    if actual.arguments_error is not None:
        if into is not None:
            into.append(Difference("", arguments, None, note=actual.arguments_error))
        return 0.0
    actual_arguments = without_ignored(actual.arguments, expected, actual.tool)
    return agree(arguments, actual_arguments, context, "", into)
