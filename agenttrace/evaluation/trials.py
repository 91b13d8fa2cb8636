"""When the trials of one example settle its verdict."""

from __future__ import annotations

from collections.abc import Sequence

from agenttrace.core.report import ScoringResult
from agenttrace.evaluation.requirement import Requirement
from agenttrace.evaluation.schedule import Settled

MAX_TRIALS = 30
"""Trials of one example that ``trials="auto"`` makes at most by default."""


def settled_by(requirements: Sequence[Requirement], max_trials: int) -> Settled:
    """Return the rule that says whether the results of one example so far settle its verdict.

    One result that is no pass does; so do `max_trials` of them.
    """

    def settled(results: Sequence[ScoringResult]) -> bool:
        return len(results) >= max_trials or any(not result.success for result in results)

    return settled
