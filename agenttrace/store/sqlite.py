"""The store in one SQLite file, which any number of processes may share."""

from __future__ import annotations

import os
import sqlite3
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from agenttrace.core.annotation import Annotation
from agenttrace.core.batch import Batch, Destination, Refusal, Unsent, UnsentCounts
from agenttrace.core.errors import ExportError, StoreError
from agenttrace.core.failure import Failure, Fingerprint, State
from agenttrace.core.people import StoredScore
from agenttrace.core.protocols import KeepsUnsent, KeepsWatch, Store
from agenttrace.core.report import EvaluationReport
from agenttrace.core.score import Score
from agenttrace.core.span import Span
from agenttrace.core.span_rows import items_of
from agenttrace.core.summary import KeepsResults, RunSummary, TraceSummary
from agenttrace.core.trace import Trace
from agenttrace.core.trace_reading import ReadSpans, read_with
from agenttrace.core.watch import ScoreCounts, TraceCounts, WriterState
from agenttrace.process.fork_and_exit import at_fork
from agenttrace.store import counts, failures, queries, to_send
from agenttrace.store import evaluation_writes as writes
from agenttrace.store.annotations import insert_annotations, read_annotations
from agenttrace.store.connection import read
from agenttrace.store.files import absolute, identity
from agenttrace.store.function_ids import FunctionIds
from agenttrace.store.given_scores import redacted_scores
from agenttrace.store.health import StoreHealth
from agenttrace.store.lock import ForkLock
from agenttrace.store.memory_fallback import MemoryFallback
from agenttrace.store.retention import DEFAULT_BYTES, AgeLimit, Keep, SizeLimit, delete_by_id, delete_run
from agenttrace.store.rows import dataset_text, dataset_value
from agenttrace.store.span_writes import insert_tools, keep_spans
from agenttrace.store.table_rows import TableRows
from agenttrace.store.work_queue import TableWorkQueue, replace_scores
from agenttrace.store.writer import Action, Unavailable, Writer
from agenttrace.store.writer_notes import NO_LOSSES, WriterNotes, writers

if TYPE_CHECKING:
    from agenttrace.core.query import Query
    from agenttrace.core.trace_outline import TraceOutline
    from agenttrace.store.index_reads import IndexReads

T = TypeVar("T")

BUSY_TIMEOUT = 5.0
"""Seconds that a write waits for other processes."""

_IN_USE_TIMEOUT = 30.0
_READY_TIMEOUT = 0.2
"""Seconds that opening ahead of time waits for other processes: the first write may wait longer."""


