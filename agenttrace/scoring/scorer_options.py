"""`changed_options`: the options that a scorer was made with and that are not its class's defaults."""

from __future__ import annotations

import inspect
from functools import lru_cache
from typing import Any

from agenttrace.core.protocols import Scorer

_OWN_NAMES = frozenset({"self", "options", "args", "kwargs", "name"})
_ABSENT = inspect.Parameter.empty


def changed_options(scorer: Scorer) -> dict[str, Any]:
    """Return the options by name, as far as the scorer keeps them as attributes of their names."""
    return {
        name: value
        for name, default in _options(type(scorer))
        if (value := _option(scorer, name)) is not default and not _equal(value, default)
    }


def _option(scorer: Scorer, name: str) -> Any:
    """An option's value: an attribute of the scorer of that name, or of what chooses its calls."""
    value = getattr(scorer, name, _ABSENT)
    return getattr(getattr(scorer, "selection", None), name, _ABSENT) if value is _ABSENT else value


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
    if value is _ABSENT or (default is None and value in ({}, (), [])):
        return True
    try:
        return bool(value == default)
    except Exception:  # choke-point: values of the user's compare as they like
        return False
