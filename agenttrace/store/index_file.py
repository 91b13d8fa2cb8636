"""The side index of a store: a disposable file beside it that readers keep up to date, or memory instead."""

from __future__ import annotations

import os
import secrets
import sqlite3
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from typing import TypeVar

from agenttrace.core.errors import QueryError, StoreError
from agenttrace.core.trace_reads import IndexState
from agenttrace.store import files
from agenttrace.store.connection import open_for_reading
from agenttrace.store.index_connection import SECONDS_TO_WAIT, IndexTrouble, connect
from agenttrace.store.index_fields import FieldsFill, are_known, state_of_fields
from agenttrace.store.index_fill import Fill
from agenttrace.store.index_owner import APPLICATION_ID, NotOurs, content_of, refuse_others
from agenttrace.store.index_source import IndexSource, NeedsRebuilding, StoreRows
from agenttrace.store.index_tables import TABLES, about, note
from agenttrace.store.lock import FileLock

T = TypeVar("T")

VERSION = 5
"""Another version's index is made anew."""

SECONDS_TO_ANSWER = 2.0
_STEPS = 10_000

Answer = Callable[[sqlite3.Connection], T]
Progress = Callable[[IndexState], None]


class SideIndex:
    """Answers from the index of a store, after bringing it up to date.

    Its file lies where the source says, and holds nothing that the store does not hold: it may be deleted at
    any time. It is made anew where it is damaged, of another version or of
    another store. Where it cannot be written, memory takes its place for as long as this object lives.
    Connections live as long as an answer; any number of threads and processes may read and fill it at once.
    `is_behind` says whether there was more to take over when it was last brought up to date, and
    `fields_asked_for` whether an answer has needed the values of fields.
    """

    def __init__(self, source: IndexSource) -> None:
        self._source = source
        self.path = source.index_path
        self._lock = threading.RLock()
        self._memory: sqlite3.Connection | None = None
        self._process = os.getpid()
        self.is_behind = False
        self.fields_asked_for = False

    def answer(
        self, answer: Answer[T], nothing: T, *, fill_seconds: float | None = None, fields: bool = False
    ) -> T:
        """Bring the index up to date and ask it; `nothing` where there is no store.

        With `fill_seconds`, the answer is of what the index knows after so long. `fields` says that it needs
        the values of fields.

        Raises:
            QueryError: the answer itself takes longer than two seconds.
            StoreError: the store cannot be read, or another process fills the index for too long.
        """
        self.fields_asked_for |= fields
        for last in (False, True):
            if not self._source.is_there():
                return nothing
            self.refresh(fill_seconds, fields=fields)
            try:
                with self._reading() as db:
                    return nothing if db is None else _asked(db, answer)
            except (sqlite3.DatabaseError, IndexTrouble) as error:
                if last:
                    raise StoreError(f"the index {self.path} cannot be read: {error}") from error
                self._discard()
        raise AssertionError("the last attempt returns or raises")

    def refresh(
        self, seconds: float | None = None, progress: Progress = lambda _: None, *, fields: bool = False
    ) -> IndexState:
        """Bring the index up to date, for about so many seconds at most; says how far it has come.

        What finds values of fields is left as it is, but where `fields` are asked for.

        Raises:
            StoreError: as `answer`.
        """
        state = self._refreshed(seconds, progress, fields)
        self.is_behind = not state.is_ready
        return state

    def _refreshed(self, seconds: float | None, progress: Progress, fields: bool) -> IndexState:
        self._after_fork()
        stamp, is_settled = self._source.stamp()
        if not self._source.is_there() or self._is_current(stamp, fields):
            return _COMPLETE
        if not self._lock.acquire(timeout=-1 if seconds is None else seconds):
            return self._state(fields)
        try:
            filling = _Filling(self._source, stamp if is_settled else None, fields)
            filling.deadline = None if seconds is None else time.monotonic() + seconds
            filling.progress = progress
            if self._in_memory():
                return filling.fill(self._memory_database())
            try:
                return self._refresh_file(filling)
            except (OSError, NotOurs):
                return filling.fill(self._memory_database())
            except IndexTrouble as trouble:
                if trouble.kind == "busy":
                    raise StoreError(f"the index {self.path} is in use; try again in a moment") from trouble
                return filling.fill(self._memory_database())
        finally:
            self._lock.release()

    def _refresh_file(self, filling: _Filling) -> IndexState:
        self._source.get_ready()
        lock = FileLock(self.path)
        patience = SECONDS_TO_WAIT if filling.deadline is None else filling.deadline - time.monotonic()
        if not lock.acquire(max(patience, 0)):
            if filling.deadline is not None:
                return self._state(filling.fields)
            raise StoreError(f"another process brings {self.path} up to date; try again in a moment")
        try:
            for last in (False, True):
                try:
                    with closing(self._open_file()) as db:
                        return filling.fill(db)
                except IndexTrouble as trouble:
                    if last or trouble.kind != "damaged":
                        raise
                    self._remove_files()
            raise AssertionError("the last attempt returns or raises")
        finally:
            lock.release()

    def _open_file(self) -> sqlite3.Connection:
        """Open the file for writing, made anew where it is not this store's or not of this version."""
        refuse_others(self.path, self._source.owned_as)
        if content_of(self.path) == "text":
            self._remove_files()
        if not os.path.lexists(self.path):
            files.create_private(self.path)
        is_ours = content_of(self.path) == "ours"
        db = connect(self.path)
        try:
            try:
                (tables,) = db.execute("SELECT count(*) FROM sqlite_master").fetchone()
            except IndexTrouble as trouble:
                if trouble.kind == "damaged" and not is_ours:
                    raise NotOurs from None
                raise
            if tables and not is_ours:
                raise NotOurs
            if not tables:
                db.execute(f"PRAGMA application_id = {APPLICATION_ID}")
            db.execute("PRAGMA journal_mode = WAL").fetchone()
            db.execute("PRAGMA synchronous = NORMAL")
            db.execute("PRAGMA wal_autocheckpoint = 4000")
        except BaseException:
            db.close()
            raise
        return db

    def _is_current(self, stamp: str, fields: bool) -> bool:
        try:
            with self._reading() as db:
                if db is None or about(db, "version") != VERSION or about(db, "stamp") != stamp:
                    return False
                return not fields or are_known(db)
        except (sqlite3.DatabaseError, IndexTrouble):
            return False

    def _state(self, fields: bool) -> IndexState:
        try:
            with self._reading() as db:
                return IndexState(0, 1) if db is None else _state_of(db, fields)
        except (sqlite3.DatabaseError, IndexTrouble):
            return IndexState(0, 1)

    @contextmanager
    def _reading(self) -> Iterator[sqlite3.Connection | None]:
        """The database for one read; None where there is none yet."""
        if self._in_memory():
            with self._lock:
                yield self._memory
        elif not files.is_plain(self.path):
            yield None
        else:
            with closing(open_for_reading(self.path, SECONDS_TO_WAIT)) as db:
                db.execute("BEGIN")
                yield db if _is_begun(db) else None

    def _discard(self) -> None:
        """Remove an index that cannot be read; the next answer makes it anew."""
        with self._lock:
            if self._in_memory():
                self._memory = None
                return
            lock = FileLock(self.path)
            if lock.acquire(SECONDS_TO_WAIT):
                try:
                    self._remove_files()
                finally:
                    lock.release()

    def _remove_files(self) -> None:
        content = content_of(self.path)
        if content == "text":  # perhaps ours, damaged; perhaps somebody's notes
            files.move_aside(self.path, "replaced")
        if content in ("text", "another's"):
            return
        for suffix in files.SUFFIXES:
            try:
                os.unlink(self.path + suffix)
            except FileNotFoundError:
                pass

    def _in_memory(self) -> bool:
        return self._memory is not None

    def _after_fork(self) -> None:
        """In a forked child: let go of what a thread of the parent may hold, and of the parent's memory."""
        if self._process != os.getpid():
            self._process = os.getpid()
            self._lock = threading.RLock()
            self._memory = None

    def _memory_database(self) -> sqlite3.Connection:
        if self._memory is None:
            self._memory = connect(":memory:")
        return self._memory


