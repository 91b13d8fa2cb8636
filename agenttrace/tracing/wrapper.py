"""The recording wrapper of a plain function, and what it does with a returned generator or coroutine."""

from __future__ import annotations

import inspect
import linecache
import textwrap
from collections.abc import Callable, Sequence
from functools import cached_property, lru_cache, partial, update_wrapper
from itertools import islice
from sys import getrefcount
from types import AsyncGeneratorType, CodeType, CoroutineType, FunctionType, GeneratorType, coroutine
from typing import Any, cast, overload
from zlib import crc32

from agenttrace.core.errors import ConfigError
from agenttrace.core.identity import monotonic_ns
from agenttrace.tracing import steps, templates
from agenttrace.tracing.context import current
from agenttrace.tracing.failure import GENERATED
from agenttrace.tracing.freeze import LIGHT_TEXT
from agenttrace.tracing.observed_function import ObservedFunction
from agenttrace.tracing.record import OBSERVED, OUTPUT, SCOPE, Record

RESERVED = "_at_"
"""Parameters must not begin so; a function that has such a one is wrapped behind ``*args, **kwargs``."""

AWAITABLE_GENERATOR = inspect.CO_ITERABLE_COROUTINE
"""The flag of code that `types.coroutine` has marked: ``await`` takes its generators."""

_Maker = Callable[[Callable[..., Any], ObservedFunction], FunctionType]


def light(name: str) -> str:
    """Source that is true for a small immutable scalar: such values travel by reference."""
    return (
        f"(_at_y := _at_type({name})) is _at_str and _at_len({name}) <= {LIGHT_TEXT} or _at_y is _at_int"
        f" or {name} is None or _at_y is _at_bool or _at_y is _at_float"
    )


NOT_DEFERRED = (
    "(_at_y := _at_type(_at_o)) is not _at_generator and _at_y is not _at_coroutine"
    " and _at_y is not _at_async_generator"
)
"""Source that is true for everything but what is consumed after the call."""

_HELD_BY_US = 3
"""References to a value that only the wrapper, `deliver` and the call that counts them hold; newer Pythons
may count fewer."""


def deliver(record: Record, output: Any) -> Any:
    """End a record whose output is not a light scalar; return what the caller gets.

    A coroutine, generator or async generator that a plain function made and returns keeps the record open
    until it is consumed: the caller gets an equivalent of the same type. One that somebody else holds, too,
    is theirs: what is done with an equivalent would not be done with it. Like everything else it is returned
    as it is.
    """
    kind = type(output)  # compared by identity: a look-up would run code of the metaclass's
    deferred = kind is GeneratorType or kind is CoroutineType or kind is AsyncGeneratorType
    if deferred and getrefcount(output) <= _HELD_BY_US:
        consume: Callable[[Record, Any], Any] = _CONSUMERS[kind]
        if kind is GeneratorType and output.gi_code.co_flags & AWAITABLE_GENERATOR:
            consume = _consume_awaitable
        consumed: Any = consume(record, output)
        consumed.__name__, consumed.__qualname__ = output.__name__, output.__qualname__
        return consumed
    end = monotonic_ns()
    if record[OBSERVED].capture_output:
        record[OUTPUT] = steps.freeze_one(record[SCOPE], output)
    steps.emit(record, end)
    return output


_BUILTINS: tuple[type | Callable[..., Any], ...] = (
    *(type, str, int, bool, float, len),
    *(BaseException, RecursionError, TypeError, ValueError, StopIteration, StopAsyncIteration, GeneratorExit),
)

_NAMESPACE: dict[str, Any] = {
    **{f"_at_{builtin.__name__}": builtin for builtin in _BUILTINS},
    "__name__": __name__,
    "__tracebackhide__": True,  # pytest leaves our frames out of what it shows
    "_at_clock": monotonic_ns,
    "_at_get": current.get,
    "_at_generator": GeneratorType,
    "_at_coroutine": CoroutineType,
    "_at_async_generator": AsyncGeneratorType,
    "_at_deliver": deliver,
    "_at_end": steps.end_steps,
    "_at_foreign_context": steps.count_foreign_context,
    "_at_fail": steps.fail,
    "_at_fail_here": steps.fail_here,
    "_at_failed": ("error", None),
    "_at_first_step": steps.first_step,
    "_at_freeze": steps.freeze_arguments,
    "_at_most_items": steps.most_items,
    "_at_note": steps.note_item,
    "_at_reset": current.reset,
    "_at_root": steps.root,
    "_at_set": current.set,
    "_at_succeed": steps.succeed,
}


_MOST_ITEMS = "0 if _at_r[1] is None else _at_most_items(_at_r[1].limits)"
"""Source of how many items of a generator's output are recorded; all of them are counted."""

