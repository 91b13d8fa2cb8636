"""`ReportSummary`: what a report says of each scorer, each example, each tag, and of all together."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import fsum
from typing import Any, Protocol, TypeVar

from agenttrace.core.score import Mean, Score, mean_data, mean_values
from agenttrace.core.text import short_line
from agenttrace.statistics.clustered import clustered_standard_error, interval_of_mean
from agenttrace.statistics.proportions import Interval, pass_at_k, pass_hat_k, wilson_interval


class Trial(Protocol):
    """The part of a `ScoringResult` that is summed up."""

    @property
    def position(self) -> int:
        """Which example it is a trial of."""
        ...

    @property
    def name(self) -> str | None:
        """The example's name."""
        ...

    @property
    def example(self) -> Any:
        """The example."""
        ...

    @property
    def outcome(self) -> str:
        """*passed*, *failed*, *errored* …"""
        ...

    @property
    def scores(self) -> tuple[Score, ...]:
        """The scores."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class PassRate:
    """How many of how many passed, and the 95 % interval of the rate.

    `value` is the mean over examples of each one's own rate, the same as `passed` by `total` where all have
    equally many trials. The interval of one example is Wilson's; of several, that of `interval_of_mean`, in
    which the trials of one example count as alike as they are.
    """

    passed: int
    total: int
    value: float
    interval: Interval

    @classmethod
    def of(cls, examples: Sequence[Sequence[bool]]) -> PassRate:
        """Make the rate of examples, each the outcomes of its trials."""
        filled = [trials for trials in examples if trials]
        passed, total = sum(map(sum, filled)), sum(map(len, filled))
        if len(filled) < 2:
            return cls(
                passed=passed,
                total=total,
                value=passed / total if total else 0.0,
                interval=wilson_interval(passed, total),
            )
        rates = [sum(trials) / len(trials) for trials in filled]
        same = len(set(map(len, filled))) == 1
        clusters = [list(map(float, trials)) for trials in filled] if same else [[rate] for rate in rates]
        return cls(
            passed=passed, total=total, value=fsum(rates) / len(rates), interval=interval_of_mean(clusters)
        )

    def __str__(self) -> str:
        low, high = self.interval
        return f"{self.value:.3g} ({self.passed} of {self.total}; 95 % interval {low:.2f} to {high:.2f})"

    def to_dict(self) -> dict[str, Any]:
        """JSON-safe data."""
        return {
            "passed": self.passed,
            "total": self.total,
            "value": self.value,
            "interval": list(self.interval),
        }


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class ScorerSummary:
    """One scorer over many results.

    `mean` is None where no result has a value; `standard_error` is that of the mean, clustered by example,
    and None for fewer than two examples. `outcomes` counts its scores, `pass_rate` is over the results that
    it did not skip, in which a result without any score, because the agent failed, is no pass. Results that
    have other scores alone do not count: the scorer is that of single examples.
    """

    name: str
    gate: bool
    mean: Mean | None
    standard_error: float | None
    outcomes: Mapping[str, int]
    pass_rate: PassRate

    def __repr__(self) -> str:
        return f"<ScorerSummary {self.name}: mean {self.mean}>"

    def to_dict(self) -> dict[str, Any]:
        """JSON-safe data."""
        return {
            "name": self.name,
            "gate": self.gate,
            "mean": None if self.mean is None else float(self.mean),
            "count": 0 if self.mean is None else self.mean.count,
            "total": self.pass_rate.total if self.mean is None else self.mean.total,
            "standard_error": self.standard_error,
            "outcomes": dict(self.outcomes),
            "pass_rate": self.pass_rate.to_dict(),
        }


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class ExampleSummary:
    """One example over its trials. `pass_at` and `pass_hat` are pass@k and pass^k by k, up to its trials."""

    position: int
    name: str | None
    tags: tuple[str, ...]
    outcomes: Mapping[str, int]
    pass_rate: PassRate
    pass_at: Mapping[int, float]
    pass_hat: Mapping[int, float]
    means: Mapping[str, Mean]

    def __repr__(self) -> str:
        name = self.name or f"example {self.position + 1}"
        return f"<ExampleSummary {short_line(name, 60)}: {self.pass_rate.passed} of {self.trials} passed>"

    @property
    def trials(self) -> int:
        """How many trials there were."""
        return self.pass_rate.total

    def to_dict(self) -> dict[str, Any]:
        """JSON-safe data."""
        return {
            "position": self.position,
            "name": self.name,
            "tags": list(self.tags),
            "trials": self.trials,
            "outcomes": dict(self.outcomes),
            "pass_rate": self.pass_rate.to_dict(),
            "pass_at": {str(k): value for k, value in self.pass_at.items()},
            "pass_hat": {str(k): value for k, value in self.pass_hat.items()},
            **mean_data(self.means),
        }


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class TagSummary:
    """The examples that have one tag."""

    tag: str
    examples: int
    pass_rate: PassRate
    scorers: tuple[ScorerSummary, ...]

    def __repr__(self) -> str:
        return f"<TagSummary {self.tag}: pass rate {self.pass_rate}>"

    def to_dict(self) -> dict[str, Any]:
        """JSON-safe data."""
        return {
            "tag": self.tag,
            "examples": self.examples,
            "pass_rate": self.pass_rate.to_dict(),
            "scorers": [scorer.to_dict() for scorer in self.scorers],
        }


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class ReportSummary:
    """A report in numbers: all results, then by scorer, by example and by tag.

    `pass_at` and `pass_hat` are the means over examples of pass@k and pass^k, for each k that every example
    has trials for. `standard_error` is that of the pass rate, clustered by example; None for fewer than two.
    """

    pass_rate: PassRate
    standard_error: float | None
    pass_at: Mapping[int, float]
    pass_hat: Mapping[int, float]
    scorers: tuple[ScorerSummary, ...]
    examples: tuple[ExampleSummary, ...]
    tags: tuple[TagSummary, ...]

    @classmethod
    def of(cls, results: Iterable[Trial]) -> ReportSummary:
        """Sum up results; those of the same position are trials of one example."""
        groups = trials_by_example(results)
        examples = tuple(map(_example, groups))
        least = min((example.trials for example in examples), default=0)
        ks = range(1, least + 1)
        tags = dict.fromkeys(tag for example in examples for tag in example.tags)
        return cls(
            pass_rate=_rate(groups),
            standard_error=clustered_standard_error([[float(_passed(t)) for t in each] for each in groups]),
            pass_at={k: _mean([example.pass_at[k] for example in examples]) for k in ks},
            pass_hat={k: _mean([example.pass_hat[k] for example in examples]) for k in ks},
            scorers=_scorers(groups),
            examples=examples,
            tags=tuple(
                _tag(tag, [g for g, example in zip(groups, examples, strict=True) if tag in example.tags])
                for tag in tags
            ),
        )

    def __repr__(self) -> str:
        return f"<ReportSummary pass rate {self.pass_rate}, {_examples(len(self.examples))}>"

    @property
    def rates(self) -> dict[str, str]:
        """The pass rate, pass^k where there are trials, and the pass rate of each tag, as texts."""
        rates = {"pass rate": f"{self.pass_rate}, {_examples(len(self.examples))}"}
        if len(self.pass_hat) > 1:
            rates["pass^k"] = ", ".join(f"{k}: {value:.3g}" for k, value in self.pass_hat.items())
        for tag in self.tags:
            rates[f"tag {tag.tag}: pass rate"] = f"{tag.pass_rate}, {_examples(tag.examples)}"
        return rates

    def __str__(self) -> str:
        """A line for all results, one for each scorer, one for each tag."""
        rates = [f"{name} {rate}" for name, rate in self.rates.items()]
        lines, tags = rates[: -len(self.tags) or None], rates[len(rates) - len(self.tags) :]
        for scorer in self.scorers:
            error = "" if scorer.standard_error is None else f", standard error {scorer.standard_error:.2g}"
            mean = "no value" if scorer.mean is None else f"mean {scorer.mean}{error}"
            lines.append(f"{scorer.name}{'' if scorer.gate else ' (informs)'}: {mean}")
        return "\n".join([*lines, *tags])

    def to_dict(self) -> dict[str, Any]:
        """JSON-safe data."""
        return {
            "pass_rate": self.pass_rate.to_dict(),
            "standard_error": self.standard_error,
            "pass_at": {str(k): value for k, value in self.pass_at.items()},
            "pass_hat": {str(k): value for k, value in self.pass_hat.items()},
            "scorers": [scorer.to_dict() for scorer in self.scorers],
            "examples": [example.to_dict() for example in self.examples],
            "tags": [tag.to_dict() for tag in self.tags],
        }


T = TypeVar("T", bound=Trial)


def trials_by_example(results: Iterable[T]) -> list[list[T]]:
    """Return the results of each example, in the order in which the examples first occur."""
    groups: dict[int, list[T]] = {}
    for result in results:
        groups.setdefault(result.position, []).append(result)
    return list(groups.values())


def tags_of(example: Any) -> tuple[str, ...]:
    """Return an example's tags: its `tags`, or else those in its `additional_metadata`; one or a list."""
    tags = getattr(example, "tags", None)
    if not tags:
        tags = (example.additional_metadata or {}).get("tags")
    if isinstance(tags, str):
        return (tags,)
    return tuple(map(str, tags)) if isinstance(tags, list | tuple) else ()


