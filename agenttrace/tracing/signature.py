"""The parameters of an observed function, read from its code: `inspect` would take longer than the rest."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from functools import partial
from types import CodeType, FunctionType
from typing import Any, NamedTuple

from agenttrace.core.interruptions import pass_on_interruption

Parameters = list[inspect.Parameter]

_VARIADIC = inspect.CO_VARARGS | inspect.CO_VARKEYWORDS


class SignatureShape(NamedTuple):
    """The kinds of a code's parameters, and which are optional; their names stand in the code.

    `optional` of the positional ones, the last, have a default, and the keyword-only ones at
    `optional_keywords`.
    """

    positional: int
    positional_only: int
    keyword_only: int
    variadic: int
    optional: int
    optional_keywords: tuple[int, ...]

    @property
    def total(self) -> int:
        """How many parameters there are. The code's variables begin with them."""
        return self.positional + self.keyword_only + _HOW_MANY[self.variadic]

    @property
    def begins_with_args(self) -> bool:
        """Whether ``*args`` is the first parameter."""
        return not self.positional and bool(self.variadic & inspect.CO_VARARGS)

    def in_order(self, variables: tuple[str, ...]) -> tuple[str, ...]:
        """The parameters' names in the order of the signature: a code has ``*args`` after the keywords."""
        if not self.variadic & inspect.CO_VARARGS:
            return variables[: self.total]
        first, last = self.positional, self.positional + self.keyword_only
        return (
            *variables[:first],
            variables[last],
            *variables[first:last],
            *variables[last + 1 : self.total],
        )

    def parameters(self, variables: tuple[str, ...]) -> Parameters:
        """The parameters, with None as the default of the optional ones."""
        keywords = variables[self.positional :]
        return _parameters(
            self, variables, (None,) * self.optional, {keywords[at]: None for at in self.optional_keywords}
        )


_made: Callable[[tuple[int, int, int, int, int, tuple[int, ...]]], SignatureShape] = partial(
    tuple.__new__, SignatureShape
)
"""Makes one in a third of the time."""

_HOW_MANY = {flags: flags.bit_count() for flags in (0, inspect.CO_VARARGS, inspect.CO_VARKEYWORDS, _VARIADIC)}


def shape_of(function: FunctionType) -> SignatureShape:
    """The shape of a plain function's own parameters, whatever ``__wrapped__`` and ``__signature__`` say."""
    return _shape(function.__code__, function.__defaults__, function.__kwdefaults__)


def _shape(
    code: CodeType, defaults: tuple[Any, ...] | None, by_name: Mapping[str, Any] | None
) -> SignatureShape:
    count, keywords = code.co_argcount, code.co_kwonlyargcount
    # Who sets `__defaults__` may give more values than there are parameters.
    optional = 0 if not defaults else len(defaults) if len(defaults) <= count else count
    named = (
        tuple([at for at in range(keywords) if code.co_varnames[count + at] in by_name]) if by_name else ()
    )
    return _made((count, code.co_posonlyargcount, keywords, code.co_flags & _VARIADIC, optional, named))


def code_parameters(function: FunctionType) -> Parameters:
    """The parameters of a plain function's own code, with their defaults."""
    return _parameters_of(function.__code__, function.__defaults__, function.__kwdefaults__)


def _parameters_of(
    code: CodeType, defaults: tuple[Any, ...] | None, by_name: Mapping[str, Any] | None
) -> Parameters:
    shape = _shape(code, defaults, by_name)
    return _parameters(shape, code.co_varnames, defaults or (), by_name or {})


def parameters_later(
    function: FunctionType, skipped: int
) -> tuple[Callable[..., Parameters], *tuple[Any, ...]]:
    """What makes the parameters that `code_parameters` would now, without the first `skipped`, and what it is
    to be called with; it does not hold `function`."""
    by_name = function.__kwdefaults__
    return _parameters_behind, skipped, function.__code__, function.__defaults__, by_name and by_name.copy()


def _parameters_behind(
    skipped: int, code: CodeType, defaults: tuple[Any, ...] | None, by_name: Mapping[str, Any] | None
) -> Parameters:
    return _parameters_of(code, defaults, by_name)[skipped:]


def has_lasting_defaults(function: FunctionType) -> bool:
    """Whether all defaults are scalars: what they say now, they say later."""
    for default in function.__defaults__ or ():
        if not _is_leaf(type(default)):
            return False
    by_name = function.__kwdefaults__
    return not by_name or all(_is_leaf(type(default)) for default in by_name.values())


