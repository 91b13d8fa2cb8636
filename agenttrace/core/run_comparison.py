"""What two runs say of the same examples: `RunRecord` is one of them, `RunComparison` the outcome."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

if TYPE_CHECKING:
    from agenttrace.statistics.proportions import Interval

ChangeKind = Literal[
    "worse",
    "errored",
    "not_run",
    "less_stable",
    "lower_rate",
    "gone",
    "new",
    "better",
    "steadier",
    "higher_rate",
    "same",
]
"""What became of an example, by its trials that could be judged; see `compare_runs`."""

CHANGE_KINDS: tuple[ChangeKind, ...] = (
    *("worse", "errored", "not_run", "less_stable", "lower_rate"),
    *("gone", "new", "better", "steadier", "higher_rate", "same"),
)
"""All kinds, the worst first: the order in which changes are listed."""

MatchedBy = Literal["id", "name", "fingerprint"]

DIGITS = 9
"""Decimals to which means are compared: what lies below is the arithmetic's."""
SIGNIFICANT = 0.05
SHOWN = 50
"""Changed examples that a comparison prints."""
PASS_RATE = "pass rate"  # noqa: S105 - not a password
"""The name under which the pass rates are compared."""
LEAST_CHANGES = 6
"""Pairs that must differ before an exact test can say anything at 0.05: five of five are 0.0625."""


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class ExampleRecord:
    """What a run says of one example, over its trials.

    `outcomes` has the outcome of each trial, `values` each scorer's value of each trial (None: skipped or
    errored). `example_id` is None unless the user gave one. `why` and `diffs` (the aligned comparison, by
    scorer) are of the first trial that did not pass; a baseline file has neither.
    """

    fingerprint: str
    example_id: str | None = None
    name: str | None = None
    outcomes: tuple[str, ...] = ()
    values: Mapping[str, tuple[float | None, ...]] = field(default_factory=dict)
    why: str | None = None
    diffs: Mapping[str, str] = field(default_factory=dict)
    position: int = 0

    def __repr__(self) -> str:
        return f"<ExampleRecord {self.label!r}: {self.passes} of {len(self.outcomes)} passed>"

    @property
    def label(self) -> str:
        """The text that stands for the example in messages."""
        return self.name or self.example_id or f"example {self.position + 1}"

    @property
    def passes(self) -> int:
        """How many trials passed."""
        return self.outcomes.count("passed")

    @property
    def rate(self) -> float | None:
        """The share of the judged trials that passed; None where none was judged."""
        return self.passes / self.judged if self.judged else None

    @property
    def judged(self) -> int:
        """How many trials passed or failed: an errored one says nothing either way."""
        return self.passes + self.outcomes.count("failed")

    def mean(self, scorer: str) -> float | None:
        """The mean of a scorer's values over the trials, or None where it has none."""
        values = [value for value in self.values.get(scorer, ()) if value is not None]
        return sum(values) / len(values) if values else None


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class RunRecord:
    """What a comparison needs of a run.

    `lower_is_better` names the scorers for which a smaller value is the better one, `informing` those that
    decide no outcome (``gate=False``). `label` is how messages call the run. One that is not `is_complete`
    was interrupted: what it lacks was not run.
    """

    label: str
    examples: tuple[ExampleRecord, ...]
    run_id: str | None = None
    name: str = ""
    project: str = ""
    model: str | None = None
    started_ns: int = 0
    dataset: str | None = None
    git: Mapping[str, Any] = field(default_factory=dict)
    scorers: tuple[str, ...] = ()
    lower_is_better: frozenset[str] = frozenset()
    informing: frozenset[str] = frozenset()
    is_complete: bool = True

    def __repr__(self) -> str:
        return f"<RunRecord {self.label}: {len(self.examples)} examples>"


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class ExampleChange:
    """One example in two runs; `before` or `after` is None where the run has no such example.

    `p_value` is that of Fisher's exact test over the trials, where there were several. `is_changed` says that
    the input or the expectation is not the same any more.
    """

    kind: ChangeKind
    before: ExampleRecord | None
    after: ExampleRecord | None
    matched_by: MatchedBy | None = None
    p_value: float | None = None
    is_changed: bool = False

    def __repr__(self) -> str:
        return f"<ExampleChange {self}>"

    def __str__(self) -> str:
        """``worse: refund (1 of 1 passed, then 0 of 1)``."""
        shares = [f"{one.passes} of {len(one.outcomes)}" for one in (self.before, self.after) if one]
        return f"{self.kind}: {self.label} ({' passed, then '.join(shares)})"

    @property
    def label(self) -> str:
        """The text that stands for the example in messages."""
        record = self.after or self.before
        return "" if record is None else record.label

    def value_changes(self, lower_is_better: Collection[str]) -> list[ValueChange]:
        """The scorers whose mean on the example changed, the largest loss first."""
        if self.before is None or self.after is None:
            return []
        changes = []
        for name in self.after.values:
            was, now = self.before.mean(name), self.after.mean(name)
            if was is not None and now is not None and round(now - was, DIGITS):
                gain = was - now if name in lower_is_better else now - was
                changes.append(ValueChange(name, was, now, gain))
        return sorted(changes, key=lambda change: change.gain)


