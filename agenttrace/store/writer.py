"""Write transactions on a store's file, whatever happens to that file: busy, damaged, replaced, deleted."""

from __future__ import annotations

import atexit
import os
import sqlite3
import time
from collections.abc import Callable
from contextlib import suppress
from typing import TypeVar

from agenttrace.core.errors import ExportError, StoreError
from agenttrace.store import descriptors, files, log_owner, migrations, span_table
from agenttrace.store.connection import (
    ERRORS_OF_VALUES,
    Emptied,
    Replaced,
    cut_log,
    open_for_writing,
    trouble_of,
    writable_state,
)
from agenttrace.store.function_ids import FunctionIds
from agenttrace.store.health import StoreHealth
from agenttrace.store.lock import FileLock

_LOG = files.SUFFIXES[1]
T = TypeVar("T")
Action = Callable[[sqlite3.Connection, FunctionIds], T]

_CLOSE_TIMEOUT = 0.5
_FORKED = (
    "; this process was forked while its parent wrote, and SQLite takes the parent's lock for its own: "
    "fork before the parent records much, or start it with multiprocessing's spawn"
)
_SLICE_SECONDS = 0.05
_LEAST_ROWS = 1_000

_NO_LOCKS = "its file system has no locks; give the store a path on a local disk"


class Unavailable(Exception):
    """The file cannot be written now, for a reason that waiting a moment does not mend."""


