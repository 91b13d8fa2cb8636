"""`reads_of`: what answers queries for the traces of a store, if need be by reading all of them."""

from __future__ import annotations

from collections.abc import Iterator

from agenttrace.core.protocols import ReadsTraces, Store, optional
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
    for summary in store.traces(limit=_ALL):
        trace = store.trace(summary.trace_id)
        if trace is not None:
            scores = [score for _, score in store.scores(summary.trace_id)]
            searched = facts_of(trace, scores, results.get(summary.trace_id, ()))
            if searched is not None:
                yield searched


def _results(store: Store) -> dict[str, list[ResultFacts]]:
    results: dict[str, list[ResultFacts]] = {}
    for run_id, name in sorted((run.run_id, run.name) for run in store.runs(limit=_ALL)):
        for result in (store.run(run_id) or {"results": ()})["results"]:
            if result["trace_id"] is not None:
                facts = ResultFacts(run_id, name, result["name"], result["outcome"])
                results.setdefault(result["trace_id"], []).append(facts)
    return results