def is_asked(trials: Iterable[Trial], name: str) -> bool:
    """Return whether a scorer is asked about an example with these trials: examples may have scorers of
    their own. Where no trial has any score, because the agent failed, it is taken to be."""
    names = {score.name for trial in trials for score in trial.scores}
    return not names or name in names


def passes_of_scorer(trials: Iterable[Trial], name: str) -> list[bool]:
    """Return whether each trial passed one scorer.

    Those that it skipped are left out, and those that have other scores alone: it is another example's. A
    trial without any score, because its agent failed, is no pass.
    """
    passes = []
    for trial in trials:
        score = next((score for score in trial.scores if score.name == name), None)
        if score is None and trial.scores:
            continue
        if score is None or score.outcome != "skipped":
            passes.append(score is not None and score.passed)
    return passes


def _example(trials: Sequence[Trial]) -> ExampleSummary:
    n, passes = len(trials), sum(map(_passed, trials))
    ks = range(1, n + 1)
    return ExampleSummary(
        position=trials[0].position,
        name=trials[0].name,
        tags=tags_of(trials[0].example),
        outcomes=Counter(trial.outcome for trial in trials),
        pass_rate=_rate([trials]),
        pass_at={k: pass_at_k(n, passes, k) for k in ks},
        pass_hat={k: pass_hat_k(n, passes, k) for k in ks},
        means=mean_values(trial.scores for trial in trials),
    )


