"""`EvaluationReport`: the results of an evaluation as data, each with its outcome from its scores."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields
from importlib import import_module
from typing import TYPE_CHECKING, Any, Literal, Protocol, Unpack, overload
from uuid import uuid4

from agenttrace.core.errors import ConfigError, DatasetError
from agenttrace.core.jsonable import jsonable
from agenttrace.core.score import Mean, Score, asked_counts, mean_data, mean_values
from agenttrace.core.scorer_data import ScorerData
from agenttrace.core.text import described, error_line, printable, short_line

if TYPE_CHECKING:
    from agenttrace.core.aggregates import ReportSummary
    from agenttrace.core.example import Example
    from agenttrace.core.mutation_score import MutationOptions, MutationScore
    from agenttrace.core.suite_coverage import Coverage
    from agenttrace.core.trace import Trace

_PRINTED = 30
"""Results that `print(report)` shows."""

ResultOutcome = Literal["passed", "failed", "errored", "not_run"]


def outcome_of(
    failure: str | None, why_not_comparable: str | None, scores: Sequence[Score]
) -> tuple[ResultOutcome, str | None]:
    """Return the outcome of one result, with the error that explains it where the scores do not.

    The agent's own failure comes first, then the reason why nothing could be compared. A score below its
    threshold fails the example even where another scorer errored. Without a failed score, an errored one
    makes the result errored; so do scorers that all skipped. Scores that inform (`gate=False`) do not count.
    """
    if failure is not None:
        return "failed", failure
    if why_not_comparable is not None:
        return "errored", why_not_comparable
    outcomes = {score.outcome for score in scores if score.gate}
    if "failed" in outcomes:
        return "failed", None
    if "errored" in outcomes:
        return "errored", None
    if "passed" in outcomes:
        return "passed", None
    if scores and not outcomes:
        return (
            "errored",
            "every scorer of this example only informs (gate=False), so nothing says that it passes",
        )
    return "errored", "every scorer skipped this example, so nothing says that it passes"


@dataclass(frozen=True, kw_only=True, repr=False)
class ScoringResult:
    """The scores of one trial of one example.

    `error` is the agent's exception (its text with traceback), or why nothing could be scored. The outcome
    is *errored* when the agent did not raise but a scorer broke, or when there was nothing to score;
    *failed* when the agent raised, timed out, or a score is below its threshold; *not_run* when the run ended
    before it; *passed* otherwise, with at least one score that passed. Durations are in seconds. A result
    that was read back has no `trace`, only the id of the stored one. `repeated_secrets` are texts that were
    taken out of the trace and stand here still: what is shown or stored of the result goes without them.
    """

    example: Example
    scores: tuple[Score, ...] = ()
    trace: Trace | None = None
    error: str | None = None
    outcome: ResultOutcome
    trial: int = 1
    trials: int = 1
    run_duration: float | None = None
    position: int = 0
    source: str | None = None
    stored_trace_id: str | None = None
    repeated_secrets: frozenset[str] = field(default=frozenset(), repr=False, compare=False)

    def __repr__(self) -> str:
        """One short line: the name, the outcome, the values."""
        name = f" {short_line(self.name, 60)!r}" if self.name else ""
        values = (f"{s.name} {s.outcome if s.value is None else f'{s.value:.4g}'}" for s in self.scores)
        about = short_line(", ".join([self.outcome, *values]), 100)
        return f"<ScoringResult{name}: {about}>"

    @property
    def success(self) -> bool:
        """Whether the outcome is *passed*."""
        return self.outcome == "passed"

    @property
    def scorers_data(self) -> list[ScorerData]:
        """The scores under judgeval's field names."""
        return [ScorerData.of(score) for score in self.scores]

    @property
    def name(self) -> str | None:
        """The example's name."""
        return self.example.name

    @property
    def data_object(self) -> Example:
        """The example, with the actual output filled in."""
        return self.example

    @property
    def trace_id(self) -> str | None:
        """The trace's id, 32 hex digits."""
        return self.stored_trace_id if self.trace is None else self.trace.trace_id

    @property
    def evaluation_cost(self) -> float | None:
        """The sum of the scores' costs in US dollars, or None where none is known."""
        costs = [score.cost for score in self.scores if score.cost is not None]
        return sum(costs) if costs else None

    def to_dict(self) -> dict[str, Any]:
        """JSON-safe data."""
        return {
            "position": self.position,
            "name": self.name,
            "outcome": self.outcome,
            "trial": self.trial,
            "trials": self.trials,
            "trace_id": self.trace_id,
            "run_duration": self.run_duration,
            "error": self.error,
            "source": self.source,
            "example": self.example.to_dict(),
            "scores": [jsonable(score.to_dict()) for score in self.scores],
        }

    @classmethod
    def from_dict(cls, data: Mapping[str, Any], trace: Trace | None = None) -> ScoringResult:
        """Make the result that `to_dict` wrote. See `EvaluationReport.from_dict`."""
        names = ("outcome", "trial", "trials", "run_duration", "position", "error", "source")
        return cls(
            example=_example_of(data["example"], data.get("source")),
            scores=tuple(map(Score.from_dict, data.get("scores") or ())),
            stored_trace_id=data.get("trace_id"),
            trace=trace,
            **{name: data[name] for name in names if name in data},
        )


