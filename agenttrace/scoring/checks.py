"""Checks of scorers before they are asked, and of their scores before they are stored."""

from __future__ import annotations

import inspect
import math
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any
from weakref import ReferenceType, ref

from agenttrace.core.errors import ConfigError, ScorerError, with_article
from agenttrace.core.protocols import ChatModel, Scorer
from agenttrace.core.score import Score


def checked_scorers(scorers: Any, model: str | ChatModel | None = None) -> tuple[Scorer, ...]:
    """Return the scorers of a list, with `model` set on those that take one.

    A scorer takes a model if it has a method ``with_model(model)`` that returns the scorer to use instead.

    Raises:
        ConfigError: there are none, or it is one scorer instead of a list.
        ScorerError: it holds something that is not a scorer, such as its class.
    """
    if isinstance(scorers, str) or not isinstance(scorers, Iterable):
        raise ConfigError(f"scorers is a list, got {described(scorers)}; write scorers=[…]")
    items = tuple(scorers)
    if not items:
        raise ConfigError("there are no scorers: without one, nothing is compared")
    return tuple(_with_model(_checked_scorer(scorer), model) for scorer in items)


def _checked_scorer(scorer: Any) -> Scorer:
    if inspect.isclass(scorer):
        raise ScorerError(f"scorers holds the class {scorer.__name__}; call it: {scorer.__name__}()")
    if not callable(getattr(scorer, "score", None)):
        raise ScorerError(
            f"{described(scorer)} is not a scorer: it needs a name, a threshold and score(example, trace)"
        )
    name, threshold = getattr(scorer, "name", None), getattr(scorer, "threshold", None)
    if not isinstance(name, str) or not name:
        raise ScorerError(f"the scorer {described(scorer)} needs a name, a text; got {name!r}")
    if isinstance(threshold, bool) or not isinstance(threshold, int | float) or math.isnan(threshold):
        raise ScorerError(f"the scorer {name!r} needs a threshold, a number; got {threshold!r}")
    usable: Scorer = scorer
    return usable


def _with_model(scorer: Scorer, model: str | ChatModel | None) -> Scorer:
    take = getattr(scorer, "with_model", None)
    return _checked_scorer(take(model)) if model is not None and callable(take) else scorer


def described(value: Any) -> str:
    """Return a message's text for a value: a scalar itself, else its type; its own code is not run."""
    scalar = isinstance(value, str | int | float | bool | None)
    return repr(value) if scalar else with_article(type(value).__name__)


_checked_kinds: set[tuple[type, object, object]] = set()
_MANY = 1_000

_good_scorers: dict[int, tuple[ReferenceType[Any], dict[str, Any]]] = {}
"""Scorers that passed the checks (without a model of the call), by id, with their attributes then."""
_FEW = 64


def checked_request(scorers: Any, model: Any = None, sample_rate: float = 1.0) -> Sequence[Any]:
    """Check that the scorers can be asked, and return them.

    Raises:
        ConfigError: there are no scorers, a judge has no model or one that cannot be reached as configured,
            or `sample_rate` is not a number from 0 to 1.
        ScorerError: it holds something that is not a scorer.
    """
    if sample_rate != 1.0:
        check_rate(sample_rate)
    if type(scorers) is list and scorers and model is None:
        try:
            for scorer in scorers:
                entry: Any = _good_scorers.get(id(scorer))
                if entry is None or entry[0]() is not scorer or entry[1] != scorer.__dict__:
                    break
            else:
                return tuple(scorers)
        except Exception:  # choke-point: a scorer's attributes may refuse to be compared, as arrays do
            pass
    return _checked(scorers, model)


def check_rate(sample_rate: Any) -> None:
    """Raise ConfigError where a sample rate is not a number from 0 to 1."""
    if isinstance(sample_rate, bool) or not isinstance(sample_rate, int | float) or not 0 <= sample_rate <= 1:
        raise ConfigError(f"sample_rate is a number from 0 to 1, got {sample_rate!r}")


