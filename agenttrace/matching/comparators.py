"""Whether a scorer's comparators are any, and compare anything."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from agenttrace.core.errors import ExpectationError, ScorerError, did_you_mean
from agenttrace.core.text import shorten
from agenttrace.core.tool import ToolDefinition
from agenttrace.core.tool_call import ToolCall
from agenttrace.matching.compared import Comparators
from agenttrace.matching.known_tools import recorded
from agenttrace.matching.selection import Selection


def checked_comparators(comparators: Comparators | None, scorer: str) -> Comparators | None:
    """Return them as they are.

    Raises:
        ScorerError: they are no mapping of tools to functions, or to mappings of parameters to functions.
    """
    value: Any = comparators
    if value is None:
        return None
    if isinstance(value, Mapping) and all(
        isinstance(tool, str) and _compares(one) for tool, one in value.items()
    ):
        return comparators
    raise ScorerError(
        f"{scorer}: comparators map a tool's name to a function, or to {{parameter: function}}, "
        f"got {shorten(repr(value), 200)}"
    )


def _compares(one: Any) -> bool:
    return callable(one) or (
        isinstance(one, Mapping)
        and all(isinstance(name, str) and callable(part) for name, part in one.items())
    )


def check_comparators(
    comparators: Comparators | None,
    tools: Mapping[str, ToolDefinition],
    selection: Selection,
    actual_calls: Iterable[ToolCall],
) -> None:
    """Refuse a comparator of an unknown tool, or of a parameter that its tool has not, where all tools are
    known (see `check_tools`): it would compare nothing.

    Raises:
        ExpectationError: it names the nearest known tool or parameter.
    """
    known = recorded(tools) if comparators else {}
    if (
        comparators is None
        or not known
        or not all(call.name in known or call.status == "attempted" for call in actual_calls)
    ):
        return
    names = {*known, *map(selection.name_of, known)}
    for name, compare in comparators.items():
        if name not in names:
            raise ExpectationError(
                f"comparators compares the arguments of {name!r}, which is not among the recorded tools"
                + did_you_mean(name, names)
            )
        tool = known.get(name)
        if tool is None or callable(compare) or any(p.kind.startswith("var_") for p in tool.parameters):
            continue
        parameters = [parameter.name for parameter in tool.parameters]
        for parameter in compare:
            if parameter not in parameters:
                raise ExpectationError(
                    f"comparators compares the parameter {parameter!r} of {name!r}, which has no such one"
                    + did_you_mean(parameter, parameters)
                )