_MAX_SHAPES = 1024
"""Sources that are kept compiled, and printable: one for each call style and signature."""

_sources: dict[str, _Lines] = {}


class _Lines(Sequence[str]):
    """The lines of a source, which is written when somebody looks at them."""

    def __init__(self, write: Callable[[], str]) -> None:
        self._write = write

    @cached_property
    def _lines(self) -> list[str]:
        return self._write().splitlines(keepends=True)

    @overload
    def __getitem__(self, index: int) -> str: ...
    @overload
    def __getitem__(self, index: slice) -> list[str]: ...
    def __getitem__(self, index: int | slice) -> str | list[str]:
        return self._lines[index]

    def __len__(self) -> int:
        return len(self._lines)


def _make_printable(name: str, write: Callable[[], str]) -> None:
    """Let debuggers and tracebacks find the lines of a source that no file holds."""
    if name in _sources:
        return
    lines = _sources[name] = _Lines(write)
    linecache.cache[name] = (1, None, cast(list[str], lines), name)
    for oldest in list(islice(_sources, max(len(_sources) - _MAX_SHAPES, 0))):
        _sources.pop(oldest, None)
        linecache.cache.pop(oldest, None)


def source_of(decorated: Any) -> str:
    """The source of the generated wrapper through which an observed function is called.

    Its lines are those that tracebacks and pdb show under the name ``<agenttrace observe …>``.

    Raises:
        ConfigError: nothing that `observe` returned for a function, method or callable object; or more than
            1,024 call styles and signatures were observed since.
    """
    wrapper = getattr(decorated, "__func__", decorated)  # of a method, a staticmethod, a classmethod
    wrapper = getattr(wrapper, "_self_recording", wrapper)  # of an `ObservedCallable`
    code = getattr(wrapper, "__code__", None)
    if not isinstance(code, CodeType) or not code.co_filename.startswith(GENERATED):
        raise ConfigError(f"source_of wants an observed function, got {decorated!r}")
    if code.co_filename not in _sources:
        raise ConfigError(f"the source of {code.co_filename} is no longer kept; observe the function again")
    return "".join(_sources[code.co_filename])


def _run(code: CodeType) -> dict[str, Any]:
    definitions: dict[str, Any] = {}
    exec(code, _NAMESPACE, definitions)  # noqa: S102 - our own template, filled with parameter names only
    return definitions


def _under(template: str) -> Callable[[Record, Any], Any]:
    source = textwrap.dedent(template.format(light_item=light("_at_i"), keep=_MOST_ITEMS))
    name = f"{GENERATED}deferred {crc32(source.encode()):08x}-{len(source)}>"
    _make_printable(name, lambda: source)
    consumer: Callable[[Record, Any], Any] = _run(compile(source, name, "exec"))["_at_wrapper"]
    return consumer


_CONSUMERS: dict[type, Callable[[Record, Any], Any]] = {
    GeneratorType: _under(templates.GENERATOR_UNDER),
    CoroutineType: _under(templates.COROUTINE_UNDER),
    AsyncGeneratorType: _under(templates.ASYNC_GENERATOR_UNDER),
}

_consume_awaitable = coroutine(_under(templates.GENERATOR_UNDER))


def style_of(function: Callable[..., Any]) -> str:
    """The template for a callable's call style."""
    if inspect.isasyncgenfunction(function):
        return templates.ASYNC_GENERATOR
    if inspect.iscoroutinefunction(function):
        return templates.COROUTINE
    if inspect.isgeneratorfunction(function):
        return templates.GENERATOR
    return templates.FUNCTION


def _source(
    template: str, parameters: Sequence[inspect.Parameter], recorded: tuple[str, ...] | None, output: bool
) -> str:
    names = recorded or ()
    arguments = "None" if recorded is None else f"({''.join(name + ', ' for name in names)})"
    test = " and ".join(f"({light(name)})" for name in names) or "True"
    source = template.format(
        parameters=_parameter_list(parameters),
        call=_forwarding(parameters),
        arguments=arguments,
        light=test,
        freeze=templates.FREEZE.format(light=test) if test != "True" else "",
        light_output=light("_at_o") if output else NOT_DEFERRED,
        output="_at_o" if output else "None",
        light_item=light("_at_i"),
        keep=_MOST_ITEMS if output else 0,
    )
    return textwrap.dedent(templates.FACTORY.format(wrapper=textwrap.indent(source, "    ")))


@lru_cache(maxsize=_MAX_SHAPES)
def _maker(
    template: str, kinds: tuple[tuple[int, bool], ...], recorded: tuple[str, ...] | None, output: bool
) -> _Maker:
    """What makes the wrappers of one shape: their parameters have names of ours, by their positions."""
    parameters = [
        inspect.Parameter(
            _place(position), _KINDS[kind], default=None if is_optional else inspect.Parameter.empty
        )
        for position, (kind, is_optional) in enumerate(kinds)
    ]
    maker: _Maker = _run(
        compile(_source(template, parameters, recorded, output), f"{GENERATED}observe>", "exec")
    )["_at_make"]
    return maker


