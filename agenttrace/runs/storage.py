"""Stores a run: its results, and those of its traces that no tracer has stored."""

from __future__ import annotations

import copy
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType
from typing import Any

from agenttrace.core.batch import Batch
from agenttrace.core.errors import ConfigError, error_text
from agenttrace.core.protocols import HasPath, Store, optional
from agenttrace.core.report import EvaluationReport, ScoringResult
from agenttrace.core.span import Span
from agenttrace.core.summary import KeepsResults
from agenttrace.core.trace import Trace
from agenttrace.process.said_once import SaidOnce
from agenttrace.redaction import Redaction, without_secrets
from agenttrace.scoring.redacted import redacted_report
from agenttrace.store import default_store
from agenttrace.store.opening import shared_store
from agenttrace.tracing.decorator import enabled_by_environment
from agenttrace.tracing.default_recorder import default_recorder

_warnings = SaidOnce(without_secrets)

_EARLIEST_NS = 10**15
"""Traces that begin before this, 11 days after 1970, have an artificial clock."""


def store_of(store: str | Path | Store | None, tracer: Any) -> Store | None:
    """The store for a run: the one given or named, or the tracer's, or that of the process's first tracer, or
    the default one.

    None where recording is switched off for the whole process and nobody names a store.

    Raises:
        ConfigError: it is no store and names none, or what ``AGENTTRACE_STORE`` says cannot name one.
    """
    if isinstance(store, str | Path):
        return shared_store(store)
    if store is not None:
        if not callable(getattr(store, "write", None)):
            raise ConfigError(f"store is a path, 'memory' or a Store, got {store!r}")
        return store
    if tracer is not None:
        own: Store | None = getattr(tracer, "store", None)
        return own
    first = _recording_store(None)
    if first is not None:
        return first
    return default_store() if enabled_by_environment() else None


def keep_run(
    report: EvaluationReport,
    store: Store | None,
    redaction: Redaction,
    tracer: Any,
    facts: Mapping[str, Any] = MappingProxyType({}),
) -> None:
    """Store a run with its traces, redacted. A store that fails is a warning once: the results are returned.

    What `tracer` (or, without one, the process's first tracer) records into the same store is there already,
    or on its way. `facts` are the metadata that agenttrace itself added: no rule of the user's sees
    them, which could make two runs look different.
    """
    if store is None:
        return
    with _warning_of(store, report):
        others = {name: value for name, value in report.metadata.items() if name not in facts}
        stored = redacted_report(replace(report, metadata=others), redaction, facts)
        with _warning_of(store, report):  # the results are stored in any case
            _write_spans(stored, store, tracer)
        store.write_report(stored)


def keep_results(
    report: EvaluationReport,
    places: Mapping[int, ScoringResult],
    store: Store,
    redaction: Redaction,
    tracer: Any,
    facts: Mapping[str, Any],
    *,
    anew: bool,
) -> None:
    """Store results of a run that is not over, with their traces, as `keep_run` does; see `KeepsResults`."""
    hook = optional(store, KeepsResults)
    if hook is None:
        return
    with _warning_of(store, report):
        results = tuple(places.values())
        others = {name: value for name, value in report.metadata.items() if name not in facts}
        stored = redacted_report(replace(report, results=results, metadata=others), redaction, facts)
        _write_spans(stored, store, tracer)
        hook.add_results(stored, tuple(places), anew=anew)


def keep_traces(report: EvaluationReport, store: Store | None, redaction: Redaction, tracer: Any) -> None:
    """Store the traces alone, as `keep_run` does, of results that become part of a larger run."""
    if store is None:
        return
    with _warning_of(store, report):
        _write_spans(redacted_report(report, redaction), store, tracer)


def _write_spans(report: EvaluationReport, store: Store, tracer: Any) -> None:
    spans = list(_spans_to_store(report, _is_same(store, _recording_store(tracer))))
    if spans:
        store.write(Batch(spans))


@contextmanager
def _warning_of(store: Store, report: EvaluationReport) -> Iterator[None]:
    """Say once what is raised within: the caller still gets the report."""
    try:
        yield
    except Exception as error:  # choke-point: see above
        place = _path(store) or f"{type(store).__name__} {id(store)}"
        text = f"the evaluation {report.name} could not be stored in {place}"
        _warnings.warn(f"{place}: {error_text(error)}", text, error, traceback="with")


def _spans_to_store(report: EvaluationReport, is_recording: bool) -> Iterator[Span]:
    """The spans of all traces; where a tracer records into the same store, of those alone that it has not."""
    for result in report.results:
        trace = result.trace
        if trace is not None and (trace.is_recorded_run or not is_recording):
            yield from _spans(trace, report)


def _recording_store(tracer: Any) -> Store | None:
    recorder = default_recorder().owner if tracer is None else tracer
    store: Store | None = getattr(recorder, "store", None)
    return store


def _is_same(one: Store, other: Store | None) -> bool:
    path = _path(one)
    return one is other or (other is not None and path is not None and path == _path(other))


def _path(store: Store) -> str | None:
    has_path = optional(store, HasPath)
    path = None if has_path is None else has_path.path
    return None if path is None else os.path.abspath(path)


def _spans(trace: Trace, report: EvaluationReport) -> list[Span]:
    """A trace's spans as they are stored: in the run's project, a recorded run at the run's time."""
    late = report.started_ns if trace.spans and trace.spans[0].start_ns < _EARLIEST_NS else 0
    if not late and all(span.project for span in trace.spans):
        return list(trace.spans)
    spans = []
    for span in trace.spans:
        dated = copy.copy(span)
        dated.start_ns += late
        dated.end_ns += late
        dated.project = span.project or report.project
        spans.append(dated)
    return spans
