"""Wrong uses of online evaluation, told at the call and not hours later on a worker."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any
from weakref import ReferenceType, ref

from agenttrace.core.errors import ConfigError
from agenttrace.evaluation.checked_scorers import checked_scorers

_known: set[tuple[type, object, object]] = set()
_MANY = 1_000

_good: dict[int, tuple[ReferenceType[Any], dict[str, Any]]] = {}
"""Scorers that were found good without a model of the call's own, by their id, with what they held then."""
_FEW = 64


def checked_request(scorers: Any, model: Any = None, sample_rate: float = 1.0) -> Sequence[Any]:
    """The scorers, once it is sure that they can be asked.

    Raises:
        ConfigError: no scorers, a judge without a model or with one that cannot be reached as configured, a
            rate that is not one.
        ScorerError: something that is not a scorer.
    """
    if sample_rate != 1.0:
        check_rate(sample_rate)
    if type(scorers) is list and scorers and model is None:
        try:
            for scorer in scorers:
                known: Any = _good.get(id(scorer))
                if known is None or known[0]() is not scorer or known[1] != scorer.__dict__:
                    break
            else:
                return tuple(scorers)
        except Exception:  # choke-point: what a scorer holds may refuse to be compared, as arrays do
            pass
    return _checked(scorers, model)


def check_rate(sample_rate: Any) -> None:
    """Raise ConfigError for a rate that is not one."""
    if isinstance(sample_rate, bool) or not isinstance(sample_rate, int | float) or not 0 <= sample_rate <= 1:
        raise ConfigError(f"sample_rate is a number from 0 to 1, got {sample_rate!r}")


def _checked(scorers: Any, model: Any) -> Sequence[Any]:
    if type(scorers) is not list and type(scorers) is not tuple:
        scorers = checked_scorers(scorers)
    if not scorers:
        checked_scorers(scorers)
    for scorer in scorers:
        # What was found good is not checked again: this runs on the agent's thread.
        kind = (type(scorer), _model_kind(model), _model_kind(getattr(scorer, "model", None)))
        if kind not in _known or not _named(scorer):
            [usable] = checked_scorers([scorer], model)
            check_model = getattr(usable, "check_model", None)
            if check_model is not None:
                check_model()
            if len(_known) < _MANY:
                _known.add(kind)
        if model is None:
            _remember(scorer)
    return tuple(scorers)


def _remember(scorer: Any) -> None:
    if len(_good) >= _FEW:
        _good.clear()
    try:
        _good[id(scorer)] = (ref(scorer), scorer.__dict__.copy())
    except (TypeError, AttributeError):  # one with slots is looked at each time
        pass


def _model_kind(model: Any) -> object:
    """What decides whether a model can be reached: its name, or of an object the type."""
    return model if type(model) is str else type(model)


def _named(scorer: Any) -> bool:
    """Whether the name and the threshold, which differ within a type, are surely good."""
    name, threshold = getattr(scorer, "name", None), getattr(scorer, "threshold", None)
    return type(name) is str and name != "" and type(threshold) is float and threshold == threshold


def check_alerts(alerts: Any) -> None:
    """Raise ConfigError for alerts that are no list of functions."""
    if isinstance(alerts, str) or not isinstance(alerts, Sequence) or not all(map(callable, alerts)):
        raise ConfigError(
            f"alerts are a list of functions of a LowScore, such as [log_alert]; got {alerts!r}"
        )
