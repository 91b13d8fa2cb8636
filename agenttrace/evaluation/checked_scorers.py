"""Whether what was given as scorers can score."""

from __future__ import annotations

import inspect
import math
from collections.abc import Iterable
from typing import Any

from agenttrace.core.errors import ConfigError, ScorerError, with_article
from agenttrace.core.protocols import ChatModel, Scorer


def checked_scorers(scorers: Any, model: str | ChatModel | None = None) -> tuple[Scorer, ...]:
    """The scorers of a list, each given `model` where it takes one.

    A scorer takes a model when it has a method ``with_model(model)`` that returns the scorer to use instead.

    Raises:
        ConfigError: none at all, or one scorer instead of a list.
        ScorerError: something that is not a scorer, such as its class.
    """
    if isinstance(scorers, str) or not isinstance(scorers, Iterable):
        raise ConfigError(f"scorers is a list, got {described(scorers)}; write scorers=[…]")
    found = tuple(scorers)
    if not found:
        raise ConfigError("there are no scorers: without one, nothing is compared")
    return tuple(_with_model(_checked_scorer(scorer), model) for scorer in found)


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


def _with_model(scorer: Scorer, model: str | ChatModel | None) -> Scorer:
    take = getattr(scorer, "with_model", None)
    return _checked_scorer(take(model)) if model is not None and callable(take) else scorer


def described(value: Any) -> str:
    """What a message calls a value: a scalar's text, else its kind; no code of the value's own is run."""
    scalar = isinstance(value, str | int | float | bool | None)
    return repr(value) if scalar else with_article(type(value).__name__)
