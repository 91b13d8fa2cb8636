"""The options of a scorer that are not its defaults, as short JSON data, for its scores to keep."""

from __future__ import annotations

import inspect
from functools import lru_cache
from typing import Any

from agenttrace.core.jsonable import jsonable
from agenttrace.core.protocols import Scorer, name_of_model

_LENGTH = 500
_OWN_NAMES = frozenset({"self", "options", "args", "kwargs", "name"})


def options_of(scorer: Scorer) -> dict[str, Any]:
    """The options that are not the defaults of the scorer's class; none for what is no class of options."""
    return {
        name: _readable(value)
        for name, default in _options(type(scorer))
        if (value := _option(scorer, name)) is not default and not _equal(value, default)
    }


def _name_of(function: Any) -> str:
    """``module:qualified.name``; of an object that is called, its class."""
    named = function if hasattr(function, "__qualname__") else type(function)
    module = getattr(named, "__module__", None)
    return f"{module}:{named.__qualname__}" if module else str(named.__qualname__)


def _option(scorer: Scorer, name: str) -> Any:
    """An option's value: an attribute of the scorer of that name, or of what chooses its calls."""
    selection = getattr(scorer, "selection", None)
    absent = inspect.Parameter.empty
    try:
        value = getattr(scorer, name, absent)
    except Exception:  # choke-point: a property of the user's own
        return absent
    return getattr(selection, name, absent) if value is absent else value


@lru_cache(maxsize=256)
def _options(kind: type) -> tuple[tuple[str, Any], ...]:
    """The options that a class of scorers takes, each with its default; `empty` where there is none."""
    try:
        parameters = inspect.signature(kind).parameters.values()
    except (TypeError, ValueError):
        return ()
    options = [(p.name, p.default) for p in parameters if p.name not in _OWN_NAMES]
    if any(p.kind is p.VAR_KEYWORD for p in parameters):
        options += [("agent", None), ("attempts", "count"), ("names", {}), ("tools", None)]
    return tuple((name, default) for name, default in options if not name.startswith("_"))


def _equal(value: Any, default: Any) -> bool:
    if value is inspect.Parameter.empty or (default is None and value in ({}, (), [])):
        return True
    try:
        return bool(value == default)
    except Exception:  # choke-point: values of the user's compare as they like
        return False


def _readable(value: Any) -> Any:
    """An option as short JSON data: functions and classes by name, models by theirs."""
    if isinstance(value, type) or inspect.isroutine(value):
        return _name_of(value)
    if callable(getattr(value, "complete", None)):
        return name_of_model(value)
    return jsonable(value, limit=_LENGTH)
