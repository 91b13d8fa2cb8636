"""`PostgresStore`: the store on a PostgreSQL server, with memory for the time in which it is away."""

from __future__ import annotations

import os
import sys
import threading
import uuid
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from functools import partial
from itertools import islice
from typing import TYPE_CHECKING, Any, TypeVar

from agenttrace.core.annotation import Annotation
from agenttrace.core.batch import Batch, ScoreRow
from agenttrace.core.errors import ConfigError, StoreError
from agenttrace.core.failure import Failure, Fingerprint, State
from agenttrace.core.numbers import is_whole
from agenttrace.core.pending import Claim, WorkCounts, WorkItem
from agenttrace.core.people import StoredScore
from agenttrace.core.protocols import KeepsWatch, Store
from agenttrace.core.report import EvaluationReport
from agenttrace.core.score import Score
from agenttrace.core.span import Span
from agenttrace.core.span_rows import items_of
from agenttrace.core.summary import KeepsResults, RunSummary, TraceSummary
from agenttrace.core.trace import Trace
from agenttrace.core.trace_reading import ReadSpans, read_with
from agenttrace.core.watch import ScoreCounts, TraceCounts, WriterState
from agenttrace.process.fork_and_exit import at_fork
from agenttrace.store.given_scores import redacted_scores
from agenttrace.store.health import StoreHealth
from agenttrace.store.memory_fallback import MemoryFallback
from agenttrace.store.postgres import counts, evaluations, failures, reads, work
from agenttrace.store.postgres.address import Address
from agenttrace.store.postgres.connection import Away, Connection
from agenttrace.store.postgres.retirement import AgeLimit, OldNotes
from agenttrace.store.postgres.spans import SpanWriter, insert_tools, stored_text
from agenttrace.store.postgres.writers import WriterRow, writers
from agenttrace.store.queries import id_prefix
from agenttrace.store.retention import Keep
from agenttrace.store.rows import dataset_text, dataset_value
from agenttrace.store.table_rows import TableRows
from agenttrace.store.writer_notes import NO_LOSSES

if TYPE_CHECKING:
    from agenttrace.core.query import Query
    from agenttrace.core.trace_outline import TraceOutline
    from agenttrace.store.index_file import SideIndex
    from agenttrace.store.index_reads import IndexReads
    from agenttrace.store.mending import Clean, Mended, Which
    from agenttrace.store.postgres.index_source import ServerSource

T = TypeVar("T")

_TRACES_AT_ONCE = 500
_UNSURE = 8
"""Transactions of which nobody said how they ended; beyond that they count as not committed."""


