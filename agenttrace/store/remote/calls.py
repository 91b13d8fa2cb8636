"""Which of a store's methods may be called over HTTP, and how the service calls them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import islice
from types import MappingProxyType
from typing import Any, Literal, NamedTuple

from agenttrace.core.batch import Batch, ScoreRow
from agenttrace.core.errors import StoreError
from agenttrace.core.protocols import Store
from agenttrace.core.query import Query
from agenttrace.core.trace import Trace
from agenttrace.store.bulk_scores import replace_scores, traces_by_id
from agenttrace.store.root_inputs import root_inputs
from agenttrace.store.searched import reads_of

PATH = "/api/v1/store"
KEY = "idempotency-key"
"""The header by which the service knows a call that comes again; what writes needs one."""
MOST_BYTES = 64 * 1024 * 1024
"""Of a call, or of an answer, unpacked."""
_TRACES_AT_ONCE = 20
_SPANS_AT_ONCE = 5_000
_TEXT_AT_ONCE = 8 * 1024 * 1024

Part = Literal["store", "queue", "reads"]


class Call(NamedTuple):
    """A method: of the store itself, of its queue of work, or of what answers its queries."""

    part: Part
    writes: bool = False


_READ = (
    *("trace", "traces", "scores", "runs", "run", "pending_evaluations", "load_dataset", "datasets"),
    *("failures", "annotations", "stored_scores", "score_counts", "trace_counts", "trace_cost"),
    *("failure_counts", "writers", "root_inputs", "traces_by_id"),
)
_WRITTEN = (
    *("write", "write_report", "add_results", "replace_scores", "save_pending_evaluations"),
    *("claim_pending_evaluations", "drop_pending_evaluations", "save_dataset", "delete_trace", "delete_run"),
    *("set_failure_state", "first_tellings"),
)
_OF_READS = (
    *("search", "count_matches", "facets", "histogram", "tool_figures", "score_figures"),
    *("group_figures", "scored_matches"),
)
CALLS: Mapping[str, Call] = {
    **{name: Call("store") for name in _READ},
    **{name: Call("store", writes=True) for name in _WRITTEN},
    **{f"queue.{name}": Call("queue", writes=True) for name in ("add", "claim", "renew")},
    **{f"queue.{name}": Call("queue", writes=True) for name in ("settle", "give_back")},
    "queue.counts": Call("queue"),
    **{f"reads.{name}": Call("reads") for name in _OF_READS},
}
"""Every method that may be called, by its name there."""


def perform(store: Store, name: str, positional: Sequence[Any], named: Mapping[str, Any]) -> Any:
    """What a method of the store returns; `name` is one of `CALLS`.

    Raises:
        StoreError: this store has no such method.
        Exception: what the method raises, or TypeError and the like for arguments of other types than it has.
    """
    own = _OWN.get(name)
    if own is not None:
        return own(store, *positional, **named)
    part = CALLS[name].part
    if part == "reads":
        if not (positional and isinstance(positional[0], Query)):
            raise TypeError("what is looked for is a Query")
        whole: Any = reads_of(store)
    else:
        whole = _of(store, "work_queue")() if part == "queue" else store
    return _of(whole, name.rpartition(".")[2])(*positional, **named)


def _of(whole: Any, name: str) -> Any:
    method = getattr(whole, name, None)
    if not callable(method):
        raise StoreError(f"the store of this service cannot do this: it has no {name}")
    return method


def _write(store: Store, batch: Batch) -> None:
    if not isinstance(batch, Batch):
        raise TypeError(f"a batch is written, got {type(batch).__name__}")
    store.write(batch)


def _replace_scores(
    store: Store, rows: Sequence[ScoreRow], roots: Mapping[str, str] = MappingProxyType({})
) -> None:
    if not all(isinstance(row, ScoreRow) for row in rows) or not isinstance(roots, Mapping):
        raise TypeError("scores are replaced by scores")
    replace_scores(store, rows, roots)


def _traces_by_id(store: Store, ids: Sequence[str]) -> tuple[list[Trace], int]:
    """The first of these traces, as many as one answer holds, and how many ids were looked at for them."""
    each, traces = iter(ids), []
    looked_at = spans = size = 0
    while (spans < _SPANS_AT_ONCE and size < _TEXT_AT_ONCE) and (some := list(islice(each, _TRACES_AT_ONCE))):
        looked_at += len(some)
        for trace in traces_by_id(store, some):
            traces.append(trace)
            spans += len(trace.spans)
            size += sum(len(repr(span.output)) + len(repr(span.input)) for span in trace.spans)
    return traces, looked_at


_OWN: Mapping[str, Callable[..., Any]] = {
    "write": _write,
    "replace_scores": _replace_scores,
    "root_inputs": root_inputs,
    "traces_by_id": _traces_by_id,
}