def _example_of(data: Mapping[str, Any], source: str | None) -> Example:
    """The example of stored data. Redaction may have left a value that no example would take: it stays."""
    from agenttrace.core.example import Example

    try:
        return Example.from_dict(data, source=source)
    except DatasetError:
        example = Example.model_construct(**{key: data[key] for key in Example.model_fields if key in data})
        example._source = source
        return example


def _results(
    rows: Sequence[Mapping[str, Any]], trace_of: Callable[[str], Trace | None] | None
) -> Iterator[ScoringResult]:
    not_passed = {row.get("position", 0) for row in rows if row["outcome"] != "passed"}
    for row in rows:
        trace = None
        if trace_of is not None and row.get("trace_id") and row.get("position", 0) in not_passed:
            trace = trace_of(row["trace_id"])
        yield ScoringResult.from_dict(row, trace)


def _new_run_id() -> str:
    return uuid4().hex


class Analyses(Protocol):
    """What the evaluation that made a report knows beyond it: the scorers, to be asked again."""

    def coverage(self, report: EvaluationReport, *, tools: Iterable[str] | None = None) -> Coverage:
        """Do as `EvaluationReport.coverage`."""
        ...

    def mutation_score(self, report: EvaluationReport, **options: Unpack[MutationOptions]) -> MutationScore:
        """Do as `EvaluationReport.mutation_score`."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class EvaluationReport(Sequence[ScoringResult]):
    """The results of one evaluation run, in the order of the examples (trials of one example together).

    `run_id` (32 hex digits) is the run's id in the store that keeps it. `analyses` is there in the process
    that made the report; a run that was read back has none.
    """

    results: tuple[ScoringResult, ...]
    name: str = ""
    project: str = ""
    model: str | None = None
    started_ns: int = 0
    duration: float = 0.0
    metadata: Mapping[str, Any] = field(default_factory=dict)
    run_id: str = field(default_factory=_new_run_id, compare=False)
    analyses: Analyses | None = field(default=None, repr=False, compare=False)

    def __len__(self) -> int:
        return len(self.results)

    def __iter__(self) -> Iterator[ScoringResult]:
        return iter(self.results)

    @overload
    def __getitem__(self, index: int) -> ScoringResult: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[ScoringResult, ...]: ...
    def __getitem__(self, index: int | slice) -> ScoringResult | tuple[ScoringResult, ...]:
        return self.results[index]

    def __repr__(self) -> str:
        """One line: a notebook shows it for every cell that ends with a report."""
        counts = ", ".join(f"{count} {word}" for word, count in self.counts.items() if count)
        return f"<EvaluationReport {self.name!r}: {counts or 'no results'}>"

    def _repr_html_(self) -> str:
        """What a notebook shows: the page of agenttrace.viewer, loaded on use as it needs much else."""
        html: str = import_module("agenttrace.viewer.notebook").html_of(self)
        return html

    @property
    def counts(self) -> dict[str, int]:
        """How many results passed, failed and errored; and how many were not run, where any were not."""
        counts = {"passed": 0, "failed": 0, "errored": 0}
        for result in self.results:
            counts[result.outcome] = counts.get(result.outcome, 0) + 1
        return counts

    @property
    def passed(self) -> bool:
        """Whether there are results, all of them passed, and the run was not interrupted."""
        is_whole = bool(self.results) and not self.metadata.get("interrupted")
        return is_whole and all(result.success for result in self.results)

    @property
    def means(self) -> dict[str, Mean]:
        """The mean value of each scorer over the results that it gave a value for, by its name.

        Each is a number that knows, and prints, over how many of how many results it is: an agent that raised
        has no scores, and a skipped or errored score has no value. Results that have only the scores of other
        scorers are not among them: it is one of single examples. A scorer without any value is not there.
        """
        return mean_values(result.scores for result in self.results)

    def summary(self) -> ReportSummary:
        """The results in numbers: by scorer, by example and by tag, with intervals, pass@k and pass^k."""
        from agenttrace.core.aggregates import ReportSummary  # on use: most reports are never summed up

        return ReportSummary.of(self.results)

    @property
    def mean_lines(self) -> list[str]:
        """A line for each scorer: ``Tool Order: mean 0.93 over 9 of 10``."""
        means = self.means
        asked = asked_counts(result.scores for result in self.results)
        return [
            f"{name}: mean {means[name]}" if name in means else f"{name}: no value in any of {count}"
            for name, count in asked.items()
        ]

    @property
    def vacuous_lines(self) -> list[str]:
        """A line for each guard that could not be broken: no known tool, agent or turn has such a name."""
        counts: dict[tuple[str, str, str], int] = {}
        for result in self.results:
            for score in result.scores:
                guards = score.details.get("vacuous")
                why = str(score.details.get("vacuous_because") or "no known tool has such a name")
                for guard in guards if isinstance(guards, list) else ():
                    key = (score.name, str(guard), why)
                    counts[key] = counts.get(key, 0) + 1
        return [
            f"? {name}: {guard}: vacuous in {count} of {len(self)}, {why}"
            for (name, guard, why), count in counts.items()
        ]

    def coverage(self, *, tools: Iterable[str] | None = None) -> Coverage:
        """Which tools were offered, called and named by an expectation; which arguments are pinned.

        `tools` are the names of those that were offered, in place of those on record.

        Raises:
            ConfigError: the report was not made in this process: `agenttrace.suite.coverage` takes it.
        """
        return self._analyses("coverage(report)").coverage(self, tools=tools)

    def mutation_score(self, **options: Unpack[MutationOptions]) -> MutationScore:
        """How much damage to its passing runs the scorers of this report would notice; no model is asked.

        Raises:
            ConfigError: an option that cannot be used (see `MutationOptions`), or the report was not made in
                this process: `agenttrace.suite.mutation_score` takes it, with scorers.
        """
        return self._analyses("mutation_score(report, scorers)").mutation_score(self, **options)

    def _analyses(self, function: str) -> Analyses:
        if self.analyses is None:
            raise ConfigError(
                "this report does not have the scorers that it was scored with: no evaluation in this "
                f"process made it; use agenttrace.suite.{function}"
            )
        return self.analyses

    def __str__(self) -> str:
        """The counts and a line for each result, of many only the first that did not pass.

        `agenttrace.reports.report_text` has the diffs too.
        """
        words = {word: n for word, n in self.counts.items() if n and word != "passed"}
        rest = ", ".join(f"{n} {word.replace('_', ' ')}" for word, n in words.items())
        lines = [f"TEST RESULTS: {self.counts['passed']}/{len(self)} passed" + (f" ({rest})" if rest else "")]
        shown = self.results if len(self) <= _PRINTED else [one for one in self.results if not one.success]
        for result in shown[:_PRINTED]:
            about = [result.name] if result.name else []
            about += [f"trial {result.trial}/{result.trials}"] if result.trials > 1 else []
            outcome = result.outcome.replace("_", " ").upper()
            lines.append(
                f"Test {result.position + 1}: {outcome}  {short_line(' · '.join(about), 80)}".rstrip()
            )
            if result.error:
                lines.append(f"  {error_line(result.error)}")
            lines += [f"  {score}" for score in result.scores]
        if len(shown[:_PRINTED]) < len(self):
            more = f"… {len(self) - len(shown[:_PRINTED])} more results"
            bad = f", {len(shown) - _PRINTED} of which did not pass" if len(shown) > _PRINTED else ""
            lines.append(f"{more}{bad}: report_text and the results have them")
        lines += [*(self.mean_lines if len(self) > 1 else ()), *self.vacuous_lines]
        return printable("\n".join(lines))

    def to_dict(self) -> dict[str, Any]:
        """JSON-safe data."""
        return {
            "run_id": self.run_id,
            "name": self.name,
            "project": self.project,
            "model": self.model,
            "started_ns": self.started_ns,
            "duration": self.duration,
            "counts": self.counts,
            **mean_data(self.means),
            "metadata": jsonable(dict(self.metadata)),
            "results": [result.to_dict() for result in self.results],
        }

    @classmethod
    def from_dict(
        cls, data: Mapping[str, Any], *, trace_of: Callable[[str], Trace | None] | None = None
    ) -> EvaluationReport:
        """Make the report that `to_dict` wrote, which is also what a store's `run` returns.

        Counts and means are worked out anew. Keys that no field has are ignored: a later version may have
        written them. Results have no traces, only their ids; with `trace_of`, such as the `trace` of the
        store, those of examples that did not pass in every trial have them, where they are there.

        Raises:
            ConfigError: the data is no report.
            StoreError: `trace_of` cannot read the store.
        """
        names = {item.name for item in fields(cls)} - {"results"}
        try:
            return cls(
                results=tuple(_results(data["results"], trace_of)),
                **{name: data[name] for name in names if name in data},
            )
        except (AttributeError, KeyError, TypeError) as error:
            raise ConfigError(
                f"this is no report as to_dict writes it: {error!r} in {described(data)}"
            ) from None


class EvaluationInterrupted(KeyboardInterrupt):
    """Control-C ended the evaluation; `report` has the results so far, which are stored, too."""

    def __init__(self, report: EvaluationReport) -> None:
        super().__init__("the evaluation was interrupted")
        self.report = report


class EvaluationFailed(AssertionError):
    """At least one example failed or errored; the text is the printed report, `report` the same as data.

    `errored` is true when an agent, a scorer or a judge broke on some example: the run then says nothing
    about that example, which is not the same as saying that it failed.
    """

    __module__ = "agenttrace"  # where it is imported from: tracebacks print that before the reason

    def __init__(self, message: str, report: EvaluationReport) -> None:
        super().__init__(message)
        self.report = report

    def __reduce__(self) -> tuple[Any, ...]:
        """So that it comes out of a process pool, which waits for ever for what cannot be unpickled."""
        return type(self), (str(self), self.report)

    @property
    def errored(self) -> bool:
        """Whether any example could not be judged."""
        return any(result.outcome == "errored" for result in self.report)
