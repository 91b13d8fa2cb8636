"""From a scorer's name, as files and the command line write it, to its class."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Mapping
from typing import Any

from agenttrace.core.errors import ScorerError, did_you_mean
from agenttrace.core.protocols import Scorer
from agenttrace.scorers.call_scorer import CallOptions

_scorers: dict[str, tuple[str, Callable[..., Any]]] = {}


def register_scorer(kind: Callable[..., Any], name: str | None = None) -> None:
    """Register a scorer class, or a function that returns a scorer, under a name (its own by default).

    Raises:
        ScorerError: another scorer has this name.
    """
    label = name or kind.__name__
    other = _scorers.get(_plain(label))
    if other is not None and other[1] is not kind:
        raise ScorerError(f"the scorer name {label!r} is already {other[0]}'s")
    _scorers[_plain(label)] = (label, kind)


def known_scorers() -> Mapping[str, Callable[..., Any]]:
    """Return every registered scorer by the name that it was registered with."""
    return dict(sorted(_scorers.values()))


def scorer_named(name: str, options: Mapping[str, Any] | None = None) -> Scorer:
    """Make the scorer that a name stands for.

    ``ToolOrderScorer``, ``ToolOrder``, ``tool_order`` and ``tool-order`` are the same name.

    Raises:
        ScorerError: there is no such scorer or option, a needed option is missing, or the scorer refuses a
            value.
    """
    entry = _scorers.get(_plain(name))
    if entry is None:
        hint = did_you_mean(name, [label for label, _ in _scorers.values()])
        raise ScorerError(f"there is no scorer {name!r}{hint}")
    label, kind = entry
    options = dict(options or {})
    parameters = option_names(kind)
    for option in options:
        if option not in parameters:
            raise ScorerError(f"{label} has no option {option!r}{did_you_mean(option, parameters)}")
    for option, is_required in parameters.items():
        if is_required and option not in options:
            raise ScorerError(f"{label} needs the option {option!r}")
    for option, value in options.items():
        if option in _truths(kind) and not isinstance(value, bool):
            word = "false" if str(value).lower() in _DENIALS else "true"
            raise ScorerError(f"{label}: {option} is true or false, got {value!r}; write {option}={word}")
    scorer: Scorer = kind(**options)
    return scorer


def option_names(kind: Callable[..., Any]) -> dict[str, bool]:
    """Return the options of a scorer, each with True if it is needed; ``**options`` are `CallOptions`."""
    names: dict[str, bool] = {}
    for parameter in inspect.signature(kind).parameters.values():
        if parameter.kind is parameter.VAR_KEYWORD:
            names.update(dict.fromkeys(CallOptions.__annotations__, False))
        elif parameter.kind in (parameter.POSITIONAL_OR_KEYWORD, parameter.KEYWORD_ONLY):
            names[parameter.name] = parameter.default is parameter.empty
    return names


_DENIALS = ("false", "no", "off", "n", "f", "0", "0.0", "none", "null", "never", "")


def _truths(kind: Callable[..., Any]) -> set[str]:
    """The options that are True or False, going by their defaults."""
    parameters = inspect.signature(kind).parameters.values()
    return {parameter.name for parameter in parameters if isinstance(parameter.default, bool)}


def _plain(name: str) -> str:
    return re.sub(r"scorer$", "", re.sub(r"[\W_]+", "", name).lower())
