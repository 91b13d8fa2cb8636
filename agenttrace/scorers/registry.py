"""From a scorer's name, as files and the command line write it, to its class."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Mapping
from typing import Any

from agenttrace.core.errors import ScorerError, did_you_mean
from agenttrace.core.protocols import Scorer
from agenttrace.scorers.call_options import CallOptions

_registered: dict[str, tuple[str, Callable[..., Any]]] = {}


def register_scorer(kind: Callable[..., Any], name: str | None = None) -> None:
    """Make a scorer class, or a function that returns a scorer, known by a name; its own by default.

    Raises:
        ScorerError: the name is another's.
    """
    shown = name or kind.__name__
    known = _registered.get(_plain(shown))
    if known is not None and known[1] is not kind:
        raise ScorerError(f"the scorer name {shown!r} is already {known[0]}'s")
    _registered[_plain(shown)] = (shown, kind)


def known_scorers() -> Mapping[str, Callable[..., Any]]:
    """Every registered scorer by the name it was registered with."""
    return dict(sorted(_registered.values()))


def scorer_named(name: str, options: Mapping[str, Any] | None = None) -> Scorer:
    """Make the scorer of a name: ``ToolOrderScorer``, ``ToolOrder``, ``tool_order`` and ``tool-order`` are
    one.

    Raises:
        ScorerError: no such scorer, no such option, one that is lacking, or a value that the scorer refuses.
    """
    found = _registered.get(_plain(name))
    if found is None:
        hint = did_you_mean(name, [shown for shown, _ in _registered.values()])
        raise ScorerError(f"there is no scorer {name!r}{hint}")
    shown, kind = found
    options = dict(options or {})
    known = option_names(kind)
    for option in options:
        if option not in known:
            raise ScorerError(f"{shown} has no option {option!r}{did_you_mean(option, known)}")
    for option, needed in known.items():
        if needed and option not in options:
            raise ScorerError(f"{shown} needs the option {option!r}")
    made: Scorer = kind(**options)
    return made


def option_names(kind: Callable[..., Any]) -> dict[str, bool]:
    """The options that a scorer takes by name, and whether it needs each; ``**options`` are `CallOptions`."""
    names: dict[str, bool] = {}
    for parameter in inspect.signature(kind).parameters.values():
        if parameter.kind is parameter.VAR_KEYWORD:
            names.update(dict.fromkeys(CallOptions.__annotations__, False))
        elif parameter.kind in (parameter.POSITIONAL_OR_KEYWORD, parameter.KEYWORD_ONLY):
            names[parameter.name] = parameter.default is parameter.empty
    return names


def _plain(name: str) -> str:
    return re.sub(r"scorer$", "", re.sub(r"[\W_]+", "", name).lower())