class Writer:
    """Runs actions as transactions on a file, whatever happens to that file.

    A damaged file is moved aside and a new one begun; one that was deleted or renamed away is noticed
    before each transaction. Not safe for use by two threads at once: the store holds a lock around it.
    """

    def __init__(self, path: str, timeout: float, health: StoreHealth) -> None:
        self.path = path
        self.timeout = timeout
        self._health = health
        self._lock = FileLock(path)
        self._functions = FunctionIds()
        self._db: sqlite3.Connection | None = None
        self._file: files.Identity | None = None
        self._log: files.Identity | None = None
        self._descriptors: descriptors.Descriptors = {}
        self._group: log_owner.DatabaseFiles | None = None  # None once others may get its numbers
        self._steps = 0
        self._timeout_set = 0.0
        self._old_rows = 0
        self._stored_here = 0
        self._stored_in_replaced_file: int | None = None
        self.forked_within_a_write = False

    def write(self, action: Action[T], spans: int = 0) -> T:
        """Run an action in a transaction of its own; `spans` is how many it stores.

        Raises:
            ExportError: another process held the file for longer than the timeout.
            Unavailable: the file cannot be written; the cause is the message.
            Exception: what the action raised for reasons that are not the file's.
        """
        for last in (False, False, True):
            try:
                value = self._locked(action)
            except sqlite3.Error as error:
                if not isinstance(error, sqlite3.DatabaseError) or error.__class__ in ERRORS_OF_VALUES:
                    raise
                self._functions.forget()
                trouble = trouble_of(error)
                if trouble == "busy":
                    if self._lock.is_refused():
                        raise Unavailable(_NO_LOCKS) from error
                    self._health.busy += 1
                    hint = _FORKED if self.forked_within_a_write else ""
                    raise ExportError(f"{self.path} is locked by another process: {error}{hint}") from error
                if last or trouble == "unavailable":
                    self._release()
                    raise Unavailable(f"{error}") from error
                if trouble == "damaged":
                    self._move_aside(error)
                else:
                    self._release()
            except (OSError, StoreError) as error:
                self._release()
                raise Unavailable(f"{error}") from error
            else:
                self._stored_here += spans
                return value
        raise AssertionError("the last attempt returns or raises")

    def _locked(self, action: Action[T]) -> T:
        self._notice_closed_descriptors()
        self._notice_a_lost_file()  # before the lock, whose directory may be gone as well
        if self._db is None:
            files.refuse_links(self.path)
            # Checked before our lock lies beside the file, which would make it look like a store.
            log_owner.refuse_foreign_file(self.path, self._lock, self._group)
            files.make_directory(self.path)
        if not self._lock.acquire(self.timeout):
            self._health.busy += 1
            raise ExportError(f"{self.path} has been in use by other processes for {self.timeout} s")
        try:
            self._notice_a_lost_file()  # while we waited
            self._notice_an_emptied_file()
            self._notice_a_removed_log()
            self._notice_an_emptied_log()
            if self._db is None:
                self._open()
            assert self._db is not None
            value = self._transaction(self._db, action)
            if self._notice_an_emptied_log():  # what was written now is gone as well
                self._open()
                value = self._transaction(self._db, action)
            return value
        finally:
            self._lock.release()

    def _open(self) -> None:
        files.create_private(self.path)
        file = self._file = files.identity(self.path)  # known also where opening it fails
        if file is None:
            raise Replaced(f"{self.path} was deleted while it was opened")
        if descriptors.are_lost(file):
            raise Unavailable(descriptors.CLOSED)
        log_owner.move_orphans(self.path, self._lock, self._group)

        def note() -> None:  # the log that lies there now is this file's: only who holds the lock moves one
            self._group = log_owner.current_files(self.path, file)
            log_owner.note_files(self._lock, self._group)

        before = descriptors.all_descriptors()
        self._db = open_for_writing(self.path, self.timeout, file, before_writing=note)
        self._descriptors = descriptors.opened_since(before, self.path)
        self._steps = migrations.count_steps(self._db)
        self._timeout_set = self.timeout
        self._old_rows = _LEAST_ROWS  # until the first slice says that there are none
        self._functions = FunctionIds()
        self._stored_here = 0
        self._warn_if_replaced()

    def _warn_if_replaced(self) -> None:
        spans, self._stored_in_replaced_file = self._stored_in_replaced_file, None
        if spans is not None:
            self._health.warn_once(
                "replaced",
                "another file was put in the place of the trace store %s while it was in use; traces go on "
                "into that one (%d spans of this process were in the old one)",
                self.path,
                spans,
            )

    def _transaction(self, db: sqlite3.Connection, action: Action[T]) -> T:
        if self._timeout_set != self.timeout:
            db.execute(f"PRAGMA busy_timeout = {int(self.timeout * 1000)}")
            self._timeout_set = self.timeout
        value = self._run(db, action)
        if self._log is None:
            self._log = files.identity(self.path + _LOG)
        try:
            cut_log(db, self.path, self.timeout)
            if self._old_rows:
                self._move_old_rows(db)
        except (
            sqlite3.OperationalError,
            OSError,
        ):  # the action is done; the next one meets a full disk itself
            pass
        return value

    def _run(self, db: sqlite3.Connection, action: Action[T]) -> T:
        db.execute("BEGIN IMMEDIATE")
        try:
            self._refuse_a_newer_schema(db)
            value = action(db, self._functions)
            db.execute("COMMIT")
        except BaseException:
            self._functions.forget()
            if db.in_transaction:
                db.execute("ROLLBACK")
            raise
        return value

    def _move_old_rows(self, db: sqlite3.Connection) -> None:
        """Move a slice of what an older version stored, in a transaction of its own.

        After each write, for about as long as a writer may wait without anybody noticing: so a large file is
        moved while all its processes go on, and none of them waits for it.
        """
        began = time.monotonic()
        more = self._run(db, lambda db, _: span_table.move_old_rows(db, self._old_rows))
        seconds = time.monotonic() - began
        if not more:
            self._old_rows = 0
        elif seconds > _SLICE_SECONDS:
            self._old_rows = max(self._old_rows // 2, _LEAST_ROWS)
        elif seconds < _SLICE_SECONDS / 2:
            self._old_rows *= 2

    def _refuse_a_newer_schema(self, db: sqlite3.Connection) -> None:
        """Notice that a newer version has migrated the file while it was open here."""
        steps = migrations.count_steps(db)
        if steps != self._steps:
            writable_state(db, self.path)
            self._steps = steps

    def _notice_closed_descriptors(self) -> None:
        """Let go of a connection whose descriptors the program has closed, without touching it: also to close
        it would write into what has their numbers now."""
        if self._db is not None and not descriptors.are_open(self._descriptors):
            descriptors.give_up(self._file)
            descriptors.keep_for_good(
                self._leave()
            )  # now: what is registered while the process ends is not called

    def _notice_a_lost_file(self) -> None:
        if self._db is None:
            return
        file = files.identity(self.path)
        if file == self._file:
            return
        self._health.reopened += 1
        self._health.lost += self._stored_here
        if file is None:
            self._health.warn_once(
                "moved",
                "the trace store %s was deleted or renamed while in use; a new one is begun "
                "(%d spans of this process were in the old one)",
                self.path,
                self._stored_here,
            )
        else:  # the warning waits until that file proves to be a store: any other has a warning of its own
            self._stored_in_replaced_file = self._stored_here
        self._close()  # without the lock: of a file that is gone, SQLite leaves the log where it is

    def _notice_an_emptied_file(self) -> None:
        """Refuse to go on in a file that was cut to nothing, as by ``> traces.db``.

        Raises:
            Emptied: it was; what this process stored there is counted as lost.
        """
        if self._db is not None and files.is_empty(self.path):
            self._health.reopened += 1
            self._health.lost += self._stored_here
            self._stored_here = 0
            raise Emptied("it was emptied while in use")

    def _notice_a_removed_log(self) -> None:
        """Close a connection whose log another process has removed, under the lock.

        By POSIX a process loses all its locks on a file when it closes any descriptor of it, as where the
        program itself copies the store. Then the next process to end takes itself for the last one: its
        SQLite folds the log into the file, with all that was written here, and removes it. What this
        connection wrote from then on would be lost, or lie over what others wrote. Closed now, it writes
        nothing that is not in the file yet. It may take a log that others have begun for its own, and
        remove that by its name, so this is kept under another one meanwhile.
        """
        if self._db is None or self._log is None or files.identity(self.path + _LOG) == self._log:
            return
        self._health.reopened += 1
        with files.kept_under_another_name(self.path + _LOG):
            with suppress(
                sqlite3.Error
            ):  # somebody may have removed it by hand: then it is not in the file yet
                self._db.execute("PRAGMA wal_checkpoint(PASSIVE)").fetchall()
            self._close()

    def _notice_an_emptied_log(self) -> bool:
        """Close a connection whose log was cut to nothing, as by ``> traces.db-wal``, under the lock.

        What had not been folded into the file is gone, and counted as lost. SQLite would fold what stands
        behind the gap, and zeros for the gap, into the file when the last connection closes: of a log of no
        bytes it folds nothing, and the file is as sound as it was.
        """
        if self._db is None or not files.is_emptied_log(self.path + _LOG):
            return False
        self._health.reopened += 1
        self._health.lost += self._stored_here
        self._health.warn_once(
            "log emptied",
            "the log %s of the trace store was emptied while in use; what was only there is lost "
            "(up to %d spans of this process)",
            self.path + _LOG,
            self._stored_here,
        )
        os.truncate(self.path + _LOG, 0)
        self._close()
        return True

    def _move_aside(self, error: Exception) -> None:
        damaged_file = self._file
        self._release()
        if not self._lock.acquire(self.timeout):
            raise ExportError(f"{self.path} is damaged and in use by other processes") from error
        try:
            if files.identity(self.path) != damaged_file:
                return  # another process was quicker, and what stands there now is sound
            new_path = files.move_aside(self.path, "corrupt")
        except OSError as refused:
            raise Unavailable(f"{self.path} is damaged and cannot be moved: {refused}") from error
        finally:
            self._lock.release()
        if new_path is not None:
            self._health.moved_aside.append(new_path)
        self._health.warn_once(
            "damaged",
            "the trace store %s could not be used (%s); it is kept as %s and a new one is begun",
            self.path,
            error,
            new_path,
        )

    def verify(self) -> None:
        """Check now, as the next write would, whether the file was deleted, replaced or emptied."""
        self._notice_closed_descriptors()
        try:
            self._notice_a_lost_file()
            self._notice_an_emptied_file()
        except Emptied as error:
            with suppress(ExportError, Unavailable):  # the next write says so
                self._move_aside(error)
        except OSError:  # a directory that may no longer be read: the next write says so
            pass

    def _release(self) -> None:
        """Close the connection, while no other process of ours opens what stands at the path.

        The last to close a database folds the log into it and deletes the log by its name, which by then
        could be the log of another file, put there and opened in the meantime.
        """
        if self._db is None:
            return
        has_lock = self._lock_briefly()
        try:
            if has_lock:
                self._notice_a_removed_log()
            self._close()
            self._group = None
            if has_lock and not os.path.lexists(self.path + "-wal"):
                log_owner.note_files(self._lock, None)
        except OSError:  # the note stays: the files that it names no longer exist
            pass
        finally:
            if has_lock:
                self._lock.release()

    def _lock_briefly(self) -> bool:
        try:
            return self._lock.acquire(min(self.timeout, _CLOSE_TIMEOUT))
        except OSError:
            return False

    def _close(self) -> None:
        self._notice_closed_descriptors()
        db, self._db = self._db, None
        self._file = self._log = None
        if db is not None:
            try:
                db.close()
            except sqlite3.Error:  # a file that is broken or gone need not close well
                pass

    def close(self) -> None:
        """Let go of the file. The next write opens it again."""
        self.verify()
        self._release()

    def abandon(self) -> None:
        """In a forked child that inherited the connection: let go without touching it.

        Closing it, even at the interpreter's end, would roll back the parent's transaction in the memory
        that both share. So the reference is kept until the end and then kept for good.
        """
        self._lock.forget()
        connection = self._leave()
        if connection is not None:
            atexit.register(descriptors.keep_for_good, connection)

    def _leave(self) -> sqlite3.Connection | None:
        connection, self._db = self._db, None
        self._file = self._log = None
        self._descriptors = {}
        return connection