class ValueChange(NamedTuple):
    """A scorer's mean on one example before and after; `gain` is above 0 where it got better."""

    name: str
    before: float
    after: float
    gain: float


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class ScorerChange:
    """One scorer's means over the examples that have a value in both runs; or the pass rate's.

    `difference` is after minus before, `gain` the same with the sign turned where lower is better.
    `worse` and `better` count the examples whose mean fell and rose by that. `p_value` is that of the
    signed rank test (of equal sizes, of McNemar's), None where fewer than six examples differ: then it is too
    few to tell. `side` says which weigh more in it: -1 those that fell, 1 those that rose. `interval` is a
    95 % bootstrap interval of the mean difference, None there, too. `gate` is False where the scorer only
    informs in the run after.
    """

    name: str
    before: float | None
    after: float | None
    pairs: int = 0
    worse: int = 0
    better: int = 0
    lower_is_better: bool = False
    p_value: float | None = None
    side: int = 0
    interval: Interval | None = None
    gate: bool = True

    def __repr__(self) -> str:
        return f"<ScorerChange {self}>"

    def __str__(self) -> str:
        """``pass rate: 0.42 to 0.24 over 50 pairs, 36 worse, 0 better, p = 0.001: fell``."""
        before, after = ("none" if one is None else f"{one:.4g}" for one in (self.before, self.after))
        chance = "too few differ to tell" if self.p_value is None else f"p = {self.p_value:.3g}"
        counts = f"over {self.pairs} pairs, {self.worse} worse, {self.better} better, {chance}"
        return f"{self.name}: {before} to {after} {counts}{': fell' if self.fell else ''}"

    @property
    def fell(self) -> bool:
        """Whether it is hardly chance (p < 0.05) that the run after is the worse one."""
        is_significant = self.p_value is not None and self.p_value < SIGNIFICANT
        return is_significant and self.side < 0 and (self.gain or 0.0) < 0

    @property
    def difference(self) -> float | None:
        """After minus before, None where the scorer is not in both runs."""
        return None if self.before is None or self.after is None else self.after - self.before

    @property
    def gain(self) -> float | None:
        """The difference, above 0 where the run after is the better one."""
        if self.difference is None:
            return None
        return -self.difference if self.lower_is_better else self.difference


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class RunComparison:
    """Two runs, example by example, the worst change first.

    `pass_rate` has the means of the examples' own rates, over the examples that were judged in both runs.
    `p_value` is that of McNemar's exact test on the verdicts of examples in both runs, None where fewer than
    six verdicts changed: then it is too few to tell. `duplicates` says which names and ids are not unique.
    """

    before: RunRecord
    after: RunRecord
    changes: tuple[ExampleChange, ...]
    scorers: tuple[ScorerChange, ...]
    pass_rate: ScorerChange
    p_value: float | None = None
    duplicates: tuple[str, ...] = ()

    def __repr__(self) -> str:
        return f"<RunComparison {self.before.label} with {self.after.label}: {self._counts}>"

    def __str__(self) -> str:
        """The counts, what became of the means, and a line for each example that changed."""
        changed = [str(change) for change in self.changes if change.kind != "same"]
        more = [f"… {len(changed) - SHOWN} more changed"] if len(changed) > SHOWN else []
        means = map(str, (self.pass_rate, *self.scorers))
        return "\n".join([self._counts, *means, *changed[:SHOWN], *more])

    @property
    def _counts(self) -> str:
        return ", ".join(f"{n} {kind}" for kind, n in self.counts.items()) or "no examples"

    def of_kind(self, *kinds: ChangeKind) -> tuple[ExampleChange, ...]:
        """The changes of these kinds, the worst first."""
        return tuple(change for change in self.changes if change.kind in kinds)

    @property
    def counts(self) -> dict[ChangeKind, int]:
        """How many examples there are of each kind that occurs, the worst first."""
        counts: dict[ChangeKind, int] = {kind: len(self.of_kind(kind)) for kind in CHANGE_KINDS}
        return {kind: count for kind, count in counts.items() if count}

    @property
    def matched_by(self) -> dict[MatchedBy, int]:
        """How many examples were matched by what."""
        counts: dict[MatchedBy, int] = {}
        for change in self.changes:
            if change.matched_by is not None:
                counts[change.matched_by] = counts.get(change.matched_by, 0) + 1
        return counts

    @property
    def regressions(self) -> tuple[ExampleChange, ...]:
        """The examples that fail a test against a baseline: worse, errored, or not run."""
        return self.of_kind("worse", "errored", "not_run")

    @property
    def losses(self) -> tuple[ScorerChange, ...]:
        """What fell over all examples, hardly by chance: the pass rate, the mean of a scorer that decides."""
        return tuple(change for change in (self.pass_rate, *self.scorers) if change.gate and change.fell)

    @property
    def shares_examples(self) -> bool:
        """Whether any example is in both runs; where none is, nothing can have got worse."""
        return any(change.before is not None and change.after is not None for change in self.changes)

    @property
    def is_worse(self) -> bool:
        """Whether a test against this baseline fails: there are `regressions` or `losses`."""
        return bool(self.regressions or self.losses)

    def to_dict(self) -> dict[str, Any]:
        """JSON-safe data: no inputs, outputs or arguments."""
        return {
            "before": _run_data(self.before),
            "after": _run_data(self.after),
            "counts": dict(self.counts),
            "matched_by": dict(self.matched_by),
            "duplicates": list(self.duplicates),
            "p_value": self.p_value,
            "is_worse": self.is_worse,
            "losses": [loss.name for loss in self.losses],
            "pass_rate": _scorer_data(self.pass_rate),
            "scorers": [_scorer_data(scorer) for scorer in self.scorers],
            "changes": [_change_data(change) for change in self.changes],
        }


