"""Whether scorers can be asked, whether their scores can be kept: told at once."""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from agenttrace.core.errors import ConfigError, ScorerError, with_article
from agenttrace.core.protocols import ChatModel, ChecksModel, Scorer, TakesModel, optional
from agenttrace.core.score import Score


def checked_scorers(scorers: Any, model: str | ChatModel | None = None) -> tuple[Scorer, ...]:
    """The scorers of a list, each given `model` where it takes one.

    Raises:
        ConfigError: none at all, or one scorer instead of a list.
        ScorerError: something that is not a scorer, such as its class.
    """
    if isinstance(scorers, str) or not isinstance(scorers, Iterable):
        raise ConfigError(f"scorers is a list, got {described(scorers)}; write scorers=[…]")
    checked = tuple([_checked_scorer(scorer) for scorer in scorers])
    if not checked:
        raise ConfigError("there are no scorers: without one, nothing is compared")
    return checked if model is None else tuple([_with_model(scorer, model) for scorer in checked])


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
    checked: Scorer = scorer
    return checked


def _with_model(scorer: Scorer, model: str | ChatModel) -> Scorer:
    taking = optional(scorer, TakesModel)
    return scorer if taking is None else _checked_scorer(taking.with_model(model))


def described(value: Any) -> str:
    """What a message calls a value: a scalar's text, else its kind; no code of the value's own is run."""
    scalar = isinstance(value, str | int | float | bool | None)
    return repr(value) if scalar else with_article(type(value).__name__)


def checked_request(scorers: Any, model: str | ChatModel | None = None) -> tuple[Scorer, ...]:
    """The scorers of an evaluation that runs later, once it is sure that each can be asked.

    They stay as they are: who asks them gives them `model`.

    Raises:
        ConfigError: no scorers, a judge without a model or with one that cannot be reached as configured.
        ScorerError: something that is not a scorer.
    """
    checked = checked_scorers(scorers)
    for scorer in checked:
        checking = optional(scorer if model is None else _with_model(scorer, model), ChecksModel)
        if checking is not None:
            checking.check_model()
    return checked


def check_rate(sample_rate: Any) -> None:
    """Raise ConfigError for a rate that is not one."""
    if isinstance(sample_rate, bool) or not isinstance(sample_rate, int | float) or not 0 <= sample_rate <= 1:
        raise ConfigError(f"sample_rate is a number from 0 to 1, got {sample_rate!r}")


def check_delivery(timeout: Any, on_result: Any) -> None:
    """Raise ConfigError for a deadline or a callback that cannot work."""
    if timeout is not None and (
        isinstance(timeout, bool) or not isinstance(timeout, int | float) or not timeout > 0
    ):
        raise ConfigError(f"timeout is a number of seconds above 0, got {timeout!r}")
    if on_result is not None and not callable(on_result):
        raise ConfigError(f"on_result is a function of the scores, got {on_result!r}")


def fields_of(example: Any, beside: Mapping[str, Any]) -> dict[str, Any]:
    """The fields of an `Example`, which is given instead of them.

    Raises:
        ConfigError: not an `Example`, or one of the fields `beside` it is given, too.
    """
    from agenttrace.core.example import Example  # on use: recording does without pydantic

    if not isinstance(example, Example):
        hint = "; write Example(**fields)" if isinstance(example, dict) else ""
        raise ConfigError(f"example is an Example, got {type(example).__name__}{hint}")
    for name, value in beside.items():
        if value is not None:
            raise ConfigError(f"async_evaluate takes an example or its fields, got both: {name}")
    return example.__dict__.copy()


def checked_alerts(alerts: Any) -> tuple[Any, ...]:
    """Alerts as a tuple. Raises ConfigError where they are no list of functions."""
    if isinstance(alerts, str) or not isinstance(alerts, Sequence) or not all(map(callable, alerts)):
        raise ConfigError(
            f"alerts are a list of functions of a LowScore, such as [log_alert]; got {alerts!r}"
        )
    return tuple(alerts)


def _is_number(value: Any) -> bool:
    """Finite, no bool, no Decimal, an int of 64 bits at most."""
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
    """The first field that no store could keep, what it holds, what was wanted; None where all are fit.

    `value` and `outcome` are looked at elsewhere; `duration` is the engine's own.
    """
    for fields, may_be_none in ((_NEEDED, False), (_OPTIONAL, True)):
        for name, (fits, wanted) in fields.items():
            held = getattr(score, name)
            if not (may_be_none and held is None) and not fits(held):
                return name, held, wanted
    return None
