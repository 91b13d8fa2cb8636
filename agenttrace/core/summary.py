"""Summaries for lists: one line for a trace, one for an evaluation run, which a store may take bit by bit."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from agenttrace.core.report import EvaluationReport
    from agenttrace.core.trace import Trace


@dataclass(frozen=True, slots=True, kw_only=True)
class TraceSummary:
    """One line of a list of traces.

    `name`, `project` and `status` are those of the root; status is *open* while no root has been stored
    (it still runs, or its process died). `tool_calls` counts the spans of tools: not what a model asked for
    without an execution that was recorded. Times are nanoseconds.
    """

    trace_id: str
    name: str
    project: str
    start_ns: int
    duration_ns: int
    spans: int
    tool_calls: int
    status: str

    @classmethod
    def of(cls, trace: Trace) -> TraceSummary:
        """Summarize a trace that has spans."""
        root = next((span for span in trace.spans if span.parent_key is None), None)
        first = root or trace.spans[0]
        return cls(
            trace_id=trace.trace_id,
            name=first.name,
            project=first.project,
            start_ns=trace.spans[0].start_ns,
            duration_ns=trace.duration_ns,
            spans=len(trace.spans),
            tool_calls=sum(span.span_type == "tool" for span in trace.spans),
            status=root.status if root else "open",
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class RunSummary:
    """One line of a list of evaluation runs. `duration` is in seconds.

    `not_run` results there are not, because the run was interrupted, or ended by a budget or `stop_after`.
    """

    run_id: str
    name: str
    project: str
    model: str | None
    started_ns: int
    duration: float
    passed: int
    failed: int
    errored: int
    metadata: Mapping[str, Any] = field(default_factory=dict)

    @property
    def not_run(self) -> int:
        """How many results there are not, of those that were asked for."""
        count = self.metadata.get("not_run")
        return count if isinstance(count, int) else 0

    @property
    def xfailed(self) -> int:
        """How many of the results that failed were expected to, by xfail, a quarantine or a baseline."""
        rows: Any = self.metadata.get("expected_failures")
        counts = [row.get("results", 1) for row in rows or () if isinstance(row, Mapping)]
        return min(sum(count for count in counts if isinstance(count, int)), self.failed)

    @classmethod
    def of(cls, run_id: str, report: EvaluationReport) -> RunSummary:
        """Summarize a report."""
        return cls(
            run_id=run_id,
            name=report.name,
            project=report.project,
            model=report.model,
            started_ns=report.started_ns,
            duration=report.duration,
            metadata=report.metadata,
            **{word: count for word, count in report.counts.items() if word != "not_run"},
        )


class KeepsResults(Protocol):
    """Optional hook of a store: it takes results of a run that is not over yet, so that it can be resumed."""

    def add_results(self, report: EvaluationReport, places: Sequence[int], *, anew: bool) -> None:
        """Keep the results of `report` beside those of the same run that are there, each at its place.

        The report's duration and metadata replace those of the run: they say how many results there are not
        yet. `anew`: in place of the results that are there. `write_report` replaces them all when the run is
        over.
        """
