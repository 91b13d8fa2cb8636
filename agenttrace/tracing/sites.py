"""One decorated place, described once: its name, what is recorded, what its tool looks like to a scorer."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from typing import Any, cast

from agenttrace.core.jsonable import clean_text, jsonable
from agenttrace.core.tool_call import REQUIRED, Parameter, ParameterKind, ToolDefinition
from agenttrace.tracing.rebinding import Rebinding
from agenttrace.tracing.record import OnEnd, Recorder, Site
from agenttrace.tracing.redaction import Redaction

TOOL = "tool"
MAX_TOOLS = 10_000

_tools: dict[str, ToolDefinition] = {}
_names = Redaction()


def known_tools() -> Mapping[str, ToolDefinition]:
    """Every tool decorated in this process, by name; of several with one name the last."""
    return dict(_tools)


def make_site(
    function: Callable[..., Any],
    recorded: Sequence[inspect.Parameter],
    known: Sequence[inspect.Parameter],
    *,
    recorder: Recorder,
    name: str | None,
    span_type: str,
    capture_input: bool,
    capture_output: bool,
    metadata: Mapping[str, Any] | None,
    tags: tuple[str, ...],
    on_end: OnEnd | None,
    rebinding: Rebinding | None = None,
) -> Site:
    """Describe one decorated place; a tool is entered in the list of known tools.

    `recorded` are the parameters whose values a record holds, `known` those that scorers see.
    """
    span_name = clean_text(name or _name_of(function))
    site = Site(
        name=span_name,
        span_type=clean_text(span_type),
        recorder=recorder,
        names=tuple(p.name for p in recorded),
        capture_input=capture_input,
        capture_output=capture_output,
        metadata=_names.inside(jsonable(dict(metadata))) if metadata else None,
        function=function,
        on_end=on_end,
        rebinding=rebinding,
    )
    if span_type == TOOL:
        site.definition = ToolDefinition(span_name, tuple(map(_parameter, known)), tags)
        if len(_tools) < MAX_TOOLS or span_name in _tools:
            _tools[span_name] = site.definition
    return site


def _name_of(function: Any) -> str:
    name = getattr(function, "__name__", None)
    if isinstance(name, str) and name:
        return name
    inner = getattr(function, "func", None)  # a partial's
    return type(function).__name__ if inner is None else _name_of(inner)


def is_secret(name: str) -> bool:
    """Whether a parameter of this name is never recorded."""
    return _names.is_secret(name)


_KINDS = {
    inspect.Parameter.POSITIONAL_ONLY: "positional_only",
    inspect.Parameter.POSITIONAL_OR_KEYWORD: "positional_or_keyword",
    inspect.Parameter.VAR_POSITIONAL: "var_positional",
    inspect.Parameter.KEYWORD_ONLY: "keyword_only",
    inspect.Parameter.VAR_KEYWORD: "var_keyword",
}


def _parameter(parameter: inspect.Parameter) -> Parameter:
    default = REQUIRED
    if parameter.default is not parameter.empty:
        default = _names.value(parameter.name, jsonable(parameter.default))
    return Parameter(parameter.name, cast(ParameterKind, _KINDS[parameter.kind]), default)
