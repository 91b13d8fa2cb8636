"""The counts of a store in OpenMetrics text, over all processes that write to it, for Prometheus to read.

https://github.com/prometheus/OpenMetrics/blob/v1.0.0/specification/OpenMetrics.md
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Mapping, Sequence

from agenttrace.core.failure import STATES, State
from agenttrace.core.protocols import KeepsWatch
from agenttrace.core.watch import ScoreCounts, TraceCounts, WriterState
from agenttrace.reports.text import safe

CONTENT_TYPE = "application/openmetrics-text; version=1.0.0; charset=utf-8"

RUNNING_SECONDS = 300.0
"""Seconds since a process was last seen up to which it counts as running; idle ones are not seen."""

_LONGEST = 1 << 30
_DROPPED = ("queue_full", "after_shutdown", "unreadable", "rejected", "quarantined", "memory_full", "lost")
WINDOW_SECONDS = 3_600

Labels = Mapping[str, str]
Sample = tuple[Labels, float]


def openmetrics(watch: KeepsWatch) -> str:
    """Return what a store counts as OpenMetrics text.

    Raises:
        StoreError: the store cannot be read.
    """
    since = time.time_ns() - WINDOW_SECONDS * 10**9
    traces = watch.trace_counts()
    return openmetrics_text(
        watch.writers(),
        watch.score_counts(since_ns=since),
        traces,
        {one.project: watch.trace_cost(since_ns=since, project=one.project) for one in traces},
        watch.failure_counts(),
    )


def openmetrics_text(
    writers: Sequence[WriterState],
    scores: Sequence[ScoreCounts],
    traces: Sequence[TraceCounts],
    costs: Mapping[str, float],
    failures: Mapping[tuple[str, State], int],
    *,
    now_ns: int | None = None,
) -> str:
    """Return the same of data that was read before: scores and costs are of the last hour.

    All are gauges: counts of what is stored fall when old traces go. Spans are those of the processes that
    wrote within the last days.
    """
    now = time.time_ns() if now_ns is None else now_ns
    running = [one for one in writers if one.ended_ns is None and now - one.seen_ns < RUNNING_SECONDS * 1e9]
    lines = [
        *_gauge("agenttrace_writers", "Processes that write to the store.", [({}, len(running))]),
        *_gauge("agenttrace_spans_written", "Spans stored.", _of_processes(writers, ("written",))),
        *_gauge("agenttrace_spans_waiting", "Spans kept in memory.", _of_processes(writers, ("waiting",))),
        *_gauge(
            "agenttrace_spans_dropped",
            "Spans that were not kept, by reason.",
            [({"reason": reason}, _sum(writers, reason)) for reason in _DROPPED],
        ),
        *_gauge(
            "agenttrace_traces_sampled_out", "Traces not recorded.", _of_processes(writers, ("sampled_out",))
        ),
        *_gauge(
            "agenttrace_traces",
            "Traces in the store.",
            [({"project": one.project}, one.traces) for one in traces],
        ),
        *_gauge(
            "agenttrace_traces_cost_dollars",
            "What traces of the last hour cost.",
            [({"project": project}, cost) for project, cost in costs.items()],
        ),
        *_gauge("agenttrace_scores", "Online scores of the last hour, by outcome.", list(_outcomes(scores))),
        *_gauge(
            "agenttrace_scores_mean",
            "Mean value of those with one.",
            [(_of(one), one.total / one.judged) for one in scores if one.judged],
        ),
        *_gauge(
            "agenttrace_scores_cost_dollars",
            "What they cost, where a price is known.",
            [(_of(one), one.cost) for one in scores if one.cost],  # an unknown cost is stored as none
        ),
        *_gauge("agenttrace_failures", "Failures by state.", list(_states(failures))),
        "# EOF",
    ]
    return "\n".join(lines) + "\n"


def _of_processes(writers: Sequence[WriterState], names: Iterable[str]) -> list[Sample]:
    return [({}, sum(_sum(writers, name) for name in names))]


def _sum(writers: Sequence[WriterState], name: str) -> int:
    return sum(writer.counts.get(name, 0) for writer in writers)


def _of(counts: ScoreCounts) -> dict[str, str]:
    return {"project": counts.project, "scorer": counts.name}


def _outcomes(scores: Sequence[ScoreCounts]) -> Iterator[Sample]:
    for one in scores:
        for outcome in ("passed", "failed", "errored", "skipped"):
            yield {**_of(one), "outcome": outcome}, getattr(one, outcome)


def _states(failures: Mapping[tuple[str, State], int]) -> Iterator[Sample]:
    for project in sorted({project for project, _ in failures}):
        for state in STATES:
            yield {"project": project, "state": state}, failures.get((project, state), 0)


def _gauge(name: str, help_text: str, samples: Sequence[Sample]) -> Iterator[str]:
    yield f"# TYPE {name} gauge"
    yield f"# HELP {name} {help_text}"
    for labels, value in samples:
        listing = ",".join(f'{key}="{_escaped(text)}"' for key, text in labels.items())
        yield f"{name}{{{listing}}} {value:.12g}" if listing else f"{name} {value:.12g}"


def _escaped(text: str) -> str:
    """A label as the format has it; control characters are written as codes, since people print this, too."""
    text = safe(text, _LONGEST)
    return text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
