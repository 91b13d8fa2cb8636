"""The trials of one example as one block: how many passed, each reason once, and whose fault a flip is."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import groupby
from typing import Final

from agenttrace.core.report import ResultOutcome, ScoringResult
from agenttrace.core.score import Score
from agenttrace.matching.flips import flip_among
from agenttrace.reports.text import Line, safe_line

_WORST_FIRST: Final[tuple[ResultOutcome, ...]] = ("failed", "errored", "not_run", "passed")
_SHOWN_REASONS = 5
_SHOWN_TRIALS = 8


def trials_together(results: Sequence[ScoringResult]) -> Iterator[list[ScoringResult]]:
    """The results of each example; trials of one example stand together in a report."""
    for (_, repeated), trials in groupby(results, key=lambda result: (result.position, result.trials > 1)):
        group = list(trials)
        yield from [group] if repeated else ([trial] for trial in group)


def share_of_trials(trials: Sequence[ScoringResult]) -> str:
    """``4 of 6 trials passed``."""
    return f"{sum(trial.success for trial in trials)} of {len(trials)} trials passed"


def worst_outcome(trials: Sequence[ScoringResult]) -> ResultOutcome:
    """The worst of some trials, as one result is judged by its scores: failed, errored, not run, passed."""
    outcomes = {trial.outcome for trial in trials}
    return next(outcome for outcome in _WORST_FIRST if outcome in outcomes)


def reasons(trials: Sequence[ScoringResult]) -> list[list[ScoringResult]]:
    """The trials that did not pass, by what they say of it: those that say the same together."""
    groups: dict[object, list[ScoringResult]] = {}
    for trial in trials:
        if not trial.success:
            groups.setdefault(_what_it_says(trial), []).append(trial)
    return sorted(groups.values(), key=len, reverse=True)


def trials_block(
    trials: Sequence[ScoringResult], details: Callable[[list[ScoringResult]], Iterator[Line]]
) -> Iterator[Line]:
    """The lines below the title: each reason once, with its trials and their details."""
    groups = reasons(trials)
    for group in groups[:_SHOWN_REASONS]:
        numbers = ", ".join(str(trial.trial) for trial in group[:_SHOWN_TRIALS])
        more = ", …" if len(group) > _SHOWN_TRIALS else ""
        yield Line(f"  {times(len(group))} (trial {numbers}{more}), because:", "bold")
        yield from details(group)
    if len(groups) > _SHOWN_REASONS:
        yield Line(f"  … {len(groups) - _SHOWN_REASONS} more reasons; all are in the report's results", "dim")
    yield from flip_line(trials)


def flip_line(trials: Sequence[ScoringResult]) -> Iterator[Line]:
    """Whose fault it is that only some of the trials passed, where that is known."""
    flip = flip_among(trials)
    if flip is not None:
        yield Line(f"  Flip: {safe_line(str(flip), 300)}", "yellow")


def times(count: int) -> str:
    """``once``, ``twice``, ``3 times``."""
    return {1: "once", 2: "twice"}.get(count, f"{count} times")


def says_why(scores: Iterable[Score]) -> bool:
    """Whether one of the scores has a reason or a diff."""
    return any(score.reason or score.diff for score in scores)


def _what_it_says(trial: ScoringResult) -> object:
    error = (trial.error or "").strip().splitlines()[-1:]
    bad = [score for score in trial.scores if score.gate and not score.passed]
    if not error and not says_why(bad):
        bad += [score for score in trial.scores if not score.gate and score.outcome == "failed"]
    return (
        trial.outcome,
        tuple(error),
        tuple((score.name, score.outcome, score.reason, score.diff) for score in bad),
    )