class _Filling:
    """Takes over all that is new in the store, for as long as there is time."""

    def __init__(self, source: IndexSource, stamp: str | None, fields: bool) -> None:
        self._source = source
        self._stamp = stamp
        self.fields = fields
        self.deadline: float | None = None
        self.progress: Progress = lambda _: None

    def fill(self, db: sqlite3.Connection) -> IndexState:
        """Fill an index that is open for writing, each slice in a transaction of its own."""
        fill: Fill | None = None

        def take_over(store: StoreRows) -> bool:
            nonlocal fill
            fill = fill or self._prepared(db, store)
            more = fill.fill_slice(store)
            note(db, stamp=None if more else self._stamp)
            return more

        is_filled = False
        while not is_filled:
            try:
                is_filled = self._take_slices(db, take_over)
            except NeedsRebuilding:
                note(db, version=None)
                fill = None
                continue
            if not is_filled:
                state = _state_of(db, fields=False)
                return IndexState(state.done, max(state.total, state.done + 1))
        if self.fields and not are_known(db) and not self._take_slices(db, FieldsFill(db).fill_slice):
            return _state_of(db, fields=True)
        return _COMPLETE

    def _take_slices(self, db: sqlite3.Connection, take_over: Callable[[StoreRows], bool]) -> bool:
        """Take over slices until there are no more; returns False where the time is over before."""
        while True:
            db.execute("BEGIN IMMEDIATE")
            try:
                more = self._source.read(take_over)
                db.execute("COMMIT")
            except BaseException:
                if db.in_transaction:
                    db.execute("ROLLBACK")
                raise
            if not more:
                return True
            self.progress(_state_of(db, self.fields))
            if self.deadline is not None and time.monotonic() >= self.deadline:
                return False

    def _prepared(self, db: sqlite3.Connection, store: StoreRows) -> Fill:
        """What fills the index, which is made anew where it is not this store's or this version's."""
        identity = store.identity()
        tables = {name for (name,) in db.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
        is_same = "about" in tables and about(db, "version") == VERSION and about(db, "store") == identity
        if not is_same:
            db.execute("PRAGMA secure_delete = ON")  # something may have been redacted since
            for name in tables:
                if not name.startswith("words_"):  # those go with the table `words`
                    db.execute(f'DROP TABLE "{name}"')
            for statement in TABLES:
                db.execute(statement)
            note(db, version=VERSION, store=identity, salt=secrets.token_bytes(16), words=0)
        fill = Fill(db)
        if not is_same:
            fill.begin(store)
        return fill


def _asked(db: sqlite3.Connection, answer: Answer[T]) -> T:
    seconds = SECONDS_TO_ANSWER
    deadline = time.monotonic() + seconds
    db.set_progress_handler(lambda: time.monotonic() > deadline, _STEPS)
    try:
        return answer(db)
    except sqlite3.OperationalError as error:
        if time.monotonic() <= deadline:  # SQLite says of an interruption in several ways what it interrupted
            raise
        raise QueryError(
            f"the query takes longer than {seconds:g} s; narrow it, for example with since:2d"
        ) from error
    finally:
        db.set_progress_handler(None, 0)


def _is_begun(db: sqlite3.Connection) -> bool:
    """Whether there is something to read: while another thread or process begins an index, there is not."""
    tables = "SELECT count(*) FROM sqlite_master WHERE name IN ('about', 'traces')"
    return db.execute(tables).fetchone() == (2,) and about(db, "version") in (VERSION, None)


def _state_of(db: sqlite3.Connection, fields: bool) -> IndexState:
    if fields and (about(db, "built_from") or 2) <= 1:
        return state_of_fields(db)
    (done,) = db.execute("SELECT count(*) FROM traces").fetchone()
    total = about(db, "traces") or 0
    return IndexState(done, max(total, done + ((about(db, "built_from") or 2) > 1)))


_COMPLETE = IndexState(1, 1)
