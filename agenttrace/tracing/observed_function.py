"""What is known of an observed function before any call: name, recorded parameters, tool definition."""

from __future__ import annotations

import inspect
import weakref
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple, cast

from agenttrace.core.jsonable import clean_text, jsonable
from agenttrace.core.marks import cause_of, known_part, left_out
from agenttrace.core.span_rows import SpanKind
from agenttrace.core.tool import REQUIRED, Parameter, ParameterKind, ToolDefinition
from agenttrace.redaction import Redaction
from agenttrace.tracing.default_recorder import default_recorder
from agenttrace.tracing.record import OnEnd, Recorder
from agenttrace.tracing.signature import attribute_of

RedactedNames = tuple["Redaction | None", bool, str, "ToolDefinition | None", tuple[str, ...], str, str, str]
"""An observed function's redacted names: for which redaction; True if its values may be redacted by name; its
name; its definition; the names of its values; its type; the names of the secrets that it returns, and that it
is given. One tuple, because several threads may replace it.
"""


class ObservedFunction:
    """An observed function: what is the same for all of its calls."""

    __slots__ = (
        "__weakref__",
        "capture_input",
        "capture_output",
        "function",
        "kind",
        "metadata",
        "name",
        "names",
        "on_end",
        "rebinding",
        "recorder",
        "rules",
        "span_type",
        "tool",
        "wrapper",
    )

    def __init__(
        self,
        *,
        name: str,
        span_type: str,
        recorder: Recorder,
        names: tuple[str, ...] = (),
        capture_input: bool = True,
        capture_output: bool = True,
        metadata: Mapping[str, Any] | None = None,
        function: Any = None,
        on_end: OnEnd | None = None,
        rebinding: Rebinding | None = None,
    ) -> None:
        self.name = name
        self.span_type = span_type
        self.recorder = recorder
        self.names = names
        self.capture_input = capture_input
        self.capture_output = capture_output
        self.metadata = metadata
        self.function = function
        self.tool: Tool | None = None
        self.on_end = on_end
        self.rules: RedactedNames = (None, True, "", None, (), "", "", "")
        self.kind: tuple[RedactedNames, SpanKind, str] | None = None
        self.rebinding = rebinding
        self.wrapper: Callable[[], Any] | None = None

    @property
    def definition(self) -> ToolDefinition | None:
        """The definition of a tool; None for any other function."""
        return None if self.tool is None else self.tool.definition

    def __reduce__(self) -> Any:
        # A closure is pickled by value, by cloudpickle and dill: what belongs to this process is left behind.
        return _arrived, (self.name, self.span_type), self._carried()

    def _carried(self) -> dict[str, Any]:
        carried = {name: getattr(self, name) for name in _CARRIED}
        return {**carried, "wrapper": None if self.wrapper is None else self.wrapper()}

    def __setstate__(self, carried: dict[str, Any]) -> None:
        wrapper, definition = carried.pop("wrapper"), carried.pop("definition")
        for name, value in carried.items():
            setattr(self, name, value)
        self.tool = None if definition is None else Tool(None, definition)
        self.wrapper = None if wrapper is None else weakref.ref(wrapper)


_CARRIED = ("names", "capture_input", "capture_output", "metadata", "function", "definition", "rebinding")


def _arrived(name: str, span_type: str) -> ObservedFunction:
    """An observed function that came from another process: the tracer that is here records it."""
    return ObservedFunction(name=name, span_type=span_type, recorder=default_recorder())


class ObserveOptions(NamedTuple):
    """How calls are recorded: what `observe` was told of the function that it decorates."""

    span_type: str = "function"
    name: str | None = None
    capture_input: bool = True
    capture_output: bool = True
    metadata: Mapping[str, Any] | None = None
    tags: tuple[str, ...] = ()
    on_end: OnEnd | None = None
    """Gets each finished span, on the pipeline's worker."""


MAX_TOOLS = 10_000
_LONGEST_DESCRIPTION = 500

_names = Redaction()


class Tool:
    """A tool's definition, made when somebody first asks for it: that takes longer than all of decorating."""

    __slots__ = ("_definition", "_make")

    def __init__(self, make: Callable[[], ToolDefinition] | None, definition: ToolDefinition | None) -> None:
        self._make = make
        self._definition = definition

    @property
    def definition(self) -> ToolDefinition:
        """The definition. Of two threads that ask at once, each may make one; they are equal."""
        if self._definition is None:
            make = self._make
            if make is not None:
                self._definition = make()
                self._make = None
        return cast(ToolDefinition, self._definition)


_tools: dict[str, Tool] = {}


def known_tools() -> Mapping[str, ToolDefinition]:
    """Every tool decorated in this process, by name. Of several with one name, the last."""
    return {name: tool.definition for name, tool in _tools.copy().items()}


def observed_function(
    function: Callable[..., Any],
    names: tuple[str, ...],
    options: ObserveOptions,
    *,
    recorder: Recorder,
    rebinding: Rebinding | None = None,
) -> ObservedFunction:
    """Describe one observed function; `names` are those of the parameters whose values a record holds."""
    return ObservedFunction(
        name=clean_text(options.name or _name_of(function)),
        span_type=clean_text(options.span_type),
        recorder=recorder,
        names=names,
        capture_input=options.capture_input,
        capture_output=options.capture_output,
        metadata=_names.inside(jsonable(dict(options.metadata))) if options.metadata else None,
        function=function,
        on_end=options.on_end,
        rebinding=rebinding,
    )


