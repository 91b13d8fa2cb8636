"""A first look at what is written as expected tools, before any expectation is compiled."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Protocol, TypeAlias

from agenttrace.core.errors import AgentTraceError, DatasetError, did_you_mean
from agenttrace.core.tool_call import HAPPENED, ExpectedToolCall, ToolCall
from agenttrace.core.trace import Trace


class _Written(Protocol):
    """A pattern, an expected call, a whole expectation: what has a file form. A `ToolCall` has none."""

    def to_data(self) -> Any: ...


ExpectedTools: TypeAlias = _Written | Mapping[str, Any] | Sequence["str | ExpectedTools"]
"""What can be written as expected tools, so far as type checkers can tell."""

_PATTERN_WORDS = frozenset({"call", "seq", "par", "opt", "any_of", "many", "path"})
"""What a mapping inside a list of expected tools says where it is not one flat tool."""


def check_expected_tools(value: Any) -> None:
    """Check names and flat tools (``{"tool_name": …, "parameters": {…}}``), not the richer forms.

    Raises:
        DatasetError: a string, number, set or trace in place of a list, a call that happened, an entry that
            is nothing of the kind, an unknown key in an expected tool. It names the entry.
    """
    if isinstance(value, Trace):
        raise DatasetError(f"got a Trace, wanted expected calls{HAPPENED}", field="expected_tools")
    if isinstance(value, str):
        raise DatasetError(
            f"got the string {value!r}, wanted a list; write [{value!r}]", field="expected_tools"
        )
    if isinstance(value, bool | int | float | bytes | set | frozenset):
        raise DatasetError(
            f"got {type(value).__name__} {value!r}, wanted a list of tool names, "
            "of mappings with 'tool_name', or an expectation",
            field="expected_tools",
        )
    if isinstance(value, list | tuple):
        for index, item in enumerate(value):
            _check_item(item, f"expected_tools[{index}]")


def _check_item(item: Any, place: str) -> None:
    if isinstance(item, ToolCall):
        raise DatasetError(f"got a ToolCall of {item.name!r}, wanted an expected call{HAPPENED}", field=place)
    if item is None or isinstance(item, bool | int | float | bytes):
        raise DatasetError(
            f"got {type(item).__name__} {item!r}, wanted a tool's name or a mapping with 'tool_name'",
            field=place,
        )
    if isinstance(item, Mapping) and not ({"tool_name", "name"} & item.keys()):
        if not (_PATTERN_WORDS & item.keys()) and not _is_short_call(item):
            known = {"tool_name", *_PATTERN_WORDS}
            near = next((did_you_mean(str(key), known) for key in item), "; write {'tool_name': '…'}")
            raise DatasetError(f"got {dict(item)!r}, wanted a mapping with 'tool_name'{near}", field=place)
    elif isinstance(item, str | Mapping):
        try:
            ExpectedToolCall.of(item)
        except AgentTraceError as error:
            raise DatasetError(str(error), field=place) from None


def _is_short_call(item: Mapping[Any, Any]) -> bool:
    """Whether this is ``{tool: {parameter: value}}``."""
    return len(item) == 1 and all(value is None or isinstance(value, Mapping) for value in item.values())
