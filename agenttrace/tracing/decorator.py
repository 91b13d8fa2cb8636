"""`observe`: record every call of what it decorates."""

from __future__ import annotations

import inspect
import os
import weakref
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from types import FunctionType, MethodType
from typing import Any

from agenttrace.core.errors import ConfigError
from agenttrace.tracing.default_recorder import default_recorder
from agenttrace.tracing.observed_function import (
    ObservedFunction,
    ObserveOptions,
    Rebinding,
    describe_function,
)
from agenttrace.tracing.record import Recorder
from agenttrace.tracing.wrapper import RESERVED, dress, make_wrapper

SPAN_TYPES = ("tool", "function", "agent", "llm", "retriever", "chain", "node")

OBSERVED_MARK = "__agenttrace_observed__"
_IMMUTABLE = 1 << 8  # Py_TPFLAGS_IMMUTABLETYPE: the class of a builtin


def enabled_by_environment() -> bool:
    """Whether ``AGENTTRACE_ENABLED`` leaves recording on (it is on unless 0, false, no or off)."""
    return os.environ.get("AGENTTRACE_ENABLED", "1").strip().lower() not in ("0", "false", "no", "off")


def observe_with(recorder: Recorder, function: Any, options: ObserveOptions) -> Any:
    """Return what records the calls of `function` for `recorder`; see `Tracer.observe`.

    Raises:
        ConfigError: something that cannot be called.
    """
    _check_callable(function)
    if not enabled_by_environment():
        return function
    if isinstance(function, staticmethod | classmethod):
        return type(function)(
            _observe_function(recorder, function.__func__, options, bound=isinstance(function, classmethod))
        )
    if isinstance(function, property):
        parts = (function.fget, function.fset, function.fdel)
        getter, setter, deleter = (part and _observe_function(recorder, part, options) for part in parts)
        return property(getter, setter, deleter, function.__doc__)
    if isinstance(function, type):
        return observe_methods(recorder, function, options=replace(options, name=None))
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
    accepted = code_parameters(function)
    if any(parameter.name.startswith(RESERVED) for parameter in accepted):
        accepted = any_parameters()
    shown = (takes_anything(accepted) and shown_parameters(function)) or accepted
    passes_on = shown is not accepted and not are_alike(accepted, shown)
    named = shown if passes_on else accepted
    is_method = bool(accepted) and (bound or begins_with_instance(function, named))
    named = named[1:] if is_method else named
    self_in_args = is_method and accepted[0].kind is accepted[0].VAR_POSITIONAL
    recorded = accepted[1:] if is_method and not self_in_args else accepted
    rebinding = Rebinding(recorded, named) if passes_on else None
    observed = describe_function(function, recorded, named, options, recorder=recorder, rebinding=rebinding)
    sources = [p.name for p in recorded]
    if self_in_args:
        sources[0] += "[1:]"
    wrapper = make_wrapper(function, accepted, observed, tuple(sources) if observed.capture_input else None)
    if isinstance(function, FunctionType):
        dressed: Any = dress(wrapper, function)
    else:
        from agenttrace.tracing.callables import ObservedCallable

        dressed = ObservedCallable(function, wrapper, (_observe_again, options))
    observed.wrapper = weakref.ref(dressed)
    setattr(dressed, OBSERVED_MARK, observed)
    return dressed


def _observe_again(function: Any, options: ObserveOptions) -> Any:
    """Observe a copy for the recorder that was made first in this process: a recorder cannot be copied."""
    return observe_with(default_recorder(), function, options)


def _without_our_wrapper(function: Any) -> Any:
    """What an observed function observes: decorating twice records once, with the outer options.

    The mark alone is not enough: `functools.wraps` copies it to decorators of the user's.
    """
    if isinstance(function, MethodType):
        inner = _without_our_wrapper(function.__func__)
        return function if inner is function.__func__ else MethodType(inner, function.__self__)
    observed = getattr(function, OBSERVED_MARK, None)
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
    if isinstance(tags, str) or not isinstance(tags, Iterable):
        raise ConfigError(f"tags are a list of strings, got {tags!r}")
    for word, value in (("capture_input", capture_input), ("capture_output", capture_output)):
        if not isinstance(value, bool):
            raise ConfigError(f"{word} is True or False, got {value!r}")
    return ObserveOptions(span_type, name, capture_input, capture_output, metadata, tuple(tags))


