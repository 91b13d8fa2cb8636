"""What a requirement measures of results: a value, its interval, and over how many it is."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from agenttrace.core.aggregates import PassRate, Trial, passes_of_scorer, trials_by_example
from agenttrace.core.errors import ConfigError
from agenttrace.core.report import ScoringResult
from agenttrace.statistics.clustered import interval_of_mean
from agenttrace.statistics.proportions import Interval, pass_at_k, pass_hat_k, wilson_interval


@dataclass(frozen=True, slots=True)
class Measured:
    """A measure's value from 0 to 1, its 95 % interval, and in words what it is of."""

    value: float
    interval: Interval
    counts: str


def pass_rate(results: Sequence[ScoringResult], scorer: str | None = None) -> Measured:
    """Return the mean over examples of the share of trials that passed; that a scorer passed, if one is
    named.

    Trials that the scorer skipped do not count; without any others the rate is 0.
    """
    groups = trials_by_example(results)
    if scorer is None:
        rate = PassRate.of([[trial.outcome == "passed" for trial in trials] for trials in groups])
    else:
        rate = PassRate.of([passes_of_scorer(trials, scorer) for trials in groups])
    return Measured(rate.value, rate.interval, f"{rate.passed} of {rate.total}")


def worst_pass_rate(results: Sequence[ScoringResult]) -> Measured:
    """Return the lowest share of passed trials that any example has."""
    rates = [
        (PassRate.of([[trial.outcome == "passed" for trial in trials]]), trials[0])
        for trials in trials_by_example(results)
    ]
    if not rates:
        return Measured(0.0, Interval(0.0, 1.0), "no results")
    worst, trial = min(rates, key=lambda pair: pair[0].value)
    label = trial.name or f"example {trial.position + 1}"
    return Measured(worst.value, worst.interval, f"{worst.passed} of {worst.total} of {label}")


def pass_power(results: Sequence[ScoringResult], measure: str, k: int) -> Measured:
    """Return the mean over examples of pass^k or pass@k (`measure` is *pass^* or *pass@*).

    The interval of a single example is that of its pass rate, taken to the k.

    Raises:
        ConfigError: an example has fewer than k trials.
    """
    of_counts = pass_hat_k if measure == "pass^" else pass_at_k
    counts = []
    for trials in trials_by_example(results):
        if len(trials) < k:
            label = trials[0].name or f"example {trials[0].position + 1}"
            raise ConfigError(f"{measure}{k} needs {k} trials of each example, and {label} has {len(trials)}")
        counts.append((len(trials), sum(trial.outcome == "passed" for trial in trials)))
    values = [of_counts(n, passes, k) for n, passes in counts]
    if len(counts) == 1:
        ((n, passes),) = counts
        low, high = wilson_interval(passes, n)
        powers = (low**k, high**k) if measure == "pass^" else (1 - (1 - low) ** k, 1 - (1 - high) ** k)
        return Measured(values[0], Interval(*powers), f"{passes} of {n}")
    interval = interval_of_mean([[value] for value in values])
    value = sum(values) / len(values) if values else 0.0
    return Measured(value, interval, f"mean over {len(values)} examples")


def mean_of(results: Sequence[ScoringResult], scorer: str) -> Measured:
    """Return the mean value of a scorer.

    A result whose agent failed has no score and counts 0; a skipped one does not count, nor one that has
    other scores alone.
    """
    groups = trials_by_example(results)
    clusters = [values_of(trials, scorer) for trials in groups]
    values = [value for cluster in clusters for value in cluster]
    missing = sum(not result.scores for result in results)
    asked = missing + sum(any(score.name == scorer for score in result.scores) for result in results)
    counts = f"over {len(values)} of {asked}"
    if missing:
        counts += f", {missing} without a score as 0"
    mean = sum(values) / len(values) if values else 0.0
    return Measured(mean, interval_of_mean(clusters), counts)


def values_of(trials: Sequence[Trial], scorer: str) -> list[float]:
    """Return a scorer's values over trials.

    A trial without any score has 0; one that it skipped, where it errored, or that has other scores alone has
    none.
    """
    values = []
    for trial in trials:
        score = next((score for score in trial.scores if score.name == scorer), None)
        if score is None and not trial.scores:
            values.append(0.0)
        elif score is None:
            continue
        elif score.value is not None:
            values.append(score.value)
    return values