def _checked(scorers: Any, model: Any) -> Sequence[Any]:
    if type(scorers) is not list and type(scorers) is not tuple:
        scorers = checked_scorers(scorers)
    if not scorers:
        checked_scorers(scorers)
    for scorer in scorers:
        # A scorer that passed is not checked again: this runs on the agent's thread.
        kind = (type(scorer), _model_kind(model), _model_kind(getattr(scorer, "model", None)))
        if kind not in _checked_kinds or not _has_good_name_and_threshold(scorer):
            [usable] = checked_scorers([scorer], model)
            check_model = getattr(usable, "check_model", None)
            if check_model is not None:
                check_model()
            if len(_checked_kinds) < _MANY:
                _checked_kinds.add(kind)
        if model is None:
            _remember(scorer)
    return tuple(scorers)


def _remember(scorer: Any) -> None:
    if len(_good_scorers) >= _FEW:
        _good_scorers.clear()
    try:
        _good_scorers[id(scorer)] = (ref(scorer), scorer.__dict__.copy())
    except (TypeError, AttributeError):  # one with __slots__ is checked each time
        pass


def _model_kind(model: Any) -> object:
    """Return what decides if a model can be reached: its name, or the type of a model object."""
    return model if type(model) is str else type(model)


def _has_good_name_and_threshold(scorer: Any) -> bool:
    """Return True if the scorer's name and threshold, which differ within a type, are usable."""
    name, threshold = getattr(scorer, "name", None), getattr(scorer, "threshold", None)
    return type(name) is str and name != "" and type(threshold) is float and threshold == threshold


def fields_of(example: Any) -> dict[str, Any]:
    """Return the fields of an `Example`.

    Raises:
        ConfigError: it is something else.
    """
    # Where an Example exists, its module is loaded. It is not imported here, because importing it is slow.
    module = sys.modules.get("agenttrace.core.example")
    if module is None or not isinstance(example, module.Example):
        hint = "; write Example(**fields)" if isinstance(example, dict) else ""
        raise ConfigError(f"example is an Example, got {type(example).__name__}{hint}")
    fields: dict[str, Any] = example.__dict__.copy()
    return fields


def check_alerts(alerts: Any) -> None:
    """Raise ConfigError for alerts that are not a list of functions."""
    if isinstance(alerts, str) or not isinstance(alerts, Sequence) or not all(map(callable, alerts)):
        raise ConfigError(
            f"alerts are a list of functions of a LowScore, such as [log_alert]; got {alerts!r}"
        )


def _is_number(value: Any) -> bool:
    """Return True for a finite int or float; not for a bool, a Decimal, or an int of more than 64 bits."""
    return isinstance(value, int | float) and not isinstance(value, bool) and -(2**63) < value < 2**63


def _is_text(value: Any) -> bool:
    return isinstance(value, str)


def _is_mapping(value: Any) -> bool:
    return isinstance(value, Mapping)


_TEXT = (_is_text, "a text")
_NUMBER = (_is_number, "a finite int or float")
_MAPPING = (_is_mapping, "a mapping")
_NEEDED: Mapping[str, tuple[Callable[[Any], bool], str]] = {
    "name": _TEXT,
    "threshold": _NUMBER,
    "reason": _TEXT,
    "details": _MAPPING,
    "metadata": _MAPPING,
}
_OPTIONAL: Mapping[str, tuple[Callable[[Any], bool], str]] = {
    "diff": _TEXT,
    "error": _TEXT,
    "model": _TEXT,
    "cost": _NUMBER,
    "usage": _MAPPING,
}


def unfit_field(score: Score) -> tuple[str, Any, str] | None:
    """Return the first field that no store could hold, its content, what it should be; None if all fit.

    `value` and `outcome` are checked in `apply`; the engine itself sets `duration`.
    """
    for fields, optional in ((_NEEDED, False), (_OPTIONAL, True)):
        for name, (fits, kind) in fields.items():
            content = getattr(score, name)
            if not (optional and content is None) and not fits(content):
                return name, content, kind
    return None
