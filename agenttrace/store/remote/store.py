"""`RemoteStore`: the store of a service on another machine, with memory for the time in which it is away."""

from __future__ import annotations

import os
import sys
import threading
import time
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import islice
from typing import Any

from agenttrace.core.annotation import Annotation
from agenttrace.core.batch import Batch, ScoreRow
from agenttrace.core.errors import StoreError
from agenttrace.core.failure import Failure, Fingerprint, State
from agenttrace.core.numbers import is_whole
from agenttrace.core.pending import Claim, WorkCounts, WorkItem
from agenttrace.core.people import StoredScore
from agenttrace.core.protocols import KeepsWatch, Store
from agenttrace.core.query import EVERYTHING, Labelled, Query
from agenttrace.core.query_parsing import parse
from agenttrace.core.report import EvaluationReport
from agenttrace.core.score import Score
from agenttrace.core.span import Span
from agenttrace.core.summary import KeepsResults, RunSummary, TraceSummary
from agenttrace.core.trace import Trace
from agenttrace.core.watch import ScoreCounts, TraceCounts, WriterState
from agenttrace.http.endpoint import ApiKey, checked_base_url
from agenttrace.process.fork_and_exit import at_fork
from agenttrace.store.bulk_scores import SameScore
from agenttrace.store.given_scores import redacted_scores
from agenttrace.store.health import StoreHealth
from agenttrace.store.memory import MemoryStore
from agenttrace.store.memory_fallback import MemoryFallback
from agenttrace.store.remote.connection import Away, Connection, Message
from agenttrace.store.remote.reads import RemoteReads
from agenttrace.store.rows import dataset_text

TOKEN = "AGENTTRACE_TOKEN"  # noqa: S105 - the name of a variable
_MOST_BODY = 8 * 1024 * 1024
_UNSURE = 8
"""Batches of which nobody knows whether the service stored them; beyond that they count as not stored."""


