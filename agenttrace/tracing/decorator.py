"""`observe`: record every call of what it decorates."""

from __future__ import annotations

import os
import weakref
from collections.abc import Iterable, Mapping
from functools import update_wrapper
from types import CodeType, FunctionType, MethodType
from typing import Any

from agenttrace.core.errors import ConfigError, did_you_mean
from agenttrace.core.tool import TOOL
from agenttrace.process.said_once import SaidOnce
from agenttrace.redaction import without_secrets
from agenttrace.tracing.default_recorder import default_recorder
from agenttrace.tracing.observed_function import (
    ObservedFunction,
    ObserveOptions,
    Rebinding,
    enter_tool,
    observed_function,
)
from agenttrace.tracing.record import Recorder
from agenttrace.tracing.signature import (
    ANYTHING,
    attribute_of,
    begins_with_instance,
    call_style,
    code_parameters,
    has_lasting_defaults,
    parameters_later,
    parameters_shown,
    shape_of,
)
from agenttrace.tracing.stand_in import enter_wrapper
from agenttrace.tracing.wrapper import RESERVED, NotRecorded, Shape, make_wrapper

SPAN_TYPES = ("tool", "function", "agent", "llm", "retriever", "chain", "node")

OBSERVED_MARK = "__agenttrace_observed__"
_IMMUTABLE = 1 << 8  # Py_TPFLAGS_IMMUTABLETYPE: the class of a builtin


def enabled_by_environment(environment: Mapping[str, str] | None = None) -> bool:
    """Whether ``AGENTTRACE_ENABLED`` leaves recording on (it is on unless 0, false, no or off)."""
    environment = os.environ if environment is None else environment
    return environment.get("AGENTTRACE_ENABLED", "1").strip().lower() not in ("0", "false", "no", "off")


def observe_with(recorder: Recorder, function: Any, options: ObserveOptions) -> Any:
    """Return what records the calls of `function` for `recorder`; see `Tracer.observe`.

    Raises:
        ConfigError: something that cannot be called.
    """
    if type(function) is not FunctionType:
        _check_callable(function)
    if not enabled_by_environment():
        return function
    if type(function) is FunctionType:
        return _observe_function(recorder, function, options)
    if isinstance(function, staticmethod | classmethod):
        return type(function)(
            _observe_function(recorder, function.__func__, options, bound=isinstance(function, classmethod))
        )
    if isinstance(function, property):
        parts = (function.fget, function.fset, function.fdel)
        getter, setter, deleter = (part and _observe_function(recorder, part, options) for part in parts)
        return property(getter, setter, deleter, function.__doc__)
    if isinstance(function, type):
        return observe_methods(recorder, function, options=options._replace(name=None))
    return _observe_function(recorder, function, options)


def observe_methods(
    recorder: Recorder,
    cls: type,
    *,
    options: ObserveOptions,
    exclude: Iterable[str] = (),
    include_private: bool = False,
) -> type:
    """Observe the methods that a class itself defines, in place; dunders never, ``_private`` on demand."""
    if isinstance(exclude, str):
        raise ConfigError(
            f"exclude is a list of method names, got the string {exclude!r}; write [{exclude!r}]"
        )
    left_out = set(exclude)
    unknown = left_out - set(vars(cls))
    if unknown:
        raise ConfigError(f"{cls.__name__} defines no method {sorted(unknown)[0]!r} to exclude")
    if cls.__flags__ & _IMMUTABLE:
        raise ConfigError(f"{cls.__name__} is built in: its methods cannot be observed; observe a function")
    for name, member in list(vars(cls).items()):
        if name in left_out or name.startswith("__") or (name.startswith("_") and not include_private):
            continue
        if isinstance(member, FunctionType | staticmethod | classmethod):
            setattr(cls, name, observe_with(recorder, member, options))
    return cls


def _observe_function(recorder: Recorder, function: Any, options: ObserveOptions, bound: bool = False) -> Any:
    function = _without_our_wrapper(function)
    is_plain = type(function) is FunctionType
    like: FunctionType = function if is_plain and not _has_reserved_names(function.__code__) else ANYTHING
    signature = shape_of(like)
    names = signature.in_order(like.__code__.co_varnames)
    shown = parameters_shown(function, like) if signature.variadic else None
    first = shown[0].name if shown else names[0] if names else ""
    is_method = bool(names) and (bound or begins_with_instance(function, first))
    not_recorded: NotRecorded = "in args" if is_method and signature.begins_with_args else int(is_method)
    recorded = int(not_recorded == 1)
    observed = observed_function(
        function,
        names[recorded:],
        options,
        recorder=recorder,
        rebinding=Rebinding(code_parameters(like)[recorded:], shown[is_method:]) if shown else None,
    )
    if options.span_type == TOOL:
        if shown:
            rest = shown[is_method:]
            observed.tool = enter_tool(function, observed.name, options, (rest.copy,), later=False)
        else:
            named = parameters_later(like, is_method)
            later = has_lasting_defaults(like)
            observed.tool = enter_tool(function, observed.name, options, named, later=later)
    shape = Shape(
        call_style(function), signature, not_recorded, options.capture_input, options.capture_output
    )
    wrapper = make_wrapper(function, like, shape, observed)
    if is_plain:
        dressed: Any = update_wrapper(wrapper, function)
    else:
        from agenttrace.tracing.callables import ObservedCallable

        dressed = ObservedCallable(function, wrapper, (_observe_again, options))
    observed.wrapper = weakref.ref(dressed)
    setattr(dressed, OBSERVED_MARK, observed)
    enter_wrapper(wrapper)
    return dressed


