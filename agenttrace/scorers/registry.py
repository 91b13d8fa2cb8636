"""From a scorer's name, as files and the command line write it, to its class."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any, TypeGuard

from agenttrace.core.errors import ScorerError, did_you_mean
from agenttrace.core.protocols import Scorer
from agenttrace.core.text import shorten
from agenttrace.scorers.call_scorer import CallOptions
from agenttrace.scorers.custom import FunctionScorer

_scorers: dict[str, tuple[str, Callable[..., Any]]] = {}


def register_scorer(kind: Callable[..., Any] | Scorer, name: str | None = None) -> None:
    """Register a scorer under a name (its own by default): a class, a function that returns one, or a scorer
    that is made, such as what `@scorer` makes of a function.

    Raises:
        ScorerError: another scorer has this name, or this is nothing that makes a scorer.
    """
    label = name or (kind.name if _is_scorer(kind) else getattr(kind, "__name__", None))
    maker = maker_of(kind)
    if label is None:
        raise ScorerError(f"{shorten(repr(kind), 100)} has no name of its own; give register_scorer a name=")
    other = _scorers.get(_plain(label))
    if other is not None and other[1] != maker:
        raise ScorerError(f"the scorer name {label!r} is already {other[0]}'s")
    _scorers[_plain(label)] = (label, maker)


@dataclass(frozen=True, slots=True)
class _Made:
    """Returns a scorer that is made already, and takes no options."""

    scorer: Scorer

    def __call__(self) -> Scorer:
        return self.scorer


def maker_of(kind: Callable[..., Any] | Scorer) -> Callable[..., Any]:
    """What makes a scorer of options: a class, or a function that returns one, as it is.

    Of a scorer that is made, what returns it; one that `@scorer` made takes `name`, `threshold` and `gate`.

    Raises:
        ScorerError: this can neither be called nor is it a scorer.
    """
    if isinstance(kind, FunctionScorer):
        return kind.changed
    if _is_scorer(kind):
        return _Made(kind)
    if not callable(kind):
        raise ScorerError(
            f"got {type(kind).__name__} {shorten(repr(kind), 100)}, wanted a scorer, or what makes one"
        )
    return kind


def _is_scorer(thing: Any) -> TypeGuard[Scorer]:
    return not inspect.isclass(thing) and callable(getattr(thing, "score", None)) and hasattr(thing, "name")


def known_scorers() -> Mapping[str, Callable[..., Any]]:
    """Return every registered scorer by the name that it was registered with."""
    return dict(sorted(_scorers.values(), key=lambda entry: entry[0]))


def is_registered(name: str) -> bool:
    """Whether a scorer goes by this name, in any of its spellings."""
    return _plain(name) in _scorers


def scorer_named(name: str, options: Mapping[str, Any] | None = None) -> Scorer:
    """Make the scorer that a name stands for.

    ``ToolOrderScorer``, ``ToolOrder``, ``tool_order`` and ``tool-order`` are the same name.

    Raises:
        ScorerError: there is no such scorer or option, a needed option is missing, or the scorer refuses a
            value.
    """
    return scorer_made(*_entry(name), options or {})


def maker_named(name: str) -> Callable[..., Any]:
    """What makes the scorers that a name stands for.

    Raises:
        ScorerError: there is no such scorer.
    """
    return _entry(name)[1]


def _entry(name: str) -> tuple[str, Callable[..., Any]]:
    entry = _scorers.get(_plain(name))
    if entry is None:
        near = get_close_matches(_plain(name), list(_scorers), n=1)
        labels = [_scorers[plain][0] for plain in near] or [label for label, _ in _scorers.values()]
        hint = f"; did you mean {labels[0]!r}?" if near else did_you_mean(name, labels)
        raise ScorerError(f"there is no scorer {name!r}{hint}")
    return entry


def scorer_made(label: str, kind: Callable[..., Any], options: Mapping[str, Any]) -> Scorer:
    """Make a scorer with options; `label` names it in errors. Raises as `scorer_named`."""
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
    scorer = kind(**options)
    if not _is_scorer(scorer):
        raise ScorerError(
            f"{label} made {type(scorer).__name__}, which is no scorer; @scorer makes one of a function"
        )
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