class RemoteStore(Store, KeepsWatch, KeepsResults):
    """Keeps and reads everything in the store of a service (``agenttrace serve``) at ``https://host``.

    Making one asks nothing. While the service does not answer, memory keeps what is recorded, up to 64 MB of
    spans, with one warning, and sends it as soon as it answers again; what it may have stored already comes
    with the key of the first time, by which the service knows it. All methods may be called from any thread.

    Args:
        url: The service's address, with its root path where it has one.
        token: The token of its pages; None: what ``AGENTTRACE_TOKEN`` says, else none.

    Raises:
        ConfigError: the address, or the token, cannot be used.
    """

    def __init__(self, url: str, token: str | None = None) -> None:
        self.address = checked_base_url(url, "a service's address")
        """The service's address."""
        text = os.environ.get(TOKEN) if token is None else token
        key = ApiKey(text or "", TOKEN if token is None else "token") if text or token is not None else None
        self._connection = Connection(self.address, key)
        self._begin()
        at_fork("stores", in_child=self.after_fork)

    def __repr__(self) -> str:
        return f"RemoteStore({self.address!r})"

    def _begin(self) -> None:
        self._process = os.getpid()
        self._sending = threading.RLock()
        self._health = StoreHealth(mode="remote")
        self._fallback = MemoryFallback(self._health, self.address)
        self._waiting: list[tuple[Message, int]] = []

    def _ask(self, call: str, /, *positional: Any, **named: Any) -> Any:
        self.after_fork()
        return self._connection.call(call, *positional, **named)

    # What is recorded

    def get_ready(self) -> None:
        """Start what sends: at the process's end no thread can be started any more."""
        self.after_fork()
        self._connection.get_ready()

    def write(self, batch: Batch) -> None:
        """Keep a batch, in parts where it is large; in memory while the service does not answer.

        Raises:
            TypeError: the batch holds what a service does not take.
        """
        self.after_fork()
        with self._sending:
            if self._fallback.must_wait():
                self._fallback.keep(batch)
                return
            parts = list(_parts(_as_sent(batch)))
            for done, (part, message) in enumerate(parts):
                try:
                    self._return_from_memory()
                    self._connection.send(message, briefly=True)
                except (Away, StoreError) as cause:
                    self._keep_in_memory(cause, part, message)
                    for later, _ in parts[done + 1 :]:
                        self._fallback.keep(later)
                    return
                self._health.count(len(part.spans), 0)

    def _keep_in_memory(self, cause: Exception, batch: Batch, message: Message) -> None:
        self._fallback.open(cause)
        if isinstance(cause, Away) and not cause.is_sure and len(self._waiting) < _UNSURE:
            self._waiting.append((message, len(batch.spans)))
        else:
            self._fallback.keep(batch)

    def _return_from_memory(self, seconds: float | None = None) -> None:
        """Send what waits; a message that went once is never made anew, so that the service knows it."""
        if not self._fallback.occupied:
            return
        until = None if seconds is None else time.monotonic() + seconds
        while True:
            while self._waiting:
                message, spans = self._waiting[0]
                within = None if until is None else max(until - time.monotonic(), 0)
                self._connection.send(message, briefly=True, within=within)
                self._health.count(spans, 0)
                del self._waiting[0]
            self._waiting += _messages(self._fallback.hand_over())
            if not self._waiting:
                break
        self._fallback.leave(mode="remote")

    def export(self, spans: Sequence[Span]) -> None:
        """Keep spans alone; see `write`."""
        self.write(Batch(spans))

    def write_scores(self, scores: Sequence[tuple[str | None, str | None, Score]]) -> None:
        """Keep scores alone, redacted, each with its trace id and span id (None: the whole trace)."""
        self.write(Batch(scores=redacted_scores(scores)))

    def replace_scores(self, rows: Sequence[ScoreRow], same: Callable[[ScoreRow], Any]) -> None:
        """See `ReplacesScores.replace_scores`; the service tells which are the same by `SameScore` alone."""
        if not isinstance(same, SameScore):
            raise StoreError("a service tells by scorer, options and version which scores are the same")
        self._ask("replace_scores", list(rows), dict(same.roots))

    def write_report(self, report: EvaluationReport) -> str:
        """See `Store.write_report`."""
        message = Message.of("write_report", [report])
        self._write_or_keep(message, lambda: self._fallback.memory.keep_report(report.run_id, report))
        return report.run_id

    def add_results(self, report: EvaluationReport, places: Sequence[int], *, anew: bool) -> None:
        """See `KeepsResults.add_results`."""
        if not self._fallback.occupied:  # else the whole report is kept in the end
            self._ask("add_results", report, list(places), anew=anew)

    def _write_or_keep(self, message: Message, keep: Callable[[], object]) -> None:
        self.after_fork()
        with self._sending:
            if self._fallback.must_wait():
                keep()
                return
            try:
                self._return_from_memory()
                self._connection.send(message)
            except (Away, StoreError) as cause:
                self._fallback.open(cause)
                keep()

    # What is to be evaluated

    def save_pending_evaluations(self, project: str, requests: Sequence[Mapping[str, Any]]) -> None:
        """See `Store.save_pending_evaluations`."""
        self._write_or_keep(
            Message.of("save_pending_evaluations", [project, list(requests)]),
            lambda: self._fallback.memory.save_pending_evaluations(project, requests),
        )

    def pending_evaluations(self, project: str) -> list[dict[str, Any]]:
        """See `Store.pending_evaluations`."""
        there: list[dict[str, Any]] = self._ask("pending_evaluations", project)
        return there + self._fallback.memory.pending_evaluations(project)

    def claim_pending_evaluations(
        self, keys: Sequence[str], owner: str | None, *, held_by: str | None
    ) -> list[str]:
        """See `Store.claim_pending_evaluations`."""
        here = self._fallback.memory.claim_pending_evaluations(keys, owner, held_by=held_by)
        there: list[str] = self._ask("claim_pending_evaluations", list(keys), owner, held_by=held_by)
        return here + there

    def drop_pending_evaluations(self, keys: Sequence[str]) -> None:
        """See `Store.drop_pending_evaluations`."""
        self._fallback.memory.drop_pending_evaluations(keys)
        self._write_or_keep(Message.of("drop_pending_evaluations", [list(keys)]), lambda: None)

    def work_queue(self) -> RemoteQueue:
        """The queued evaluations of the service's store."""
        return RemoteQueue(self._ask)

    # Datasets and runs

    def save_dataset(self, alias: str, project: str, content: Any) -> int:
        """See `Store.save_dataset`."""
        dataset_text(alias, content)  # which raises
        version: int = self._ask("save_dataset", alias, project, content)
        return version

    def load_dataset(self, alias: str, project: str, version: int | None = None) -> Any:
        """See `Store.load_dataset`."""
        return self._ask("load_dataset", alias, project, version)

    def datasets(self, *, project: str | None = None) -> list[tuple[str, str, int]]:
        """See `Store.datasets`."""
        lines: list[tuple[str, str, int]] = self._ask("datasets", project=project)
        return lines

    def runs(self, *, project: str | None = None, limit: int = 50) -> list[RunSummary]:
        """See `Store.runs`."""
        lines: list[RunSummary] = self._ask("runs", project=project, limit=limit)
        return lines

    def run(self, run_id: str) -> dict[str, Any] | None:
        """See `Store.run`."""
        run: dict[str, Any] | None = self._ask("run", run_id)
        return run

    def delete_run(self, run_id: str) -> bool:
        """See `Store.delete_run`."""
        was_there: bool = self._ask("delete_run", run_id)
        return self._fallback.memory.delete_run(run_id) or was_there

    # Traces

    def trace(self, trace_id: str) -> Trace | None:
        """See `Store.trace`."""
        trace: Trace | None = self._ask("trace", trace_id)
        return trace

    def traces(
        self, *, project: str | None = None, limit: int = 50, name: str | None = None
    ) -> list[TraceSummary]:
        """See `Store.traces`."""
        lines: list[TraceSummary] = self._ask("traces", project=project, limit=limit, name=name)
        return lines

    def iter_traces(
        self, query: Query | str = "", *, project: str | None = None, limit: int | None = None
    ) -> Iterator[Trace]:
        """See `StreamsTraces.iter_traces`."""
        if limit is not None and not is_whole(limit):
            raise StoreError(f"limit is how many traces there are at most, or None, got {limit!r}")
        terms = parse(query) if isinstance(query, str) else query
        if project is not None:
            terms = (terms or EVERYTHING).and_(Labelled("project", (project,)))
        return islice(self._every_trace(terms), None if limit is None else min(limit, sys.maxsize))

    def _every_trace(self, query: Query) -> Iterator[Trace]:
        for page in self.trace_reads().pages(query):
            ids = [facts.trace_id for facts in page.traces]
            while ids:
                traces, looked_at = self._ask("traces_by_id", ids)
                yield from traces
                ids = ids[looked_at:]

    def trace_reads(self) -> RemoteReads:
        """What answers queries for traces: the service."""
        return RemoteReads(self._ask)

    def root_inputs(self, trace_ids: Sequence[str], longest: int) -> Mapping[str, Mapping[str, Any]]:
        """See `ReadsRootInputs.root_inputs`."""
        inputs: dict[str, Mapping[str, Any]] = self._ask("root_inputs", list(trace_ids))
        return inputs

    def scores(self, trace_id: str) -> list[tuple[str | None, Score]]:
        """See `Store.scores`."""
        scores: list[tuple[str | None, Score]] = self._ask("scores", trace_id)
        return scores

    def delete_trace(self, trace_id: str) -> bool:
        """See `Store.delete_trace`."""
        was_there: bool = self._ask("delete_trace", trace_id)
        return self._fallback.memory.delete_trace(trace_id) or was_there

    # Those who watch

    def failures(
        self, *, project: str | None = None, state: State | None = None, limit: int = 100
    ) -> list[Failure]:
        """See `KeepsWatch.failures`."""
        failures: list[Failure] = self._ask("failures", project=project, state=state, limit=limit)
        return failures

    def set_failure_state(
        self, fingerprint: str, state: State, *, fixed_in: str | None = None, project: str | None = None
    ) -> Failure:
        """See `KeepsWatch.set_failure_state`."""
        failure: Failure = self._ask(
            "set_failure_state", fingerprint, state, fixed_in=fixed_in, project=project
        )
        return failure

    def first_tellings(self, project: str, fingerprints: Sequence[Fingerprint]) -> dict[str, str]:
        """See `KeepsWatch.first_tellings`."""
        news: dict[str, str] = self._ask("first_tellings", project, list(fingerprints))
        return news

    def annotations(
        self, *, trace_id: str | None = None, project: str | None = None, limit: int = 1_000
    ) -> list[Annotation]:
        """See `KeepsWatch.annotations`."""
        words: list[Annotation] = self._ask("annotations", trace_id=trace_id, project=project, limit=limit)
        return words

    def stored_scores(
        self,
        *,
        name: str | None = None,
        project: str | None = None,
        annotated: bool = False,
        limit: int = 5_000,
    ) -> list[StoredScore]:
        """See `KeepsWatch.stored_scores`."""
        scores: list[StoredScore] = self._ask(
            "stored_scores", name=name, project=project, annotated=annotated, limit=limit
        )
        return scores

    def score_counts(self, *, since_ns: int = 0, project: str | None = None) -> list[ScoreCounts]:
        """See `KeepsWatch.score_counts`."""
        counts: list[ScoreCounts] = self._ask("score_counts", since_ns=since_ns, project=project)
        return counts

    def trace_counts(self, *, since_ns: int = 0, project: str | None = None) -> list[TraceCounts]:
        """See `KeepsWatch.trace_counts`."""
        counts: list[TraceCounts] = self._ask("trace_counts", since_ns=since_ns, project=project)
        return counts

    def trace_cost(self, *, since_ns: int, project: str | None = None) -> float:
        """See `KeepsWatch.trace_cost`."""
        cost: float = self._ask("trace_cost", since_ns=since_ns, project=project)
        return cost

    def failure_counts(self) -> dict[tuple[str, State], int]:
        """See `KeepsWatch.failure_counts`."""
        counts: dict[tuple[str, State], int] = self._ask("failure_counts")
        return counts

    def writers(self) -> list[WriterState]:
        """The processes that write to the service's store, the service's own among them."""
        writers: list[WriterState] = self._ask("writers")
        return writers

    # The end

    def flush(self, timeout: float) -> bool:
        """Send what memory keeps, if possible; returns True if the service has everything."""
        self.after_fork()
        until = time.monotonic() + max(timeout, 0)
        if not self._sending.acquire(timeout=max(timeout, 0)):
            return False
        try:
            self._return_from_memory(max(until - time.monotonic(), 0))
        except (Away, StoreError) as cause:
            self._fallback.open(cause)
        finally:
            self._sending.release()
        return not self._fallback.occupied

    def close(self) -> None:
        """Send what waits, if possible, and close the connections; another use opens them again."""
        if self._fallback.occupied:
            self.flush(timeout=1.0)
        self._connection.close()

    def after_fork(self) -> None:
        """In the child: start empty. What the parent has yet to send is sent by the parent."""
        if self._process != os.getpid():
            self._connection.begin_anew()
            self._begin()

    def health(self) -> StoreHealth:
        """The state of this moment, of this process."""
        health = self._health.copy()
        health.waiting += sum(spans for _, spans in self._waiting)
        return health


