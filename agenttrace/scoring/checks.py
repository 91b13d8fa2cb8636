"""Checks of scorers before they are asked, and of their scores before they are stored."""

from __future__ import annotations

import inspect
import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from agenttrace.core.errors import ConfigError, ScorerError
from agenttrace.core.later import is_to_come
from agenttrace.core.numbers import is_number
from agenttrace.core.protocols import ChatModel, ChecksModel, Gates, Scorer, TakesModel, optional
from agenttrace.core.rates import Rule
from agenttrace.core.score import Score
from agenttrace.core.text import described
from agenttrace.scoring.distinct_names import with_distinct_names


def checked_scorers(scorers: Any, model: str | ChatModel | None = None) -> tuple[Scorer, ...]:
    """Return the scorers of a list, with `model` set on those that take one.

    Raises:
        ConfigError: there are none, or it is one scorer instead of a list.
        ScorerError: it holds something that is not a scorer, such as its class, or two of one name that
            cannot be told apart (see `with_distinct_names`).
    """
    if isinstance(scorers, str) or not isinstance(scorers, Iterable):
        raise ConfigError(f"scorers is a list, got {described(scorers)}; write scorers=[…]")
    usable = tuple([_checked_scorer(scorer) for scorer in scorers])
    if not usable:
        raise ConfigError("there are no scorers: without one, nothing is compared")
    usable = with_distinct_names(usable)
    return usable if model is None else tuple([_with_model(scorer, model) for scorer in usable])


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
    if not is_number(threshold) or math.isnan(threshold):
        raise ScorerError(f"the scorer {name!r} needs a threshold, a number; got {threshold!r}")
    usable: Scorer = scorer
    return usable


def gates(scorer: Scorer) -> bool:
    """Return False for a scorer that informs without deciding the outcome."""
    hook = optional(scorer, Gates)
    return hook is None or hook.gate is not False  # a scorer of one's own may call another thing its gate


def check_gates(scorers: Sequence[Scorer]) -> None:
    """Raise ConfigError where every scorer only informs, so that nothing could pass or fail."""
    if scorers and not any(map(gates, scorers)):
        names = ", ".join(scorer.name for scorer in scorers)
        raise ConfigError(f"every scorer only informs (gate=False): {names}; one at least says what passes")


def _with_model(scorer: Scorer, model: str | ChatModel) -> Scorer:
    taking = optional(scorer, TakesModel)
    return scorer if taking is None else _checked_scorer(taking.with_model(model))


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
    """Raise ConfigError where a sample rate is not a number from 0 to 1."""
    if not (is_number(sample_rate) and 0 <= sample_rate <= 1):
        raise ConfigError(f"sample_rate is a number from 0 to 1, got {sample_rate!r}")


def check_delivery(timeout: Any, on_result: Any) -> None:
    """Raise ConfigError for a deadline or a callback that cannot work."""
    if timeout is not None and not (is_number(timeout) and timeout > 0):
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


def rules_and_alerts(alerts: Any) -> tuple[tuple[Rule, ...], tuple[Any, ...]]:
    """The rules over a window in a tracer's alerts, and the functions; ConfigError for other things."""
    items = alerts if isinstance(alerts, Sequence) and not isinstance(alerts, str) else ()
    rules = tuple(item for item in items if isinstance(item, Rule))
    return rules, checked_alerts([item for item in items if not isinstance(item, Rule)] if rules else alerts)


def checked_alerts(alerts: Any) -> tuple[Any, ...]:
    """Return alerts as a tuple. Raises ConfigError if they are not a list of functions."""
    if isinstance(alerts, str) or not isinstance(alerts, Sequence) or not all(map(callable, alerts)):
        raise ConfigError(
            f"alerts are a list of functions of a LowScore, such as [log_alert]; got {alerts!r}"
        )
    return tuple(alerts)


def _is_storable(value: Any) -> bool:
    """Return True for a finite number, of at most 64 bits if it is an int."""
    return is_number(value) and -(2**63) < value < 2**63


_TEXT = ((str,), "a text")
_MAPPING = ((dict, Mapping), "a mapping")
_KINDS: Mapping[str, tuple[tuple[type, ...], str]] = {
    "name": _TEXT,
    "reason": _TEXT,
    "details": _MAPPING,
    "metadata": _MAPPING,
    "options": _MAPPING,
    "example": _MAPPING,
    "evidence": _MAPPING,
}
_OPTIONAL: Mapping[str, tuple[tuple[type, ...], str]] = {
    "diff": _TEXT,
    "error": _TEXT,
    "model": _TEXT,
    "usage": _MAPPING,
}
_NUMBER = "a finite int or float"


def unfit_field(score: Score) -> tuple[str, Any, str] | None:
    """Return the first field that no store could hold, its content, what it should be; None if all fit.

    `value` and `outcome` are checked in `apply`; the engine itself sets `duration`.
    """
    for name, (kinds, words) in _KINDS.items():
        if not is_to_come(score, name) and not isinstance(content := getattr(score, name), kinds):
            return name, content, words
    for name, (kinds, words) in _OPTIONAL.items():
        if is_to_come(score, name):  # ours, and not to be made before somebody reads it
            continue
        if (content := getattr(score, name)) is not None and not isinstance(content, kinds):
            return name, content, words
    if not _is_storable(score.threshold):
        return "threshold", score.threshold, _NUMBER
    if score.cost is not None and not _is_storable(score.cost):
        return "cost", score.cost, _NUMBER
    return None