def enter_tool(
    function: Callable[..., Any],
    name: str,
    options: ObserveOptions,
    parameters: tuple[Callable[..., Sequence[inspect.Parameter]], *tuple[Any, ...]],
    *,
    later: bool,
) -> Tool:
    """Enter a tool in the known tools, with the parameters that scorers see, as what makes them and is given.

    With `later` they are asked for when the definition is: they must be the same then.
    """
    text = function.__doc__ if inspect.isroutine(function) else None
    # One object, and no lambda: of thousands of tools the garbage collector goes through each one's cells.
    make = partial(_definition, name, options.tags, text, *parameters)
    tool = Tool(make, None) if later else Tool(None, make())
    if len(_tools) < MAX_TOOLS or name in _tools:
        _tools[name] = tool
    return tool


def _definition(
    name: str,
    tags: tuple[str, ...],
    text: Any,
    parameters: Callable[..., Sequence[inspect.Parameter]],
    *arguments: Any,
) -> ToolDefinition:
    made = tuple(map(_parameter, parameters(*arguments)))
    return ToolDefinition(name, made, tags, description=_description(text))


def _description(text: Any) -> str:
    """The first line of a function's own docstring, as tools are described to models."""
    line = text.strip().partition("\n")[0].rstrip() if type(text) is str else ""
    described: str = _names.inside(clean_text(line[:_LONGEST_DESCRIPTION]))
    return described


def _name_of(function: Any) -> str:
    while True:
        name = attribute_of(function, "__name__")
        if isinstance(name, str) and name:
            return name
        if not isinstance(function, partial):  # a mock has a `func`, too, which has another
            return type(function).__name__
        function = function.func


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


class Rebinding:
    """Binds recorded arguments to the parameters that a callable's signature shows.

    A decorator of the user's (``@retry`` over ``def search(city)``) takes ``*args, **kwargs`` but shows,
    through `functools.wraps`, the signature of the function that it wraps. It must get the arguments as they
    were passed; scorers need ``city``. The binding is done on the pipeline's worker.
    """

    def __init__(self, own: Sequence[inspect.Parameter], signature: Sequence[inspect.Parameter]) -> None:
        self._own = tuple(own)
        self._signature = inspect.Signature(signature)
        self._defaults = {p.name: jsonable(p.default) for p in signature if p.default is not p.empty}

    @property
    def signature(self) -> inspect.Signature:
        """The parameters that the callable shows, without a method's self."""
        return self._signature

    def bind(self, values: Sequence[Any]) -> dict[str, Any] | None:
        """The values of the callable's own parameters, bound to those of its signature.

        Returns None if they do not fit: the decorator adds or removes arguments. Where some were not
        recorded, each parameter to which they may belong gets the mark of a value that was not recorded.
        """
        positional: list[Any] = []
        keywords: dict[str, Any] = {}
        left, complete = 0, True
        for parameter, value in zip(self._own, values, strict=False):
            if parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD):
                known = known_part(value)
                part, total = (value, len(value)) if cause_of(value) is None else ((), None)
                if known is not None and known.total is not None:
                    part, total = known.part, known.total
                if parameter.kind is parameter.VAR_KEYWORD:
                    keywords |= part or {}
                    complete = complete and total == len(part)
                else:
                    positional += part
                    left = 0 if total is None else total - len(part)
                    complete = complete and total is not None
            elif parameter.kind is parameter.KEYWORD_ONLY:
                keywords[parameter.name] = value
            else:
                positional.append(value)
        unknown = [left_out("span")] * min(left, len(self._signature.parameters))
        bind = self._signature.bind if complete else self._signature.bind_partial
        try:
            arguments = bind(*positional, *unknown, **keywords).arguments
        except TypeError:
            return None
        if left:
            _put_one_mark(arguments, self._signature, left)
        return {
            name: self._value_of(arguments, p, complete=complete)
            for name, p in self._signature.parameters.items()
        }

    def _value_of(self, arguments: dict[str, Any], parameter: inspect.Parameter, *, complete: bool) -> Any:
        if parameter.name in arguments:
            value = arguments[parameter.name]
            return list(value) if parameter.kind is parameter.VAR_POSITIONAL else value
        if not complete:
            return left_out("span")
        if parameter.kind is parameter.VAR_POSITIONAL:
            return []
        return {} if parameter.kind is parameter.VAR_KEYWORD else self._defaults.get(parameter.name)


def _put_one_mark(arguments: dict[str, Any], signature: inspect.Signature, left: int) -> None:
    """Put one mark for all that are left in the place of the marks at the end of ``*args``."""
    for name, parameter in signature.parameters.items():
        if parameter.kind is parameter.VAR_POSITIONAL and name in arguments:
            known = [value for value in arguments[name] if value != left_out("span")]
            elsewhere = sum(value == left_out("span") for other, value in arguments.items() if other != name)
            arguments[name] = [*known, left_out(max(left - elsewhere, 1))]
