"""What a decorated callable is called with, which of it is recorded, what its tool looks like to a scorer."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from typing import Any, cast

from agenttrace.core.jsonable import jsonable
from agenttrace.core.tool_call import REQUIRED, Parameter, ParameterKind, ToolDefinition
from agenttrace.tracing.record import OnEnd, Recorder, Site
from agenttrace.tracing.redaction import Redaction

TOOL = "tool"
MAX_TOOLS = 10_000

_ANYTHING = inspect.Signature(
    [
        inspect.Parameter("args", inspect.Parameter.VAR_POSITIONAL),
        inspect.Parameter("kwargs", inspect.Parameter.VAR_KEYWORD),
    ]
)
_tools: dict[str, ToolDefinition] = {}
_names = Redaction()


def known_tools() -> Mapping[str, ToolDefinition]:
    """Every tool decorated in this process, by name; of several with one name the last."""
    return dict(_tools)


def signature_of(function: Callable[..., Any]) -> inspect.Signature:
    """The signature, or ``(*args, **kwargs)`` where a builtin has none that Python can tell."""
    try:
        return inspect.signature(function)
    except (ValueError, TypeError):
        return _ANYTHING


def is_bound_to_instance(function: Callable[..., Any], parameters: list[inspect.Parameter]) -> bool:
    """Whether the first parameter is a method's self or cls, which is not recorded."""
    if not parameters or parameters[0].name not in ("self", "cls"):
        return False
    owner = getattr(function, "__qualname__", "").rpartition(".")[0]
    return bool(owner) and not owner.endswith("<locals>")


def make_site(
    function: Callable[..., Any],
    parameters: list[inspect.Parameter],
    *,
    recorder: Recorder,
    name: str | None,
    span_type: str,
    capture_input: bool,
    capture_output: bool,
    metadata: Mapping[str, Any] | None,
    tags: tuple[str, ...],
    on_end: OnEnd | None,
) -> Site:
    """Describe one decorated place; a tool is entered in the list of known tools."""
    span_name = name or getattr(function, "__name__", None) or type(function).__name__
    site = Site(
        name=span_name,
        span_type=span_type,
        recorder=recorder,
        names=tuple(p.name for p in parameters),
        capture_input=capture_input,
        capture_output=capture_output,
        metadata=jsonable(metadata) if metadata else None,
        function=function,
        on_end=on_end,
    )
    if span_type == TOOL:
        site.definition = ToolDefinition(span_name, tuple(map(_parameter, parameters)), tags)
        if len(_tools) < MAX_TOOLS or span_name in _tools:
            _tools[span_name] = site.definition
    return site


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
    default = REQUIRED if parameter.default is parameter.empty else jsonable(parameter.default)
    return Parameter(parameter.name, cast(ParameterKind, _KINDS[parameter.kind]), default)
