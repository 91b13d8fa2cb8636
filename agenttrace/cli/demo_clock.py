"""Moves what was recorded a moment ago to another time, with durations like those of real tools, models."""

from __future__ import annotations

import copy
import sqlite3
from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import PurePath
from random import Random

from agenttrace.core.report import EvaluationReport, ScoringResult
from agenttrace.core.span import Frame, Span, SpanError
from agenttrace.core.trace import Trace

_MILLISECOND = 1_000_000
_SPANS = 1 << 20
"""Ids of spans that a trace has room for."""


@dataclass(frozen=True)
class Clock:
    """Gives traces a time, durations and ids by chance that can be repeated: equal seeds, equal traces."""

    chance: Random

    def moved(self, trace: Trace, start_ns: int) -> Trace:
        """The trace as if it had begun then, one call after the other."""
        trace_key, first = (
            self.chance.getrandbits(128) | 1,
            self.chance.getrandbits(63) // _SPANS * _SPANS + 1,
        )
        keys = {span.span_key: first + place for place, span in enumerate(trace.spans)}
        below: dict[int | None, list[Span]] = {}
        for span in trace.spans:
            below.setdefault(span.parent_key if span.parent_key in keys else None, []).append(span)
        spans: list[Span] = []

        def place(span: Span, at: int) -> int:
            other = copy.copy(span)
            other.trace_key, other.span_key, other.start_ns = trace_key, keys[span.span_key], at
            other.parent_key = None if span.parent_key is None else keys.get(span.parent_key)
            other.error = _without_directories(span.error)
            spans.append(other)
            children = below.get(span.span_key, [])
            at += self._lasting(span) if not children else _MILLISECOND
            for child in children:
                at = place(child, at) + _MILLISECOND // 2
            other.end_ns = at
            return at

        end = start_ns
        for root in below.get(None, []):
            end = place(root, end)
        return Trace(spans, trace_key=trace_key, tools=trace.tools)

    def moved_report(self, report: EvaluationReport, start_ns: int) -> EvaluationReport:
        """A run with its traces as if it had begun then, one result after the other."""
        at, results = start_ns, []
        for result in report:
            moved = self._moved_result(result, at)
            at += int((moved.run_duration or 0) * 1e9) + 20 * _MILLISECOND
            results.append(moved)
        return replace(
            report,
            results=tuple(results),
            started_ns=start_ns,
            duration=(at - start_ns) / 1e9,
            run_id=f"{self.chance.getrandbits(128):032x}",
        )

    def _moved_result(self, result: ScoringResult, start_ns: int) -> ScoringResult:
        assert result.trace is not None, "every function that is evaluated here is recorded"
        trace = self.moved(result.trace, start_ns)
        return replace(result, trace=trace, run_duration=trace.duration_ns / 1e9)

    def _lasting(self, span: Span) -> int:
        """How long a call lasts that makes no others."""
        if isinstance(span.error, SpanError):
            return int(5_000 * _MILLISECOND if span.error.type == "TimeoutError" else 3_100 * _MILLISECOND)
        if span.span_type == "llm":
            tokens = (span.usage or {}).get("output_tokens", 20)
            return int(_MILLISECOND * (350 + 11 * tokens + self.chance.expovariate(1 / 250)))
        return int(_MILLISECOND * (15 + self.chance.expovariate(1 / (60 + 9 * len(span.name)))))


def _without_directories(error: SpanError | None) -> SpanError | None:
    """An error whose frames name files alone: where this package is installed says nothing of the shop."""
    if error is None:
        return None
    frames = tuple(Frame(PurePath(one.file).name, one.line, one.function) for one in error.frames)
    return SpanError(error.type, error.message, frames)


def spans_of(traces: Sequence[Trace]) -> list[Span]:
    """All spans of some traces."""
    return [span for trace in traces for span in trace.spans]


_MOVES = (
    "UPDATE scores SET created_ns = (SELECT started_ns FROM traces t WHERE t.trace_id = scores.trace_id)"
    " WHERE trace_id IN (SELECT trace_id FROM traces)",
    "UPDATE failure_cases SET seen_ns ="
    " (SELECT started_ns FROM traces t WHERE t.trace_id = failure_cases.trace_id)"
    " WHERE trace_id IN (SELECT trace_id FROM traces)",
    "UPDATE failures SET first_ns = c.first, last_ns = c.last FROM"
    " (SELECT failure, min(seen_ns) AS first, max(seen_ns) AS last FROM failure_cases GROUP BY failure) c"
    " WHERE c.failure = failures.id",
    "UPDATE failures SET changed_ns = last_ns + 86400000000000 WHERE state = 'fixed'",
    "UPDATE failures SET changed_ns = last_ns WHERE state = 'back'",
)


def move_notes(path: str) -> None:
    """Give what a store noted of its own accord, scores and failures, the time of the traces it is about."""
    with closing(sqlite3.connect(path)) as db, db:
        for statement in _MOVES:
            db.execute(statement)