def _tag(tag: str, groups: Sequence[Sequence[Trial]]) -> TagSummary:
    return TagSummary(tag=tag, examples=len(groups), pass_rate=_rate(groups), scorers=_scorers(groups))


def _scorers(groups: Sequence[Sequence[Trial]]) -> tuple[ScorerSummary, ...]:
    return tuple(_each_scorer(groups))


def _each_scorer(groups: Sequence[Sequence[Trial]]) -> Iterator[ScorerSummary]:
    means = mean_values(trial.scores for trials in groups for trial in trials)
    by_name: dict[str, list[list[Score]]] = {}
    for place, trials in enumerate(groups):
        for trial in trials:
            for score in trial.scores:
                by_name.setdefault(score.name, [[] for _ in groups])[place].append(score)
    for name, clusters in by_name.items():
        scores = [score for cluster in clusters for score in cluster]
        values = [[score.value for score in cluster if score.value is not None] for cluster in clusters]
        yield ScorerSummary(
            name=name,
            gate=any(score.gate for score in scores),
            mean=means.get(name),
            standard_error=clustered_standard_error(values),
            outcomes=Counter(score.outcome for score in scores),
            pass_rate=PassRate.of([passes_of_scorer(trials, name) for trials in groups]),
        )


def _rate(groups: Sequence[Sequence[Trial]]) -> PassRate:
    return PassRate.of([[_passed(trial) for trial in trials] for trials in groups])


def _passed(trial: Trial) -> bool:
    return trial.outcome == "passed"


def _mean(values: Sequence[float]) -> float:
    return fsum(values) / len(values)


def _examples(count: int) -> str:
    return "1 example" if count == 1 else f"{count} examples"