def _as_sent(batch: Batch) -> Batch:
    """The batch without what is of its process alone."""
    return replace(batch, spans=list(batch.spans), send_to=(), recorder=None)


def _parts(batch: Batch) -> Iterator[tuple[Batch, Message]]:
    """The batch as messages, of its spans so many in each that it is not too long."""
    message = Message.of("write", [batch])
    count = len(batch.spans)
    if len(message.body) <= _MOST_BODY or count < 2:
        yield batch, message
        return
    yield from _parts(replace(batch, spans=batch.spans[: count // 2]))
    rest = Batch(batch.spans[count // 2 :])
    yield from _parts(rest)


def _messages(memory: MemoryStore) -> list[tuple[Message, int]]:
    """What memory kept as messages, each with the number of its spans."""
    batches = [
        (message, len(part.spans))
        for batch in memory.batches()
        if batch.spans or batch.scores or batch.tools or batch.annotations
        for part, message in _parts(_as_sent(batch))
    ]
    others = [Message.of("write_report", [report]) for report in memory.all_reports().values()]
    others += [
        Message.of("save_pending_evaluations", [project, [request]])
        for project, request in memory.all_evaluations()
    ]
    return batches + [(message, 0) for message in others]


class RemoteQueue:
    """The queue of a service's store; see `WorkQueue`."""

    def __init__(self, ask: Callable[..., Any]) -> None:
        self._ask = ask

    def add(self, items: Sequence[WorkItem], seconds: float) -> None:
        """See `WorkQueue.add`."""
        self._ask("queue.add", list(items), seconds)

    def claim(
        self, owner: str, most: int, seconds: float, *, rules: Collection[str] | None = None
    ) -> list[Claim]:
        """See `WorkQueue.claim`."""
        names = None if rules is None else sorted(rules)
        claims: list[Claim] = self._ask("queue.claim", owner, most, seconds, rules=names)
        return claims

    def renew(self, claims: Sequence[Claim], seconds: float) -> list[Claim]:
        """See `WorkQueue.renew`."""
        renewed: list[Claim] = self._ask("queue.renew", list(claims), seconds)
        return renewed

    def settle(self, claim: Claim, seen: str, scores: Sequence[ScoreRow] | None) -> bool:
        """See `WorkQueue.settle`."""
        settled: bool = self._ask("queue.settle", claim, seen, None if scores is None else list(scores))
        return settled

    def give_back(self, claims: Sequence[Claim], seconds: float) -> None:
        """See `WorkQueue.give_back`."""
        self._ask("queue.give_back", list(claims), seconds)

    def counts(self) -> Mapping[str, WorkCounts]:
        """See `WorkQueue.counts`."""
        counts: Mapping[str, WorkCounts] = self._ask("queue.counts")
        return counts