def _has_reserved_names(code: CodeType) -> bool:
    """Whether a variable has one of the names that are ours in a wrapper, where it would hide it."""
    return RESERVED in " ".join(code.co_varnames) and any(
        name.startswith(RESERVED) for name in code.co_varnames
    )


def _observe_again(function: Any, options: ObserveOptions) -> Any:
    """Observe a copy for the recorder that was made first in this process: a recorder cannot be copied."""
    return observe_with(default_recorder(), function, options)


def _without_our_wrapper(function: Any) -> Any:
    """What an observed function observes: decorating twice records once, with the outer options.

    The mark alone is not enough: `functools.wraps` copies it to decorators of the user's.
    """
    if type(function) is FunctionType and not function.__dict__:
        return function
    if isinstance(function, MethodType):
        inner = _without_our_wrapper(function.__func__)
        return function if inner is function.__func__ else MethodType(inner, function.__self__)
    observed = attribute_of(function, OBSERVED_MARK)
    if (
        isinstance(observed, ObservedFunction)
        and observed.wrapper is not None
        and observed.wrapper() is function
    ):
        return observed.function
    return function


def checked_options(
    *,
    span_type: str = "function",
    name: str | None = None,
    capture_input: bool = True,
    capture_output: bool = True,
    metadata: Mapping[str, Any] | None = None,
    tags: Iterable[str] = (),
) -> ObserveOptions:
    """The options of `observe` as one value; see `Tracer.observe`.

    Raises:
        ConfigError: one that cannot work.
    """
    check_span_type(span_type)
    if name is not None and (not isinstance(name, str) or not name):
        raise ConfigError(f"name is a non-empty string or None, got {name!r}")
    if metadata is not None and not isinstance(metadata, Mapping):
        raise ConfigError(f"metadata is a mapping, got {type(metadata).__name__} {metadata!r}")
    if type(tags) is not tuple and (isinstance(tags, str) or not isinstance(tags, Iterable)):
        raise ConfigError(f"tags are a list of strings, got {tags!r}")
    if type(capture_input) is not bool:
        raise ConfigError(f"capture_input is True or False, got {capture_input!r}")
    if type(capture_output) is not bool:
        raise ConfigError(f"capture_output is True or False, got {capture_output!r}")
    return ObserveOptions(span_type, name, capture_input, capture_output, metadata, tuple(tags))


_warnings = SaidOnce(without_secrets)


def recorded_span_type(span_type: Any) -> str:
    """A span's type that running code gives, which may come from data: for one that cannot be, ``function``,
    and that is said once."""
    # No code of the user's is run: neither a comparison nor a `repr`.
    text = str.__str__(span_type) if issubclass(type(span_type), str) else ""
    recorded = text.lower() if text.lower() in SPAN_TYPES else text or "function"
    if recorded != text:
        kind = repr(text) if text else type(span_type).__name__
        _warnings.warn(f"type {recorded}", f"a span's type is recorded as {recorded!r}, got {kind}")
    return recorded


def check_span_type(span_type: Any) -> None:
    """Raise ConfigError for what cannot be a span's type, or is one in other letters."""
    if type(span_type) is str and span_type in SPAN_TYPES:
        return
    if isinstance(span_type, str) and span_type != span_type.lower() and span_type.lower() in SPAN_TYPES:
        raise ConfigError(f"span_type {span_type!r} is written {span_type.lower()!r}: scorers look for that")
    if not isinstance(span_type, str) or not span_type:
        raise ConfigError(f"span_type is a non-empty string such as 'tool' or 'function', got {span_type!r}")
    hint = did_you_mean(span_type, SPAN_TYPES)
    if hint:
        _warnings.warn(f"like a type {span_type}", f"span_type {span_type!r} is one of your own{hint}")


def _check_callable(function: Any) -> None:
    if isinstance(function, type | staticmethod | classmethod | property):
        return
    if not callable(function):
        raise ConfigError(
            f"observe decorates something that can be called, got {type(function).__name__} {function!r}"
            " (options are keyword arguments: observe(span_type='tool'))"
        )
