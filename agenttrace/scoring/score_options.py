"""The options of a scorer that are not its defaults, as short JSON data, for its scores to keep."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from typing import Any

from agenttrace.core.example import Example
from agenttrace.core.jsonable import clean, jsonable, to_json
from agenttrace.core.protocols import Scorer, name_of_model
from agenttrace.matching.explain import excerpts
from agenttrace.scoring.scorer_options import ABSENT, option_value
from agenttrace.scoring.scorer_options import options_of as class_options
from agenttrace.version import __version__

_LENGTH = 500
_SHOWN = 60
"""Characters of an option in a message."""


def options_of(scorer: Scorer) -> dict[str, Any]:
    """The options that are not the defaults of the scorer's class; none for what is no class of options."""
    return {
        name: _readable(value)
        for name, default in class_options(type(scorer))
        if (value := option_value(scorer, name)) is not default and not _equal(value, default)
    }


def option_changes(before: Mapping[str, Any], now: Mapping[str, Any]) -> list[str]:
    """Where two scorers' options (`options_of`) differ: ``calls: 1 → 2``. Long values begin near that."""
    pairs = {name: [_text(options, name) for options in (before, now)] for name in {**before, **now}}
    return [
        f"{name}: {' → '.join(excerpts(one, other, _SHOWN))}"
        for name, (one, other) in pairs.items()
        if one != other
    ]


def _text(options: Mapping[str, Any], name: str) -> str:
    return to_json(clean(jsonable(options[name]))) if name in options else "the default"


def version_of(scorer: Scorer) -> str | None:
    """Which version of a scorer it is: its own ``version``, a text or a number; for one of ours ours.

    None where it does not say.
    """
    own = getattr(scorer, "version", None)
    if isinstance(own, str | int | float) and not isinstance(own, bool):
        return str(own)
    return f"agenttrace {__version__}" if type(scorer).__module__.startswith("agenttrace.") else None


def versions_of(scorer: Scorer, example: Example) -> dict[str, Any]:
    """By which version of the scorer a score is, and on which version of a dataset, for its metadata.

    An example says the latter in its `additional_metadata`, under ``dataset_version``. What is not known is
    left out.
    """
    versions = {
        "scorer_version": version_of(scorer),
        "dataset_version": jsonable(
            (example.additional_metadata or {}).get("dataset_version"), limit=_LENGTH
        ),
    }
    return {name: version for name, version in versions.items() if version is not None}


def qualified_name(function: Any) -> str:
    """``module:qualified.name``; of an object that is called, its class."""
    named = function if hasattr(function, "__qualname__") else type(function)
    module = getattr(named, "__module__", None)
    return f"{module}:{named.__qualname__}" if module else str(named.__qualname__)


def _equal(value: Any, default: Any) -> bool:
    if value is ABSENT or (default is None and value in ({}, (), [])):
        return True
    try:
        return bool(value == default)
    except Exception:  # choke-point: values of the user's compare as they like
        return False


def _readable(value: Any) -> Any:
    """An option as short JSON data: functions and classes by name, models by theirs."""
    if isinstance(value, type) or inspect.isroutine(value):
        return qualified_name(value)
    if callable(getattr(value, "complete", None)):
        return name_of_model(value)
    return jsonable(value, limit=_LENGTH)
