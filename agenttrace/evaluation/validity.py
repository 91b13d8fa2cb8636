"""Wrong uses of online evaluation, told at the call and not hours later on a worker."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from agenttrace.core.errors import ConfigError
from agenttrace.evaluation.checks import checked_scorers

_known: dict[tuple[type, str], None] = {}


def checked_request(scorers: Any, model: Any, sample_rate: float) -> Sequence[Any]:
    """The scorers, once it is sure that they can be asked.

    Raises:
        ConfigError: no scorers, a model that cannot be reached as configured, a rate that is not one.
        ScorerError: something that is not a scorer.
    """
    if sample_rate != 1.0 and (isinstance(sample_rate, bool) or not 0 <= sample_rate <= 1):
        raise ConfigError(f"sample_rate is a number from 0 to 1, got {sample_rate!r}")
    if type(scorers) is not list and type(scorers) is not tuple:
        scorers = checked_scorers(scorers)
    if not scorers:
        checked_scorers(scorers)
    for scorer in scorers:
        # What was found good with this model is not checked again: this runs on the agent's thread.
        kind = (type(scorer), model if type(model) is str else "")
        if kind not in _known:
            checked_scorers([scorer], model)
            if len(_known) < 1_000:
                _known[kind] = None
    return tuple(scorers)