_KINDS = tuple(inspect._ParameterKind)
_STYLES = {
    templates.FUNCTION: "function",
    templates.COROUTINE: "coroutine",
    templates.GENERATOR: "generator",
    templates.ASYNC_GENERATOR: "async generator",
}


def _place(position: int) -> str:
    return f"{RESERVED}{position}"


def make_wrapper(
    function: Callable[..., Any],
    parameters: list[inspect.Parameter],
    observed: ObservedFunction,
    recorded: tuple[str, ...] | None,
) -> FunctionType:
    """Generate the wrapper.

    `parameters` are what the function takes. `recorded` is the source of each value to record, in order: the
    name of a parameter, or a part of it; None records no input. To compile a source takes most of the time,
    so it is done once for each shape, and the parameters are given their names afterwards.
    """
    template, output = style_of(function), observed.capture_output
    names = {parameter.name: _place(position) for position, parameter in enumerate(parameters)}
    kinds = tuple((p.kind + 0, p.default is not p.empty) for p in parameters)
    placed = None
    if recorded is not None:
        placed = tuple(names.get(one) or names[one[:-4]] + one[-4:] for one in recorded)
    wrapper = _maker(template, kinds, placed, output)(function, observed)
    shape = repr((_STYLES[template], kinds, list(names), recorded, output)).encode(
        "utf-8", "backslashreplace"
    )
    filename = f"{GENERATED}observe {crc32(shape):08x}-{len(shape)}>"
    _make_printable(filename, partial(_source, template, parameters, recorded, output))
    own_names = {place: name for name, place in names.items()}
    code = wrapper.__code__
    changes: dict[str, Any] = {"co_filename": filename}
    if isinstance(function, FunctionType):
        changes["co_name"], changes["co_qualname"] = function.__name__, function.__qualname__
        changes["co_flags"] = code.co_flags | function.__code__.co_flags & AWAITABLE_GENERATOR
    wrapper.__code__ = code.replace(
        co_varnames=tuple([own_names.get(name, name) for name in code.co_varnames]),
        co_consts=tuple([_renamed(constant, own_names) for constant in code.co_consts]),
        **changes,
    )
    optional = [p for p in parameters if p.default is not p.empty]
    wrapper.__defaults__ = tuple(p.default for p in optional if p.kind is not p.KEYWORD_ONLY) or None
    wrapper.__kwdefaults__ = {p.name: p.default for p in optional if p.kind is p.KEYWORD_ONLY}
    return wrapper


def _renamed(constant: Any, own_names: dict[str, str]) -> Any:
    """A constant of the code with the parameters' own names: keywords are such constants."""
    if type(constant) is tuple:
        return tuple([_renamed(part, own_names) for part in constant])
    return own_names.get(constant, constant) if type(constant) is str else constant


def dress(wrapper: FunctionType, function: FunctionType) -> FunctionType:
    """Give a wrapper the name, annotations and attributes of the function that it stands for."""
    return cast(FunctionType, update_wrapper(wrapper, function))


def _parameter_list(parameters: Sequence[inspect.Parameter]) -> str:
    """Source of a parameter list with the same names, kinds and optional ones; the defaults come later."""
    parts: list[str] = []
    kinds = [parameter.kind for parameter in parameters]
    for position, parameter in enumerate(parameters):
        kind = parameter.kind
        default = "" if parameter.default is parameter.empty else "=None"
        if kind is kind.VAR_POSITIONAL:
            parts.append(f"*{parameter.name}")
            continue
        if kind is kind.VAR_KEYWORD:
            parts.append(f"**{parameter.name}")
            continue
        if kind is kind.KEYWORD_ONLY and kind not in kinds[:position] and kind.VAR_POSITIONAL not in kinds:
            parts.append("*")
        parts.append(parameter.name + default)
        if kind is kind.POSITIONAL_ONLY and kind not in kinds[position + 1 :]:
            parts.append("/")
    return ", ".join(parts)


def _forwarding(parameters: Sequence[inspect.Parameter]) -> str:
    """Source of the arguments that pass each parameter on."""
    parts = []
    for parameter in parameters:
        kind, name = parameter.kind, parameter.name
        if kind is kind.VAR_POSITIONAL:
            parts.append(f"*{name}")
        elif kind is kind.VAR_KEYWORD:
            parts.append(f"**{name}")
        elif kind is kind.KEYWORD_ONLY:
            parts.append(f"{name}={name}")
        else:
            parts.append(name)
    return ", ".join(parts)
