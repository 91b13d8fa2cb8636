"""The recording wrapper of a plain function, and what it does with a returned generator or coroutine."""

from __future__ import annotations

import inspect
import linecache
import textwrap
from collections.abc import Callable, Sequence
from functools import cached_property, lru_cache
from itertools import islice
from sys import getrefcount
from types import AsyncGeneratorType, CodeType, CoroutineType, FunctionType, GeneratorType, coroutine
from typing import Any, Literal, NamedTuple, cast, overload
from zlib import crc32

from agenttrace.core.errors import ConfigError
from agenttrace.core.identity import monotonic_ns
from agenttrace.core.limits import RECORDED
from agenttrace.tracing import steps, templates
from agenttrace.tracing.context import current
from agenttrace.tracing.failure import GENERATED
from agenttrace.tracing.freeze import LIGHT_TEXT
from agenttrace.tracing.observed_function import ObservedFunction
from agenttrace.tracing.record import OBSERVED, OFF, OUTPUT, SCOPE, Record
from agenttrace.tracing.signature import SignatureShape

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
    *(
        BaseException,
        MemoryError,
        RecursionError,
        TypeError,
        UnboundLocalError,
        ValueError,
        StopIteration,
        StopAsyncIteration,
        GeneratorExit,
    ),
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
    "_at_end_without_memory": steps.end_without_memory,
    "_at_foreign_context": steps.count_foreign_context,
    "_at_fail": steps.fail,
    "_at_fail_here": steps.fail_here,
    "_at_failed": ("error", None),
    "_at_first_step": steps.first_step,
    "_at_freeze": steps.freeze_arguments,
    "_at_most_items": steps.most_items,
    "_at_note": steps.note_item,
    "_at_off": OFF,
    "_at_partly": steps.partly_recorded,
    "_at_recorded": RECORDED,
    "_at_reset": current.reset,
    "_at_root": steps.root,
    "_at_set": current.set,
    "_at_succeed": steps.succeed,
}


_MOST_ITEMS = (
    "0 if _at_r[1] is None"
    f" else {steps.most_items(RECORDED)} if _at_r[1].limits is _at_recorded"
    " else _at_most_items(_at_r[1].limits)"
)
"""Source of how many items of a generator's output are recorded; all of them are counted."""

_MAX_SHAPES = 1024
"""Sources that are kept compiled, and printable (a quarter more for a while): one for each call style and
signature."""

_sources: dict[str, _Lines] = {}


class _Lines(Sequence[str]):
    """The lines of a source, which is written when somebody looks at them."""

    def __init__(self, write: Callable[..., str], *arguments: Any) -> None:
        self._write = write
        self._arguments = arguments

    @cached_property
    def _lines(self) -> list[str]:
        return self._write(*self._arguments).splitlines(keepends=True)

    @overload
    def __getitem__(self, index: int) -> str: ...
    @overload
    def __getitem__(self, index: slice) -> list[str]: ...
    def __getitem__(self, index: int | slice) -> str | list[str]:
        return self._lines[index]

    def __len__(self) -> int:
        return len(self._lines)


def _make_printable(name: str, write: Callable[..., str], *arguments: Any) -> None:
    """Let debuggers and tracebacks find the lines of a source that no file holds."""
    if name in _sources:
        return
    lines = _sources[name] = _Lines(write, *arguments)
    linecache.cache[name] = (1, None, cast(list[str], lines), name)
    more = len(_sources) - _MAX_SHAPES
    if (
        more > _MAX_SHAPES // 4
    ):  # many at once: a dictionary that loses them one by one finds its oldest slowly
        for oldest in list(islice(_sources, more)):
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


_STYLES = {
    "function": templates.FUNCTION,
    "coroutine": templates.COROUTINE,
    "generator": templates.GENERATOR,
    "async generator": templates.ASYNC_GENERATOR,
}


NotRecorded = int | Literal["in args"]
"""How many parameters at the beginning are not recorded: one, a method's self, or none; *in args*, where the
instance is the first of ``*args``."""


class Shape(NamedTuple):
    """What the code of a wrapper depends on, but for names: functions of one shape share what is compiled."""

    style: str
    signature: SignatureShape
    not_recorded: NotRecorded
    capture_input: bool
    capture_output: bool


def _source_of_shape(shape: Shape, names: tuple[str, ...]) -> str:
    """The source of a wrapper whose parameters have these names, in the order of a code's variables."""
    recorded: list[str] | None = None
    if shape.capture_input:
        recorded = [*shape.signature.in_order(names)]
        if isinstance(shape.not_recorded, int):
            del recorded[: shape.not_recorded]
        else:
            recorded[0] += "[1:]"
    parameters = shape.signature.parameters(names)
    return _source(
        _STYLES[shape.style],
        parameters,
        None if recorded is None else tuple(recorded),
        shape.capture_output,
    )


class _Compiled(NamedTuple):
    """What makes the wrappers of one shape; their parameters have names of ours, by their positions.

    `variables` are those that come after its `parameters`, `label` is the shape in a text.
    """

    make: _Maker
    shape: Shape
    parameters: int
    variables: tuple[str, ...]
    label: str


@lru_cache(maxsize=_MAX_SHAPES)
def _compiled(shape: Shape) -> _Compiled:
    count = shape.signature.total
    source = _source_of_shape(shape, tuple(map(_place, range(count))))
    make: _Maker = _run(compile(source, f"{GENERATED}observe>", "exec"))["_at_make"]
    code = next(part for part in make.__code__.co_consts if isinstance(part, CodeType))
    return _Compiled(make, shape, count, code.co_varnames[count:], repr(tuple(shape)))


def _place(position: int) -> str:
    return f"{RESERVED}{position}"


def make_wrapper(
    function: Callable[..., Any], like: FunctionType, shape: Shape, observed: ObservedFunction
) -> FunctionType:
    """Generate the wrapper of a function, with the parameters and defaults of the function `like`.

    To compile a source takes most of the time, so it is done once for each shape, and the parameters are
    given their names afterwards.
    """
    make, shape, count, variables, label = _compiled(shape)  # one shape for all that are equal to it
    names = like.__code__.co_varnames[:count]
    text = f"{label} {' '.join(names)} ".encode("utf-8", "backslashreplace")
    filename = f"{GENERATED}observe {crc32(text):08x}-{len(text)}>"
    _make_printable(filename, _source_of_shape, shape, names)
    wrapper = make(function, observed)
    code = wrapper.__code__
    changes: dict[str, Any] = {}
    if shape.signature.keyword_only:
        own_names = {_place(position): name for position, name in enumerate(names)}
        changes["co_consts"] = tuple([_renamed(constant, own_names) for constant in code.co_consts])
    if type(function) is FunctionType:
        changes["co_name"], changes["co_qualname"] = function.__name__, function.__qualname__
        flags = function.__code__.co_flags & AWAITABLE_GENERATOR
        if flags:
            changes["co_flags"] = code.co_flags | flags
    wrapper.__code__ = code.replace(co_filename=filename, co_varnames=names + variables, **changes)
    wrapper.__defaults__ = like.__defaults__
    if like.__kwdefaults__:
        wrapper.__kwdefaults__ = like.__kwdefaults__.copy()
    return wrapper


def _renamed(constant: Any, own_names: dict[str, str]) -> Any:
    """A constant of the code with the parameters' own names: keywords are such constants."""
    if type(constant) is tuple:
        return tuple([_renamed(part, own_names) for part in constant])
    return own_names.get(constant, constant) if type(constant) is str else constant


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
