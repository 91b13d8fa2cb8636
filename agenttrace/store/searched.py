"""`reads_of`: what answers queries for the traces of a store, if need be by reading all of them."""

from __future__ import annotations

from collections.abc import Iterator

from agenttrace.core.protocols import ReadsTraces, Store, StreamsTraces, optional
from agenttrace.core.trace import Trace
from agenttrace.core.trace_facts import ResultFacts, SearchedTrace
from agenttrace.core.trace_reads import TraceReads
from agenttrace.core.trace_search import EveryTrace
from agenttrace.store.facts import facts_of

_ALL = (1 << 62) - 1


def reads_of(store: Store) -> TraceReads:
    """What answers queries for the traces of a store."""
    own = optional(store, ReadsTraces)
    return every_trace(store) if own is None else own.trace_reads()


def every_trace(store: Store) -> EveryTrace:
    """What answers queries by reading all traces of a store, each time."""
    return EveryTrace(lambda: searched_traces(store))


def searched_traces(store: Store) -> Iterator[SearchedTrace]:
    """Every trace of a store, as queries see it."""
    results = _results(store)
    for trace in each_trace(store):
        scores = [score for _, score in store.scores(trace.trace_id)]
        searched = facts_of(trace, scores, results.get(trace.trace_id, ()))
        if searched is not None:
            yield searched


def each_trace(store: Store, project: str | None = None) -> Iterator[Trace]:
    """Every trace of a store by its own `iter_traces`, or one by one."""
    own = optional(store, StreamsTraces)
    if own is not None:
        yield from own.iter_traces(project=project)
        return
    for line in store.traces(project=project, limit=_ALL):
        trace = store.trace(line.trace_id)
        if trace is not None:  # deleted in the meantime
            yield trace


def _results(store: Store) -> dict[str, list[ResultFacts]]:
    results: dict[str, list[ResultFacts]] = {}
    for run_id, name in sorted((run.run_id, run.name) for run in store.runs(limit=_ALL)):
        for result in (store.run(run_id) or {"results": ()})["results"]:
            if result["trace_id"] is not None:
                facts = ResultFacts(run_id, name, result["name"], result["outcome"])
                results.setdefault(result["trace_id"], []).append(facts)
    return results