class SQLiteStore(Store, KeepsUnsent, KeepsWatch, KeepsResults):
    """Keeps everything in one SQLite file, which any number of processes may share.

    Making one opens nothing; the file is made at the first write. `export` raises only while other processes
    hold the file for longer than `busy_timeout` seconds (the caller keeps its spans and comes again); for
    every other trouble with the file, memory takes over with one warning, and what it kept goes to the file
    as soon as that can be written again. Beyond `max_bytes` the oldest traces go, and with `keep` (``"30d"``,
    ``"5GB"`` or both) those that began longer ago; open ones, runs, datasets and people's word stay. All
    methods may be called from any thread.
    """

    takes_rows = True

    def __init__(
        self,
        path: str | Path,
        *,
        max_bytes: int = DEFAULT_BYTES,
        busy_timeout: float = BUSY_TIMEOUT,
        keep: str | None = None,
    ) -> None:
        limits = Keep() if keep is None else Keep.of(keep)
        self.path = absolute(path)
        self.max_bytes = SizeLimit.checked(max_bytes) if limits.max_bytes is None else limits.max_bytes
        self._size_limit, self._age_limit = SizeLimit(), AgeLimit(limits.seconds)
        self.busy_timeout = busy_timeout
        self.reading: ReadSpans | None = None
        """How spans of other libraries are read; `open_store` and `Tracer` set it."""
        self._begin()
        at_fork(
            "stores", before=self.before_fork, in_parent=self.after_fork_in_parent, in_child=self.after_fork
        )

    def _begin(self) -> None:
        self._process = os.getpid()
        self._using = ForkLock()
        self._health = StoreHealth(path=self.path)
        self._writer = Writer(self.path, self.busy_timeout, self._health)
        self._fallback = MemoryFallback(self._health)
        self._notes = WriterNotes()

    @contextmanager
    def _exclusively(self) -> Iterator[None]:
        """Keep other threads from using SQLite. A fork waits for this: no child inherits a connection."""
        self.after_fork()
        if not self._using.acquire(timeout=_IN_USE_TIMEOUT):
            raise StoreError(f"{self.path} is in use by another thread for more than {_IN_USE_TIMEOUT:.0f} s")
        try:
            yield
        finally:
            self._using.release()

    def _read(self, query: Callable[[sqlite3.Connection], T], nothing: T) -> T:
        with self._exclusively():
            return read(self.path, self.busy_timeout, query, nothing)

    def get_ready(self) -> None:
        """Load what writing needs and open the file, so that the first spans need not wait for either.

        The first write reports any trouble."""
        self.after_fork()
        try:
            with self._using.for_an_import():
                import_module("pydantic_core")  # what makes rows of spans
            with self._exclusively(), self._waiting_at_most(_READY_TIMEOUT):
                self._writer.write(lambda _db, _functions: None)
        except (Unavailable, ExportError, ImportError, StoreError):
            pass

    def write(self, batch: Batch) -> None:
        """Keep a batch in one transaction.

        A span that cannot be kept is put into the table ``quarantine`` with the reason, and counted.

        Raises:
            ExportError: other processes held the file for too long; nothing of the batch is kept. A batch
                without spans goes to memory instead.
            ImportError: this installation lacks what writing needs; nothing of the batch is kept.
        """
        with self._exclusively():
            if self._fallback.must_wait():
                self._fallback.keep(batch)
                return
            try:
                self._return_from_memory()
                self._store([batch])
            except (Unavailable, ExportError) as cause:
                if batch.spans and isinstance(cause, ExportError):  # the caller comes again with spans alone
                    raise
                self._fallback.open(cause)
                self._fallback.keep(batch)

    def export(self, spans: Sequence[Span]) -> None:
        """Keep spans alone; see `write`."""
        self.write(Batch(spans))

    def write_scores(self, scores: Sequence[tuple[str | None, str | None, Score]]) -> None:
        """Keep scores alone, redacted, each with its trace id and span id (None: the whole trace)."""
        self.write(Batch(scores=redacted_scores(scores)))

    def _store(self, batches: Sequence[Batch], *rest: Callable[[sqlite3.Connection], None]) -> None:
        """Write batches, and what the functions in `rest` write, in one transaction."""
        spans = sum(len(batch.spans) for batch in batches)

        def keep(db: sqlite3.Connection, functions: FunctionIds) -> int:
            quarantined = 0
            for number, batch in enumerate(batches):
                items, alone = items_of(batch.spans), number == 0
                quarantined += keep_spans(db, functions, items, batch.send_to, alone=alone)
                if batch.scores:
                    writes.keep_scores(db, batch.scores, batch.send_to)
                insert_annotations(db, batch.annotations)
                for project, tools in batch.tools.items():
                    insert_tools(db, project, tools)
            for write in rest:
                write(db)
            retired = self._size_limit.retire(db, self.max_bytes, spans) + self._age_limit.retire(db)
            self._health.retired_traces += retired
            if self._notes.due(batches[-1].recorder):
                self._notes.note(db, self._health)
            return quarantined

        self._health.count(spans, self._writer.write(keep, spans))

    def write_report(self, report: EvaluationReport) -> str:
        run_id = report.run_id
        self._write_or_keep(
            lambda db, _: writes.insert_report(db, run_id, report),
            lambda: self._fallback.memory.keep_report(run_id, report),
        )
        return run_id

    def add_results(self, report: EvaluationReport, places: Sequence[int], *, anew: bool) -> None:
        if not self._fallback.occupied:  # else the whole report is kept in the end
            self._must_write(lambda db, _: writes.add_results(db, report.run_id, report, places, anew=anew))

    def _write_or_keep(self, write: Action[None], keep: Callable[[], None]) -> None:
        with self._exclusively():
            if self._fallback.must_wait():
                keep()
                return
            try:
                self._return_from_memory()
                self._writer.write(write)
            except (Unavailable, ExportError) as cause:
                self._fallback.open(cause)
                keep()

    def save_pending_evaluations(self, project: str, requests: Sequence[Mapping[str, Any]]) -> None:
        self._write_or_keep(
            lambda db, _: writes.insert_pending(db, project, requests),
            lambda: self._fallback.memory.save_pending_evaluations(project, requests),
        )

    def claim_pending_evaluations(
        self, keys: Sequence[str], owner: str | None, *, held_by: str | None
    ) -> list[str]:
        claimed_keys = self._fallback.memory.claim_pending_evaluations(keys, owner, held_by=held_by)
        if not os.path.lexists(self.path):
            return claimed_keys
        return claimed_keys + self._must_write(lambda db, _: writes.claim_pending(db, keys, owner, held_by))

    def drop_pending_evaluations(self, keys: Sequence[str]) -> None:
        self._fallback.memory.drop_pending_evaluations(keys)
        self._write_or_keep(lambda db, _: writes.delete_pending(db, keys), lambda: None)

    def save_dataset(self, alias: str, project: str, content: Any) -> int:
        text = dataset_text(alias, content)
        return self._must_write(lambda db, _: writes.insert_dataset(db, project, alias, text))

    def delete_trace(self, trace_id: str) -> bool:
        was_in_memory = self._fallback.memory.delete_trace(trace_id)
        in_file = os.path.lexists(self.path) and self._must_write(lambda db, _: delete_by_id(db, trace_id))
        return in_file or was_in_memory

    def delete_run(self, run_id: str) -> bool:
        was_in_memory = self._fallback.memory.delete_run(run_id)
        in_file = os.path.lexists(self.path) and self._must_write(
            lambda db, _: delete_run(db, run_id.lower())
        )
        return in_file or was_in_memory

    def unsent(self, destination: Destination, *, most: int, max_bytes: int) -> Unsent | None:
        waiting = self._fallback.memory.unsent(destination, most=most, max_bytes=max_bytes)
        if waiting is not None:
            return waiting.without_tools()  # the file alone knows them all
        if self._fallback.occupied:
            self._must_write(lambda *_: None)  # what cannot be settled in the file is not sent from there
        return self._read(
            lambda db: to_send.next_unsent(db, identity(self.path), destination, most, max_bytes), None
        )

    def settle(self, unsent: Unsent, refused: Sequence[Refusal] = ()) -> None:
        def settle(db: sqlite3.Connection, _: FunctionIds) -> None:
            if identity(self.path) == unsent.file:
                to_send.settle(db, unsent, refused)

        if unsent.file is None:
            self._fallback.memory.settle(unsent, refused)
        else:
            self._must_write(settle)

    def retry_refused(self, destination: Destination) -> int:
        in_memory = self._fallback.memory.retry_refused(destination)
        if not os.path.lexists(self.path):
            return in_memory
        return in_memory + self._must_write(
            lambda db, _: to_send.retry_refused(db, destination), in_memory=lambda: 0
        )

    def count_unsent(self, destination: Destination) -> UnsentCounts:
        in_memory = self._fallback.memory.count_unsent(destination)
        try:
            in_file = self._read(lambda db: to_send.count_unsent(db, destination), UnsentCounts(0, 0))
        except StoreError:
            if not self._fallback.occupied:
                raise
            return in_memory
        return UnsentCounts(*map(sum, zip(in_memory, in_file, strict=True)))

    def lease(self, name: str, holder: str, seconds: float) -> bool:
        return self._must_write(
            lambda db, _: to_send.lease(db, name, holder, seconds),
            in_memory=lambda: self._fallback.memory.lease(name, holder, seconds),
        )

    def release(self, name: str, holder: str) -> None:
        self._fallback.memory.release(name, holder)
        self._must_write(lambda db, _: to_send.release(db, name, holder), in_memory=lambda: None)

    def failures(
        self, *, project: str | None = None, state: State | None = None, limit: int = 100
    ) -> list[Failure]:
        return self._read(lambda db: failures.failures(db, project=project, state=state, limit=limit), [])

    def set_failure_state(
        self, fingerprint: str, state: State, *, fixed_in: str | None = None, project: str | None = None
    ) -> Failure:
        # Found by a read: an error of the caller's must not close the connection that writes.
        number = self._read(lambda db: failures.find_failure(db, fingerprint, project), None)
        if number is None:
            raise StoreError(f"no failure begins with {fingerprint!r}: there is no store at {self.path}")
        return self._must_write(lambda db, _: failures.set_state(db, number, state, fixed_in))

    def first_tellings(self, project: str, fingerprints: Sequence[Fingerprint]) -> dict[str, str]:
        return self._must_write(
            lambda db, _: failures.first_tellings(db, project, fingerprints),
            in_memory=lambda: self._fallback.memory.first_tellings(project, fingerprints),
        )

    def annotations(
        self, *, trace_id: str | None = None, project: str | None = None, limit: int = 1_000
    ) -> list[Annotation]:
        waiting = self._fallback.memory.annotations(trace_id=trace_id, project=project, limit=limit)
        nothing: list[Annotation] = []
        in_file = self._read(
            lambda db: read_annotations(db, trace_id=trace_id, project=project, limit=limit), nothing
        )
        return (waiting + in_file)[: max(limit, 0)]

    def stored_scores(
        self,
        *,
        name: str | None = None,
        project: str | None = None,
        annotated: bool = False,
        limit: int = 5_000,
    ) -> list[StoredScore]:
        return self._read(
            lambda db: counts.stored_scores(db, name=name, project=project, annotated=annotated, limit=limit),
            [],
        )

    def score_counts(self, *, since_ns: int = 0, project: str | None = None) -> list[ScoreCounts]:
        return self._read(lambda db: counts.score_counts(db, since_ns=since_ns, project=project), [])

    def trace_counts(self, *, since_ns: int = 0, project: str | None = None) -> list[TraceCounts]:
        return self._read(lambda db: counts.trace_counts(db, since_ns=since_ns, project=project), [])

    def trace_cost(self, *, since_ns: int, project: str | None = None) -> float:
        return self._read(lambda db: counts.cost_since(db, since_ns=since_ns, project=project), 0.0)

    def failure_counts(self) -> dict[tuple[str, State], int]:
        return self._read(failures.failure_counts, {})

    def writers(self) -> list[WriterState]:
        return self._read(writers, [])

    def end(self, losses: Mapping[str, int] = NO_LOSSES) -> None:
        """Note that this process writes no more, and what it lost. Waits for nobody, and raises nothing."""
        self._fallback.note()
        if not self._notes.begun and not losses:
            return
        try:
            with self._exclusively(), self._waiting_at_most(_READY_TIMEOUT):
                self._writer.write(lambda db, _: self._notes.note_end(db, self._health, losses))
        except (Unavailable, ExportError, StoreError) as cause:
            self._fallback.note_losses(losses, cause)

    def trace(self, trace_id: str) -> Trace | None:
        trace = self._stored_trace(trace_id)
        return None if trace is None else read_with(trace, self.reading)

    def _stored_trace(self, trace_id: str) -> Trace | None:
        prefix = queries.id_prefix(trace_id)
        if prefix is None:
            return None

        def query(db: sqlite3.Connection) -> tuple[str, queries.SpanRows, list[tuple[str, str]]] | None:
            match = queries.find_trace(db, prefix)
            if match is None:
                return None
            number, whole_id = match
            return whole_id, queries.span_rows(db, number), queries.known_tools(db, number)

        in_file = self._read(query, None)
        waiting = self._fallback.memory.trace(prefix if in_file is None else in_file[0])
        if in_file is None:
            return waiting
        trace = queries.trace_of(*in_file)
        if waiting is None:
            return trace
        newest = {span.span_key: span for span in (*trace.spans, *waiting.spans)}
        tools = {**trace.tools, **waiting.tools}
        return Trace(newest.values(), trace_key=trace.trace_key, tools=tools)

    def traces(
        self, *, project: str | None = None, limit: int = 50, name: str | None = None
    ) -> list[TraceSummary]:
        waiting = self._fallback.memory.traces(project=project, limit=limit, name=name)
        nothing: list[TraceSummary] = []
        in_file = self._read(lambda db: queries.summaries(db, project, limit, name), nothing)
        if not waiting:
            return in_file
        waiting_ids = {line.trace_id for line in waiting}
        lines = waiting + [line for line in in_file if line.trace_id not in waiting_ids]
        return sorted(lines, key=lambda line: -line.start_ns)[: max(limit, 0)]

    def iter_traces(
        self, query: Query | str = "", *, project: str | None = None, limit: int | None = None
    ) -> Iterator[Trace]:
        from agenttrace.store.trace_stream import in_parts  # recording needs none of it

        memory = self._fallback.memory
        waiting = memory.traces(project=project, limit=sys.maxsize) if self._fallback.occupied else ()
        ids = [line.trace_id for line in waiting]
        return in_parts(self, self._read, ids, query, project=project, limit=limit)

    def scores(self, trace_id: str) -> list[tuple[str | None, Score]]:
        nothing: list[tuple[str | None, Score]] = []
        in_file = self._read(lambda db: queries.scores(db, trace_id), nothing)
        return in_file + self._fallback.memory.scores(trace_id)

    def runs(self, *, project: str | None = None, limit: int = 50) -> list[RunSummary]:
        waiting = self._fallback.memory.runs(project=project, limit=limit)
        nothing: list[RunSummary] = []
        in_file = self._read(lambda db: queries.runs(db, project, limit), nothing)
        return (waiting + in_file)[: max(limit, 0)]

    def run(self, run_id: str) -> dict[str, Any] | None:
        prefix = queries.id_prefix(run_id)
        if prefix is None:
            return None

        def query(db: sqlite3.Connection) -> dict[str, Any] | None:
            whole_id = queries.find_run(db, prefix)
            return None if whole_id is None else queries.run(db, whole_id)

        return self._read(query, None) or self._fallback.memory.run(prefix)

    def load_dataset(self, alias: str, project: str, version: int | None = None) -> Any:
        text = self._read(lambda db: queries.dataset(db, project, alias, version), None)
        return None if text is None else dataset_value(text)

    def datasets(self, *, project: str | None = None) -> list[tuple[str, str, int]]:
        return self._read(lambda db: queries.datasets(db, project), [])

    def pending_evaluations(self, project: str) -> list[dict[str, Any]]:
        nothing: list[dict[str, Any]] = []
        in_file = self._read(lambda db: queries.pending_evaluations(db, project), nothing)
        return in_file + self._fallback.memory.pending_evaluations(project)

    def _must_write(self, write: Action[T], in_memory: Callable[[], T] | None = None) -> T:
        """Write to the file; or, if it cannot be written and memory stands in for it, do it `in_memory`."""
        with self._exclusively():
            try:
                return self._writer.write(write)
            except (Unavailable, ExportError) as cause:
                if in_memory is not None and self._fallback.occupied:
                    return in_memory()
                raise StoreError(f"{self.path} cannot be written: {cause}") from cause

    def work_queue(self) -> TableWorkQueue:
        """The queued evaluations of this store's traces."""
        return TableWorkQueue(lambda do: self._must_write(lambda db, _: do(db)), self._read, replace_scores)

    def table_rows(self) -> TableRows:
        """The rows of its tables, for copying them."""
        write: Any = lambda do: self._must_write(lambda db, _: do(db))  # noqa: E731 - a line of a long class
        return TableRows("file", lambda: os.path.realpath(self.path), self._read, write)

    def outline(self, trace_id: str) -> TraceOutline | None:
        """See `ReadsOutlines.outline`."""
        from agenttrace.store.outlines import IN_FILE, StoredOutline, outline  # recording needs none of it

        prefix = queries.id_prefix(trace_id)
        if prefix is None or self._health.mode != "sqlite":
            return None

        def query(db: sqlite3.Connection) -> tuple[int, Trace] | None:
            match = queries.find_trace(db, prefix)
            as_stored = self.reading is None
            return match and outline(db.execute, IN_FILE, match, as_stored=as_stored)

        light = read(self.path, self.busy_timeout, query, None)
        nothing: list[tuple[Any, ...]] = []
        return light and StoredOutline(
            *light, IN_FILE, lambda do: read(self.path, self.busy_timeout, lambda db: do(db.execute), nothing)
        )

    def trace_reads(self) -> IndexReads:
        """What answers queries for traces: a side index beside the file, which readers keep."""
        from agenttrace.store.index_reads import IndexReads  # recording needs none of it

        return IndexReads.of(self.path, self.busy_timeout)

    def flush(self, timeout: float) -> bool:
        """Write what memory keeps to the file, if possible; returns True if everything is in the file."""
        deadline = time.monotonic() + timeout
        if not self._using.acquire(timeout=max(timeout, 0)):
            return False
        try:
            self._writer.verify()
            with self._waiting_at_most(deadline - time.monotonic()):
                self._return_from_memory()
        except (Unavailable, ExportError, ImportError) as cause:
            self._fallback.open(cause)
        finally:
            self._using.release()
        return not self._fallback.occupied

    @contextmanager
    def _waiting_at_most(self, seconds: float) -> Iterator[None]:
        """Limit how long writes wait for other processes."""
        self._writer.timeout = min(self.busy_timeout, max(seconds, 0))
        try:
            yield
        finally:
            self._writer.timeout = self.busy_timeout

    def close(self) -> None:
        """Close the connection. Reading still works, and another write opens the file again."""
        self.flush(timeout=1.0)
        self.end()
        with self._exclusively():
            self._writer.close()

    def before_fork(self) -> None:
        """Close the connection and keep all threads from opening another until the fork is over.

        SQLite keeps its list of locks in the process. A child that inherits an open connection inherits a
        list of locks that only its parent has: opened again there, the file may stay "locked" for ever. Or
        the parent deletes the log when it closes the file, and with it every row that the child wrote.
        """
        if self._using.before_fork():
            self._writer.close()

    def after_fork_in_parent(self) -> None:
        """Let threads use the store again; the next write opens the file."""
        self._using.after_fork_in_parent()

    def after_fork(self) -> None:
        """In the child: start empty. What the parent has yet to store is stored by the parent."""
        if self._process != os.getpid():
            self._writer.abandon()
            forked_within_a_write = self._using.is_held_by_another
            self._begin()
            self._writer.forked_within_a_write = forked_within_a_write

    def health(self) -> StoreHealth:
        """The state of this moment."""
        return self._health.copy()

    def _return_from_memory(self) -> None:
        if not self._fallback.occupied:
            return
        self._store(self._fallback.memory.batches(), self._fallback.put_back)
        self._fallback.leave()