def _is_leaf(kind: type) -> bool:
    """Whether values of a class are scalars. By identity: a metaclass may have no hash, or raise there."""
    return kind is str or kind is int or kind is type(None) or kind is bool or kind is float


def _parameters(
    shape: SignatureShape, names: tuple[str, ...], defaults: tuple[Any, ...], by_name: Mapping[str, Any]
) -> Parameters:
    kind, count = inspect.Parameter, shape.positional
    values = (kind.empty,) * count + defaults
    values = values[len(values) - count :]
    parameters = [
        kind(
            names[at],
            kind.POSITIONAL_ONLY if at < shape.positional_only else kind.POSITIONAL_OR_KEYWORD,
            default=values[at],
        )
        for at in range(count)
    ]
    last = count + shape.keyword_only
    named = [
        kind(name, kind.KEYWORD_ONLY, default=by_name.get(name, kind.empty)) for name in names[count:last]
    ]
    if shape.variadic & inspect.CO_VARARGS:
        parameters.append(kind(names[last], kind.VAR_POSITIONAL))
        last += 1
    parameters += named
    if shape.variadic & inspect.CO_VARKEYWORDS:
        parameters.append(kind(names[last], kind.VAR_KEYWORD))
    return parameters


def parameters_shown(function: Callable[..., Any], accepted: FunctionType) -> Parameters | None:
    """The parameters that `inspect.signature` shows, where arguments must be bound to them to know which is
    which; None where it fails, or shows those that are accepted."""
    if function is accepted and not function.__dict__:
        return None
    try:
        shown = list(inspect.signature(function).parameters.values())
    except (Exception, SystemExit, GeneratorExit) as error:  # choke-point: `__signature__` may be code
        pass_on_interruption(error)
        return None
    return None if not shown or _are_alike(code_parameters(accepted), shown) else shown


def _are_alike(first: Parameters, second: Parameters) -> bool:
    """Returns True if every call binds to the same parameters in both."""
    return [(p.name, p.kind, p.default is p.empty) for p in first] == [
        (p.name, p.kind, p.default is p.empty) for p in second
    ]


def attribute_of(value: Any, name: str, default: Any = None) -> Any:
    """An attribute; `default` where there is none, or where code of the object's own raises.

    That of a lazy proxy does outside of its context.
    """
    try:
        return getattr(value, name, default)
    except (Exception, SystemExit, GeneratorExit) as error:  # choke-point: `__getattr__` may be code
        pass_on_interruption(error)
        return default


def begins_with_instance(function: Callable[..., Any], first: str) -> bool:
    """Returns True if the first parameter is a method's self or cls, which is not recorded."""
    if first not in ("self", "cls"):
        return False
    qualname = attribute_of(function, "__qualname__", "")
    owner = qualname.rpartition(".")[0] if isinstance(qualname, str) else ""
    return bool(owner) and not owner.endswith("<locals>")


_STYLES = {
    0: "function",
    inspect.CO_COROUTINE: "coroutine",
    inspect.CO_GENERATOR: "generator",
    inspect.CO_ASYNC_GENERATOR: "async generator",
}
_STYLE_FLAGS = inspect.CO_COROUTINE | inspect.CO_GENERATOR | inspect.CO_ASYNC_GENERATOR


def call_style(function: Callable[..., Any]) -> str:
    """How a callable is called: "function", "coroutine", "generator" or "async generator"."""
    if (
        type(function) is FunctionType and not function.__dict__
    ):  # where it may be marked as a coroutine function
        return _STYLES[function.__code__.co_flags & _STYLE_FLAGS]
    try:
        if inspect.isasyncgenfunction(function):
            return "async generator"
        if inspect.iscoroutinefunction(function):
            return "coroutine"
        return "generator" if inspect.isgeneratorfunction(function) else "function"
    except (Exception, SystemExit, GeneratorExit) as error:  # choke-point: newer Pythons ask for a mark
        pass_on_interruption(error)
        return "function"


def _anything(*args: Any, **kwargs: Any) -> None: ...


ANYTHING: FunctionType = _anything  # type: ignore[assignment] # a function, of which mypy knows no code
"""Takes all arguments: what the wrapper of a callable without code of its own takes."""