class PostgresStore(Store, KeepsWatch, KeepsResults):
    """Keeps everything in one schema of a PostgreSQL database, which any number of machines share.

    ``postgresql://user:password@host:5432/database?schema=agenttrace``. Making one opens nothing; the tables
    are made at the first use. While the server cannot be asked, memory keeps what is recorded, up to 64 MB of
    spans, with one warning, and writes it as soon as the server can be asked again; what of a transaction
    that ended in between is known by a note of its own, so nothing is there twice. With `keep` (``"30d"``)
    traces that began longer ago go. All methods may be called from any thread.

    Raises:
        ConfigError: the address, or `keep`, cannot be read.
    """

    takes_rows = True

    def __init__(self, address: str, *, keep: str | None = None) -> None:
        limits = Keep() if keep is None else Keep.of(keep)
        if limits.max_bytes is not None:
            raise ConfigError("a store on a server is limited by age alone: keep='30d'")
        self._address = Address.of(address)
        self.address = self._address.shown
        """Where it is, without the password."""
        self.reading: ReadSpans | None = None
        """How spans of other libraries are read; `open_store` and `Tracer` set it."""
        self._age_limit, self._old_notes = AgeLimit(limits.seconds), OldNotes()
        self._begin()
        at_fork("stores", in_child=self.after_fork)

    def __repr__(self) -> str:
        return f"PostgresStore({self.address!r})"

    def _begin(self) -> None:
        self._process = os.getpid()
        self._writing = threading.RLock()
        self._health = StoreHealth(mode="postgres")
        self._fallback = MemoryFallback(self._health, self.address)
        self._spans = SpanWriter()
        self._row = WriterRow()
        self._unsure: list[tuple[uuid.UUID, list[Batch]]] = []
        self._to_write, self._to_read = Connection(self._address), Connection(self._address)
        self._reading = threading.Lock()
        self._index: SideIndex | None = None
        self._source: ServerSource | None = None

    # What is recorded

    def get_ready(self) -> None:
        """Open a connection before there is anything to write. No trouble is reported: the write meets it."""
        self.after_fork()
        try:
            self._to_write.write(lambda _: None)
        except (Away, StoreError, ImportError):
            pass

    def write(self, batch: Batch) -> None:
        """Keep a batch in one transaction; in memory while the server cannot be asked.

        A span that cannot be kept is put into the table ``quarantine`` with the reason, and counted.
        """
        self.after_fork()
        with self._writing:
            if self._fallback.must_wait():
                self._fallback.keep(batch)
                return
            commit_id = uuid.uuid4()
            try:
                self._return_from_memory()
                self._store([batch], commit_id)
            except (Away, StoreError) as cause:
                self._fallback.open(cause)
                if isinstance(cause, Away) and not cause.is_sure and len(self._unsure) < _UNSURE:
                    self._unsure.append((commit_id, [batch]))
                else:
                    self._fallback.keep(batch)

    def _store(self, batches: Sequence[Batch], commit_id: uuid.UUID, *rest: Callable[[Any], None]) -> None:
        """Write batches, and what the functions in `rest` write, in one transaction."""
        items = [items_of(batch.spans) for batch in batches]

        def keep(db: Any) -> int:
            quarantined = 0
            for batch, spans in zip(batches, items, strict=True):
                quarantined += self._spans.keep(db, spans)
                for project, tools in batch.tools.items():
                    insert_tools(db, project, tools)
                evaluations.keep_scores(db, batch.scores)
                counts.insert_annotations(db, batch.annotations)
            for write in rest:
                write(db)
            self._health.retired_traces += self._age_limit.retire(db)
            self._old_notes.forget(db)
            if self._row.due(batches[-1].recorder if batches else None):
                self._row.note(db, self._health)
            return quarantined

        try:
            months = {month for spans in items for month in self._spans.missing_months(spans)}
            if months:
                self._to_write.write(lambda db: self._spans.make_months(db, months))
                self._spans.knows_months(months)
            quarantined = self._to_write.write(keep, commit_id)
        except BaseException:
            self._spans.forget()
            raise
        self._health.count(sum(map(len, items)), quarantined or 0)

    def _return_from_memory(self) -> None:
        if not self._fallback.occupied:
            return
        while self._unsure:
            commit_id, batches = self._unsure[0]
            self._store(batches, commit_id)
            del self._unsure[0]
        memory = self._fallback.memory

        def put_back(db: Any) -> None:
            for run_id, report in memory.all_reports().items():
                evaluations.insert_report(db, run_id, report)
            for project, request in memory.all_evaluations():
                evaluations.insert_pending(db, project, [request])

        self._store(memory.batches(), self._fallback.commit_id, put_back)
        self._fallback.leave(mode="postgres")

    def export(self, spans: Sequence[Span]) -> None:
        """Keep spans alone; see `write`."""
        self.write(Batch(spans))

    def write_scores(self, scores: Sequence[tuple[str | None, str | None, Score]]) -> None:
        """Keep scores alone, redacted, each with its trace id and span id (None: the whole trace)."""
        self.write(Batch(scores=redacted_scores(scores)))

    def replace_scores(self, rows: Sequence[ScoreRow], same: Callable[[ScoreRow], Any]) -> None:
        """See `ReplacesScores.replace_scores`."""
        self._must_write(lambda db: evaluations.replace_scores(db, rows, same))

    def write_report(self, report: EvaluationReport) -> str:
        """See `Store.write_report`."""
        run_id = report.run_id
        self._write_or_keep(
            lambda db: evaluations.insert_report(db, run_id, report),
            lambda: self._fallback.memory.keep_report(run_id, report),
        )
        return run_id

    def add_results(self, report: EvaluationReport, places: Sequence[int], *, anew: bool) -> None:
        """See `KeepsResults.add_results`."""
        if not self._fallback.occupied:  # else the whole report is kept in the end
            self._must_write(lambda db: evaluations.add_results(db, report.run_id, report, places, anew=anew))

    def _write_or_keep(self, write: Callable[[Any], None], keep: Callable[[], None]) -> None:
        self.after_fork()
        with self._writing:
            if self._fallback.must_wait():
                keep()
                return
            try:
                self._return_from_memory()
                self._to_write.write(write, uuid.uuid4())
            except (Away, StoreError) as cause:
                self._fallback.open(cause)
                keep()

    def _must_write(self, write: Callable[[Any], T]) -> T:
        """Write to the server; the same transaction once more where nobody said how it ended.

        Raises:
            StoreError: the server cannot be asked.
        """
        self.after_fork()
        commit_id = uuid.uuid4()
        value: list[T] = []

        def noted(db: Any) -> T:
            value[:] = [write(db)]
            return value[0]

        for last in (False, True):
            try:
                with self._writing:
                    self._to_write.write(noted, commit_id)
                return value[0]
            except Away as error:
                if last:
                    raise StoreError(f"{self.address} cannot be written: {error}") from error
        raise AssertionError("the last attempt returns or raises")

    def _read(self, query: Callable[[Any], T]) -> T:
        self.after_fork()
        return self._to_read.read(query)

    # What is to be evaluated

    def save_pending_evaluations(self, project: str, requests: Sequence[Mapping[str, Any]]) -> None:
        """See `Store.save_pending_evaluations`."""
        self._write_or_keep(
            lambda db: evaluations.insert_pending(db, project, requests),
            lambda: self._fallback.memory.save_pending_evaluations(project, requests),
        )

    def pending_evaluations(self, project: str) -> list[dict[str, Any]]:
        """See `Store.pending_evaluations`."""
        on_server = self._read(lambda db: evaluations.pending(db, project))
        return on_server + self._fallback.memory.pending_evaluations(project)

    def claim_pending_evaluations(
        self, keys: Sequence[str], owner: str | None, *, held_by: str | None
    ) -> list[str]:
        """See `Store.claim_pending_evaluations`."""
        in_memory = self._fallback.memory.claim_pending_evaluations(keys, owner, held_by=held_by)
        return in_memory + self._must_write(lambda db: evaluations.claim_pending(db, keys, owner, held_by))

    def drop_pending_evaluations(self, keys: Sequence[str]) -> None:
        """See `Store.drop_pending_evaluations`."""
        self._fallback.memory.drop_pending_evaluations(keys)
        self._write_or_keep(lambda db: evaluations.delete_pending(db, keys), lambda: None)

    def work_queue(self) -> ServerWorkQueue:
        """The queued evaluations of this store's traces."""
        return ServerWorkQueue(self._must_write, self._read)

    # Datasets and runs

    def save_dataset(self, alias: str, project: str, content: Any) -> int:
        """See `Store.save_dataset`."""
        text = dataset_text(alias, content)
        return self._must_write(lambda db: evaluations.insert_dataset(db, project, alias, text))

    def load_dataset(self, alias: str, project: str, version: int | None = None) -> Any:
        """See `Store.load_dataset`."""
        text = self._read(lambda db: evaluations.dataset(db, project, alias, version))
        return None if text is None else dataset_value(text)

    def datasets(self, *, project: str | None = None) -> list[tuple[str, str, int]]:
        """See `Store.datasets`."""
        return self._read(lambda db: evaluations.datasets(db, project))

    def runs(self, *, project: str | None = None, limit: int = 50) -> list[RunSummary]:
        """See `Store.runs`."""
        waiting = self._fallback.memory.runs(project=project, limit=limit)
        return (waiting + self._read(lambda db: evaluations.runs(db, project, limit)))[: max(limit, 0)]

    def run(self, run_id: str) -> dict[str, Any] | None:
        """See `Store.run`."""
        prefix = id_prefix(run_id)
        if prefix is None:
            return None
        return self._read(lambda db: evaluations.run(db, prefix)) or self._fallback.memory.run(prefix)

    def delete_run(self, run_id: str) -> bool:
        """See `Store.delete_run`."""
        was_in_memory = self._fallback.memory.delete_run(run_id)
        return self._must_write(lambda db: reads.delete_run(db, run_id.lower())) or was_in_memory

    # Traces

    def trace(self, trace_id: str) -> Trace | None:
        """See `Store.trace`."""
        prefix = id_prefix(trace_id)
        if prefix is None:
            return None
        stored = self._read(lambda db: reads.trace(db, prefix))
        waiting = self._fallback.memory.trace(prefix if stored is None else stored.trace_id)
        if stored is not None and waiting is not None:
            newest = {span.span_key: span for span in (*stored.spans, *waiting.spans)}
            tools = {**stored.tools, **waiting.tools}
            stored = Trace(newest.values(), trace_key=stored.trace_key, tools=tools)
        one = stored or waiting
        return None if one is None else read_with(one, self.reading)

    def traces(
        self, *, project: str | None = None, limit: int = 50, name: str | None = None
    ) -> list[TraceSummary]:
        """See `Store.traces`."""
        waiting = self._fallback.memory.traces(project=project, limit=limit, name=name)
        stored = self._read(lambda db: reads.summaries(db, project, limit, name))
        if not waiting:
            return stored
        ids = {line.trace_id for line in waiting}
        lines = waiting + [line for line in stored if line.trace_id not in ids]
        return sorted(lines, key=lambda line: -line.start_ns)[: max(limit, 0)]

    def iter_traces(
        self, query: Query | str = "", *, project: str | None = None, limit: int | None = None
    ) -> Iterator[Trace]:
        """See `StreamsTraces.iter_traces`."""
        if limit is not None and not is_whole(limit):
            raise StoreError(f"limit is how many traces there are at most, or None, got {limit!r}")
        if query:
            return super().iter_traces(query, project=project, limit=limit)
        return islice(self._every_trace(project), None if limit is None else min(limit, sys.maxsize))

    def _every_trace(self, project: str | None) -> Iterator[Trace]:
        place: reads.Place | None = None
        while True:
            places = self._read(partial(_next_places, project=project, after=place))
            for place, trace_id in places:
                trace = self._read(partial(_numbered, number=place.number, trace_id=trace_id))
                if trace.spans:  # not deleted meanwhile
                    yield read_with(trace, self.reading)
            if len(places) < _TRACES_AT_ONCE:
                return

    def table_rows(self) -> TableRows:
        """The rows of its tables, for copying them."""
        read, write = self._read, self._must_write
        return TableRows("server", lambda: read(reads.store_id), lambda do, _: read(do), write, stored_text)

    def outline(self, trace_id: str) -> TraceOutline | None:
        """See `ReadsOutlines.outline`."""
        from agenttrace.store.outlines import ON_SERVER, StoredOutline, outline  # recording needs none of it

        prefix = id_prefix(trace_id)
        if prefix is None or self._fallback.occupied:
            return None

        def query(db: Any) -> tuple[int, Trace] | None:
            match = reads.find_trace(db, prefix)
            as_stored = self.reading is None
            return match and outline(partial(db.execute, binary=True), ON_SERVER, match, as_stored=as_stored)

        light = self._read(query)
        return light and StoredOutline(*light, ON_SERVER, lambda do: self._read(lambda db: do(db.execute)))

    def trace_reads(self) -> IndexReads:
        """What answers queries for traces: a side index on this machine, which readers keep."""
        from agenttrace.store.index_file import SideIndex  # recording needs none of it
        from agenttrace.store.index_reads import IndexReads
        from agenttrace.store.postgres.index_source import ServerSource

        with self._reading:
            if self._index is None:
                self._source = ServerSource(self._address)
                self._index = SideIndex(self._source)
        return IndexReads(self._index)

    def root_inputs(self, trace_ids: Sequence[str], longest: int) -> Mapping[str, Mapping[str, Any]]:
        """See `ReadsRootInputs.root_inputs`."""
        return self._read(lambda db: reads.root_inputs(db, trace_ids, longest))

    def scores(self, trace_id: str) -> list[tuple[str | None, Score]]:
        """See `Store.scores`."""
        return self._read(lambda db: evaluations.scores(db, trace_id)) + self._fallback.memory.scores(
            trace_id
        )

    def delete_trace(self, trace_id: str) -> bool:
        """See `Store.delete_trace`."""
        was_in_memory = self._fallback.memory.delete_trace(trace_id)
        return bool(self._must_write(lambda db: reads.delete_traces(db, [trace_id]))) or was_in_memory

    def mend(self, which: Which, clean: Clean) -> Mended:
        """Put what `clean` returns in the place of each text of `which`, and write the tables anew.

        Raises:
            StoreError: the server cannot be written, or its tables not be written anew.
        """
        from agenttrace.store.mending import Mended, remove_index  # recording needs none of it
        from agenttrace.store.postgres import mending
        from agenttrace.store.postgres.index_source import ServerSource

        values, tables = self._must_write(lambda db: mending.mend(db, which, clean))
        is_empty = mending.write_anew(self._address, tables) if values else True
        if values:
            remove_index(ServerSource(self._address).index_path)
        return Mended(values, 0, is_empty)

    # Those who watch

    def failures(
        self, *, project: str | None = None, state: State | None = None, limit: int = 100
    ) -> list[Failure]:
        """See `KeepsWatch.failures`."""
        return self._read(lambda db: failures.failures(db, project=project, state=state, limit=limit))

    def set_failure_state(
        self, fingerprint: str, state: State, *, fixed_in: str | None = None, project: str | None = None
    ) -> Failure:
        """See `KeepsWatch.set_failure_state`."""
        number = self._read(lambda db: failures.find_failure(db, fingerprint, project))
        return self._must_write(lambda db: failures.set_state(db, number, state, fixed_in))

    def first_tellings(self, project: str, fingerprints: Sequence[Fingerprint]) -> dict[str, str]:
        """See `KeepsWatch.first_tellings`."""
        return self._must_write(lambda db: failures.first_tellings(db, project, fingerprints))

    def annotations(
        self, *, trace_id: str | None = None, project: str | None = None, limit: int = 1_000
    ) -> list[Annotation]:
        """See `KeepsWatch.annotations`."""
        waiting = self._fallback.memory.annotations(trace_id=trace_id, project=project, limit=limit)
        stored = self._read(
            lambda db: counts.read_annotations(db, trace_id=trace_id, project=project, limit=limit)
        )
        return (waiting + stored)[: max(limit, 0)]

    def stored_scores(
        self,
        *,
        name: str | None = None,
        project: str | None = None,
        annotated: bool = False,
        limit: int = 5_000,
    ) -> list[StoredScore]:
        """See `KeepsWatch.stored_scores`."""
        return self._read(
            lambda db: counts.stored_scores(db, name=name, project=project, annotated=annotated, limit=limit)
        )

    def score_counts(self, *, since_ns: int = 0, project: str | None = None) -> list[ScoreCounts]:
        """See `KeepsWatch.score_counts`."""
        return self._read(lambda db: counts.score_counts(db, since_ns=since_ns, project=project))

    def trace_counts(self, *, since_ns: int = 0, project: str | None = None) -> list[TraceCounts]:
        """See `KeepsWatch.trace_counts`."""
        return self._read(lambda db: counts.trace_counts(db, since_ns=since_ns, project=project))

    def trace_cost(self, *, since_ns: int, project: str | None = None) -> float:
        """See `KeepsWatch.trace_cost`."""
        return self._read(lambda db: counts.cost_since(db, since_ns=since_ns, project=project))

    def failure_counts(self) -> dict[tuple[str, State], int]:
        """See `KeepsWatch.failure_counts`."""
        return self._read(failures.failure_counts)

    def writers(self) -> list[WriterState]:
        """See `KeepsWatch.writers`."""
        return self._read(writers)

    # The end

    def flush(self, timeout: float) -> bool:
        """Write what memory keeps, if possible; returns True if everything is on the server."""
        self.after_fork()
        if not self._writing.acquire(timeout=max(timeout, 0)):
            return False
        try:
            self._return_from_memory()
        except (Away, StoreError) as cause:
            self._fallback.open(cause)
        finally:
            self._writing.release()
        return not self._fallback.occupied

    def end(self, losses: Mapping[str, int] = NO_LOSSES) -> None:
        """Note that this process writes no more, and what it lost. Raises nothing."""
        if (self._row.begun or losses) and not self._fallback.occupied:
            try:
                self._to_write.write(lambda db: self._row.note(db, self._health, ended=True, losses=losses))
            except (Away, StoreError):
                pass

    def close(self) -> None:
        """Write what waits, if possible, and close the connections; another use opens them again."""
        if self._fallback.occupied:
            self.flush(timeout=1.0)
        self.end()
        self._to_write.close()
        self._to_read.close()
        if self._source is not None:
            self._source.close()

    def after_fork(self) -> None:
        """In the child: start empty. What the parent has yet to store is stored by the parent."""
        if self._process != os.getpid():
            for connection in (self._to_write, self._to_read):
                connection.abandon()
            self._begin()

    def health(self) -> StoreHealth:
        """The state of this moment."""
        return self._health.copy()