def _run_data(run: RunRecord) -> dict[str, Any]:
    return {
        "label": run.label,
        "run_id": run.run_id,
        "name": run.name,
        "project": run.project,
        "model": run.model,
        "started_ns": run.started_ns,
        "dataset": run.dataset,
        "git": dict(run.git),
    }


def _scorer_data(scorer: ScorerChange) -> dict[str, Any]:
    return {
        "name": scorer.name,
        "before": scorer.before,
        "after": scorer.after,
        "difference": scorer.difference,
        "lower_is_better": scorer.lower_is_better,
        "gate": scorer.gate,
        "pairs": scorer.pairs,
        "worse": scorer.worse,
        "better": scorer.better,
        "p_value": scorer.p_value,
        "interval": None if scorer.interval is None else list(scorer.interval),
    }


def _change_data(change: ExampleChange) -> dict[str, Any]:
    return {
        "example": change.label,
        "kind": change.kind,
        "matched_by": change.matched_by,
        "is_changed": change.is_changed,
        "p_value": change.p_value,
        "before": _example_data(change.before),
        "after": _example_data(change.after),
    }


def _example_data(example: ExampleRecord | None) -> dict[str, Any] | None:
    if example is None:
        return None
    return {
        "outcomes": list(example.outcomes),
        "values": {name: list(values) for name, values in example.values.items()},
    }