def check_span_type(span_type: Any) -> None:
    """Raise ConfigError for what cannot be a span's type, or is one in other letters."""
    if isinstance(span_type, str) and span_type != span_type.lower() and span_type.lower() in SPAN_TYPES:
        raise ConfigError(f"span_type {span_type!r} is written {span_type.lower()!r}: scorers look for that")
    if not isinstance(span_type, str) or not span_type:
        raise ConfigError(f"span_type is a non-empty string such as 'tool' or 'function', got {span_type!r}")


def _check_callable(function: Any) -> None:
    if isinstance(function, type | staticmethod | classmethod | property):
        return
    if not callable(function):
        raise ConfigError(
            f"observe decorates something that can be called, got {type(function).__name__} {function!r}"
            " (options are keyword arguments: observe(span_type='tool'))"
        )


Parameters = list[inspect.Parameter]


def any_parameters() -> Parameters:
    """``*args, **kwargs``."""
    return [
        inspect.Parameter("args", inspect.Parameter.VAR_POSITIONAL),
        inspect.Parameter("kwargs", inspect.Parameter.VAR_KEYWORD),
    ]


def code_parameters(function: Callable[..., Any]) -> Parameters:
    """The parameters of a plain function's own code, whatever ``__wrapped__`` and ``__signature__`` say;
    ``*args, **kwargs`` for any other callable."""
    if not isinstance(function, FunctionType):
        return any_parameters()
    code, kind = function.__code__, inspect.Parameter
    names, count = code.co_varnames, code.co_argcount
    values = (kind.empty,) * count + (function.__defaults__ or ())
    values = values[len(values) - count :]
    by_name = function.__kwdefaults__ or {}
    parameters = [
        kind(
            names[at],
            kind.POSITIONAL_ONLY if at < code.co_posonlyargcount else kind.POSITIONAL_OR_KEYWORD,
            default=values[at],
        )
        for at in range(count)
    ]
    last = count + code.co_kwonlyargcount
    named = [
        kind(name, kind.KEYWORD_ONLY, default=by_name.get(name, kind.empty)) for name in names[count:last]
    ]
    if code.co_flags & inspect.CO_VARARGS:
        parameters.append(kind(names[last], kind.VAR_POSITIONAL))
        last += 1
    parameters += named
    if code.co_flags & inspect.CO_VARKEYWORDS:
        parameters.append(kind(names[last], kind.VAR_KEYWORD))
    return parameters


def shown_parameters(function: Callable[..., Any]) -> Parameters | None:
    """The parameters that `inspect.signature` shows, or None if it fails."""
    try:
        return list(inspect.signature(function).parameters.values())
    except (ValueError, TypeError):
        return None


def are_alike(first: Parameters, second: Parameters) -> bool:
    """Returns True if every call binds to the same parameters in both."""
    return [(p.name, p.kind, p.default is p.empty) for p in first] == [
        (p.name, p.kind, p.default is p.empty) for p in second
    ]


def takes_anything(parameters: Parameters) -> bool:
    """Returns True if there is a ``*args`` or ``**kwargs``, with which a decorator passes arguments on."""
    return any(p.kind in (p.VAR_POSITIONAL, p.VAR_KEYWORD) for p in parameters)


def begins_with_instance(function: Callable[..., Any], parameters: Parameters) -> bool:
    """Returns True if the first parameter is a method's self or cls, which is not recorded."""
    if not parameters or parameters[0].name not in ("self", "cls"):
        return False
    owner = getattr(function, "__qualname__", "").rpartition(".")[0]
    return bool(owner) and not owner.endswith("<locals>")