def _next_places(db: Any, project: str | None, after: reads.Place | None) -> list[tuple[reads.Place, str]]:
    return reads.next_places(db, project, after, _TRACES_AT_ONCE)


def _numbered(db: Any, number: int, trace_id: str) -> Trace:
    return reads.numbered_trace(db, number, trace_id)


class ServerWorkQueue:
    """The queue of a store on a server; see `WorkQueue`."""

    def __init__(
        self, write: Callable[[Callable[[Any], Any]], Any], read: Callable[[Callable[[Any], Any]], Any]
    ) -> None:
        self._write, self._read = write, read

    def add(self, items: Sequence[WorkItem], seconds: float) -> None:
        """See `WorkQueue.add`."""
        self._write(lambda db: work.add(db, items, seconds))

    def claim(
        self, owner: str, most: int, seconds: float, *, rules: Collection[str] | None = None
    ) -> list[Claim]:
        """See `WorkQueue.claim`."""
        claims: list[Claim] = self._write(lambda db: work.claim(db, owner, most, seconds, rules))
        return claims

    def renew(self, claims: Sequence[Claim], seconds: float) -> list[Claim]:
        """See `WorkQueue.renew`."""
        renewed: list[Claim] = self._write(lambda db: work.renew(db, claims, seconds))
        return renewed

    def settle(self, claim: Claim, seen: str, scores: Sequence[ScoreRow] | None) -> bool:
        """See `WorkQueue.settle`."""
        settled: bool = self._write(lambda db: work.settle(db, claim, seen, scores))
        return settled

    def give_back(self, claims: Sequence[Claim], seconds: float) -> None:
        """See `WorkQueue.give_back`."""
        self._write(lambda db: work.give_back(db, claims, seconds))

    def counts(self) -> Mapping[str, WorkCounts]:
        """See `WorkQueue.counts`."""
        numbers: Mapping[str, WorkCounts] = self._read(work.counts)
        return numbers
