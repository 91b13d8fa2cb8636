"""Trials of one example: when enough of them were run, and which recorded runs are trials of the same.

With ``trials="auto"`` an example stops as soon as its verdict is settled: that of all `max_trials` trials,
which early ones contradict in at most 5 % of examples, whatever the agent's true rate
(`agenttrace.statistics.sequential`).
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import replace
from functools import partial
from typing import Literal

from agenttrace.core.aggregates import is_asked, passes_of_scorer
from agenttrace.core.errors import ConfigError
from agenttrace.core.example import Example
from agenttrace.core.numbers import is_whole
from agenttrace.core.report import ScoringResult
from agenttrace.evaluation.measures import values_of
from agenttrace.evaluation.requirement import Requirement
from agenttrace.evaluation.schedule import Settled
from agenttrace.statistics.proportions import pass_at_k, pass_hat_k
from agenttrace.statistics.sequential import ERROR, Verdict, boundary

MAX_TRIALS = 30
"""Trials of one example that ``trials="auto"`` makes at most by default."""

Trials = int | Literal["auto"]
"""How often each example is run; ``"auto"`` until its verdict is settled."""

_Rule = Callable[[Sequence[ScoringResult]], Verdict | None]


def settled_by(requirements: Sequence[Requirement], max_trials: int, error: float = ERROR) -> Settled:
    """Return the rule by which an example has enough trials.

    Each requirement is asked of the example alone, as if it were the whole report. The verdict is that of all
    `max_trials` trials; the rule contradicts it with a probability of at most `error`, of several
    requirements together. Without requirements all trials must pass: one failure settles it. An errored
    result settles it too, because no further trial could make the report pass. ``mean(Scorer)`` is settled
    where the rest of the trials cannot change the verdict.

    Raises:
        ConfigError: `max_trials` is no whole number from 1, or below the k of pass^k or pass@k.
    """
    if not is_whole(max_trials, 1):
        raise ConfigError(f"max_trials is a whole number from 1, got {max_trials!r}")
    least = max([requirement.k or 1 for requirement in requirements], default=1)
    if least > max_trials:
        raise ConfigError(f"max_trials is {max_trials}, and a requirement needs {least} trials")
    each = error / max(len(requirements), 1)
    rules = [_rule(requirement, max_trials, each) for requirement in requirements]
    if not rules:
        rules = [partial(_all_passed, max_trials, each)]

    def settled(results: Sequence[ScoringResult]) -> bool:
        if not all(result.outcome in ("passed", "failed") for result in results):
            return True
        if len(results) < least:
            return False
        verdicts = [rule(results) for rule in rules]
        return len(results) >= max_trials or "fails" in verdicts or all(v == "holds" for v in verdicts)

    return settled


def _rule(requirement: Requirement, max_trials: int, error: float) -> _Rule:
    if requirement.measure == "mean":
        return partial(_mean_verdict, requirement, max_trials)
    return partial(_count_verdict, requirement, max_trials, error)


def _all_passed(max_trials: int, error: float, results: Sequence[ScoringResult]) -> Verdict | None:
    passes = sum(result.success for result in results)
    return boundary(max_trials, max_trials, error).verdict(len(results), passes)


def _count_verdict(
    requirement: Requirement, max_trials: int, error: float, results: Sequence[ScoringResult]
) -> Verdict | None:
    """The verdict on a measure that depends on how many trials passed. Skipped trials do not count."""
    if requirement.scorer is not None and not is_asked(results, requirement.scorer):
        return "holds"
    if requirement.scorer is None:
        passes = [result.success for result in results]
    else:
        passes = passes_of_scorer(results, requirement.scorer)
    n, passed = len(passes), sum(passes)
    most = max_trials - (len(results) - n)
    if n < 1 or n < (requirement.k or 1):
        return None
    accepted = [requirement.accepts(_value(requirement, most, total)) for total in range(most + 1)]
    verdict = _settled_verdict(accepted, n, passed, error)
    here: Verdict = "holds" if requirement.accepts(_value(requirement, n, passed)) else "fails"
    return verdict if verdict == here else None  # what the report is judged by must say the same


def _value(requirement: Requirement, n: int, passed: int) -> float:
    if requirement.k is None:
        return passed / n
    return (pass_hat_k if requirement.measure == "pass^" else pass_at_k)(n, passed, requirement.k)


def _settled_verdict(accepted: Sequence[bool], n: int, passed: int, error: float) -> Verdict | None:
    """The verdict that is settled, where `accepted` says for each total of passes whether it is accepted."""
    most = len(accepted) - 1
    if accepted == sorted(accepted):  # from some total on
        return boundary(most, accepted.count(False), error).verdict(n, passed)
    if accepted == sorted(accepted, reverse=True):  # up to some total: as many failures at least
        return boundary(most, accepted.count(False), error).verdict(n, n - passed)
    reachable = set(accepted[passed : passed + most - n + 1])
    return None if len(reachable) > 1 else "holds" if True in reachable else "fails"


def _mean_verdict(
    requirement: Requirement, max_trials: int, results: Sequence[ScoringResult]
) -> Verdict | None:
    """The verdict on a mean, where the rest of the trials cannot change it."""
    if not is_asked(results, str(requirement.scorer)):
        return "holds"
    values = values_of(results, str(requirement.scorer))
    most = max_trials - (len(results) - len(values))
    if not values:
        return None
    lowest, highest = sum(values) / most, (sum(values) + most - len(values)) / most
    ends = {requirement.accepts(lowest), requirement.accepts(highest)}
    if requirement.sign == "==" and lowest < requirement.bound < highest:
        return None
    return None if len(ends) > 1 else "holds" if True in ends else "fails"


TrialsBy = Literal["name", "id"] | Callable[[Example], Hashable]
"""What examples have in common that are trials of one: their name, their `example_id`, or what a function
makes of them."""


_FIELDS = {"name": "name", "id": "example_id"}


def examples_of_trials(examples: Sequence[Example], trials_by: TrialsBy) -> tuple[int, ...]:
    """Return for each example which one it is a trial of, by number from 0.

    Raises:
        ConfigError: `trials_by` is something else, an example has no name, or the function's value cannot be
            compared.
    """
    if not callable(trials_by) and trials_by not in _FIELDS:
        raise ConfigError(f"trials_by is 'name', 'id' or a function of an example, got {trials_by!r}")
    numbers: dict[Hashable, int] = {}
    places = []
    for position, example in enumerate(examples, 1):
        key = trials_by(example) if callable(trials_by) else getattr(example, _FIELDS[trials_by])
        if key is None:
            what = "trials_by gave None" if callable(trials_by) else "it has no name"
            raise ConfigError(f"example {position} is a trial of nothing: {what}")
        try:
            places.append(numbers.setdefault(key, len(numbers)))
        except TypeError:
            kind = type(key).__name__
            raise ConfigError(
                f"trials_by gave {kind} for example {position}; wanted a text, a number or a tuple"
            ) from None
    return tuple(places)


def as_trials(results: Sequence[ScoringResult], places: Sequence[int]) -> tuple[ScoringResult, ...]:
    """Return results as trials of examples, those of one together; `places` is of `examples_of_trials`."""
    groups: dict[int, list[ScoringResult]] = {}
    for result in results:
        groups.setdefault(places[result.position], []).append(result)
    return tuple(
        replace(result, position=place, trial=trial, trials=len(groups[place]))
        for place in sorted(groups)
        for trial, result in enumerate(groups[place], 1)
    )


def trials_of(trials: Trials, max_trials: int, settled: Settled | None) -> tuple[int, Settled | None]:
    """Return how many trials of an example there are at most, and what settles its verdict before.

    Raises:
        ConfigError: `trials` is neither a number nor ``"auto"``, or an option needs the other.
    """
    if not is_whole(max_trials, 1):
        raise ConfigError(f"max_trials is a whole number from 1, got {max_trials!r}")
    if trials == "auto":
        return max_trials, settled_by((), max_trials) if settled is None else settled
    if not is_whole(trials, 1):
        raise ConfigError(f"trials is a whole number from 1, or 'auto'; got {trials!r}")
    if settled is not None:
        raise ConfigError(f"settled says when trials='auto' are enough; got trials={trials!r}")
    return trials, None
