"""Opens a store's file with SQLite: for writing, for one read; what an error of SQLite's means."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Callable
from typing import Literal, TypeVar
from urllib.parse import quote

from agenttrace.core.errors import StoreError
from agenttrace.store import descriptors, files, log_owner, migrations, span_table
from agenttrace.store.lock import FileLock

CHECKPOINT_PAGES = 2_000
"""The log is folded into the database each time it has grown by this many pages (8 MB)."""

LARGEST_LOG = 32 * 1024 * 1024
"""A log beyond this (a reader has pinned it) is cut back as soon as the reader lets go."""

FileTrouble = Literal["busy", "damaged", "moved", "unavailable"]

_CODES: dict[int, FileTrouble] = {
    sqlite3.SQLITE_BUSY: "busy",
    sqlite3.SQLITE_LOCKED: "busy",
    sqlite3.SQLITE_CORRUPT: "damaged",
    sqlite3.SQLITE_NOTADB: "damaged",
}
ERRORS_OF_VALUES = frozenset(
    {sqlite3.DataError, sqlite3.IntegrityError, sqlite3.ProgrammingError, sqlite3.NotSupportedError}
)
"""What SQLite raises of a value or a statement, not of the file."""
_SCHEMA_BROKEN = ("no such table", "no such column")
_MOVED = 1032  # SQLITE_READONLY_DBMOVED


class NewerSchema(sqlite3.DatabaseError):
    """The file was written by a newer version of agenttrace, and must not be written by this one."""


class Replaced(sqlite3.DatabaseError):
    """Another file was put in the place of the one that was to be opened."""


class Emptied(sqlite3.DatabaseError):
    """The file was cut to nothing while it was open; SQLite goes on in a log that its readers remove."""


def trouble_of(error: Exception) -> FileTrouble:
    """What an error of SQLite's means for the store.

    *unavailable*: the disk is full or broken, the file is forbidden, missing, or of a newer version.
    """
    if isinstance(error, Replaced):
        return "moved"
    if isinstance(error, Emptied):
        return "damaged"
    code = getattr(error, "sqlite_errorcode", None)
    if code == _MOVED:
        return "moved"
    if code is None:
        return "unavailable"
    if code == sqlite3.SQLITE_ERROR and str(error).startswith(_SCHEMA_BROKEN):
        return "damaged"
    return _CODES.get(code & 0xFF, "unavailable")


def open_for_writing(
    path: str,
    timeout: float,
    expected: files.Identity | None = None,
    before_writing: Callable[[], None] = lambda: None,
) -> sqlite3.Connection:
    """Open the database, making or migrating it where needed. The caller holds the file's lock.

    `expected` is the file that the caller has checked together with the files beside it. `before_writing` is
    called when the log exists and nothing has been written to it yet.

    Raises:
        Replaced: another file than the expected one stands there by now; its log has not been touched.
        sqlite3.DatabaseError: it cannot be opened, is damaged, or newer than this version (`NewerSchema`).
        StoreError: a link stands there, or another application's database.
        OSError: the file cannot be made.
    """
    files.refuse_links(path)
    files.create_private(path)
    files.close_to_others(path)
    # This opens the file itself, but the log beside it only with the first statement. A connection that had
    # read the log of another database would write it into this one when it is closed.
    db = sqlite3.connect(
        _uri(path, "rw"), uri=True, timeout=timeout, isolation_level=None, check_same_thread=False
    )
    try:
        if expected is not None and files.identity(path) != expected:
            raise Replaced(f"another file was put in the place of {path}")
        state = writable_state(db, path)  # before anything is changed: the file may be somebody else's
        _begin_log(db)
        db.execute("PRAGMA synchronous = NORMAL")
        db.execute(f"PRAGMA wal_autocheckpoint = {CHECKPOINT_PAGES}")
        db.execute("PRAGMA cache_size = -16000")
        db.execute("SELECT 1 FROM sqlite_master LIMIT 1").fetchone()  # so that a log that is new exists
        before_writing()
        if state != "current":
            migrations.migrate(db)
    except BaseException:
        db.close()
        raise
    return db


def _begin_log(db: sqlite3.Connection) -> None:
    if db.execute("PRAGMA journal_mode").fetchone() != ("wal",):
        # A few bytes of one page are written. That needs no journal on disk: left there by a kill, it would
        # stop every reader, and be read into whatever file is put in this one's place.
        db.execute("PRAGMA journal_mode = MEMORY").fetchone()
        if db.execute("PRAGMA journal_mode = WAL").fetchone() != (
            "wal",
        ):  # a file system that cannot have it
            db.execute("PRAGMA journal_mode = DELETE").fetchone()


def writable_state(db: sqlite3.Connection, path: str) -> migrations.SchemaState:
    """The state of a schema that this version may write: *empty*, *older* or *current*.

    Raises:
        NewerSchema: it is newer than this version.
        StoreError: it is another application's.
    """
    state = migrations.state(db)
    if state == "foreign":
        raise StoreError(
            f"{path} is another application's database, which the store leaves alone; "
            "give the store a path of its own"
        )
    if state == "newer":
        raise NewerSchema(
            f"{path} was written by a newer version of agenttrace, which this one leaves alone; "
            "upgrade, or give the store another path"
        )
    return state


def open_for_reading(path: str, timeout: float) -> sqlite3.Connection:
    """Open the database for reading: the connection cannot change it, and closing runs no checkpoint.

    Raises:
        sqlite3.DatabaseError: it cannot be opened.
    """
    db = _connect_reader(_uri(path, "ro"), timeout)
    try:
        db.execute("SELECT 1 FROM sqlite_master LIMIT 1").fetchone()
    except sqlite3.OperationalError:
        db.close()
        if os.access(os.path.dirname(os.path.abspath(path)), os.W_OK):
            raise
        # A log cannot be opened where nothing can be created beside it: read the file as it lies there.
        db = _connect_reader(_uri(path, "ro") + "&immutable=1", timeout)
    except BaseException:
        db.close()
        raise
    return db


def _connect_reader(uri: str, timeout: float) -> sqlite3.Connection:
    db = sqlite3.connect(uri, uri=True, timeout=timeout, isolation_level=None, check_same_thread=False)
    db.text_factory = _text
    return db


def _text(raw: bytes) -> str:
    return raw.decode("utf-8", "replace")


def _uri(path: str, mode: str) -> str:
    return f"file:{quote(os.fsencode(os.path.abspath(path)))}?mode={mode}"


def cut_log(db: sqlite3.Connection, path: str, timeout: float) -> None:
    """Fold an overgrown log into the database and cut it to nothing, unless a reader is in the way.

    The caller holds the file's lock.
    """
    try:
        if os.stat(path + "-wal").st_size <= LARGEST_LOG:
            return
    except FileNotFoundError:
        return
    db.execute("PRAGMA busy_timeout = 0")
    try:
        db.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
    finally:
        db.execute(f"PRAGMA busy_timeout = {int(timeout * 1000)}")


T = TypeVar("T")


def read(path: str, timeout: float, query: Callable[[sqlite3.Connection], T], nothing: T) -> T:
    """Run a query in one read transaction, or return `nothing` where there is no file yet.

    The connection lives as long as the query: no reader of ours ever keeps the log from being folded into
    the database.

    Raises:
        StoreError: the file cannot be read; what it is and what to do is in the text.
    """
    for _ in range(_ATTEMPTS):
        file = _identity(path)
        if file is None:
            return nothing
        try:
            value = _read_once(path, timeout, query, nothing)
        except Exception:  # choke-point: a database read with the log of another may break anything
            if _identity(path) == file:
                raise
            continue
        if _identity(path) == file:
            return value
    raise StoreError(f"{path} cannot be read{_ADVICE['moved']}")


def _identity(path: str) -> files.Identity | None:
    try:
        return files.identity(path)
    except OSError:  # something on the way there is no directory, or may not be entered
        return None


def _read_once(path: str, timeout: float, query: Callable[[sqlite3.Connection], T], nothing: T) -> T:
    files.refuse_links(path)
    if descriptors.are_lost(_identity(path)):
        raise StoreError(f"{path} cannot be read: {descriptors.CLOSED}")
    state: migrations.SchemaState | None = None
    try:
        _check_files_beside(path, timeout)
        db = open_for_reading(path, timeout)
        try:
            db.execute("BEGIN")
            state = migrations.state(db)
            match state:
                case "empty":
                    return nothing
                case "foreign":
                    raise StoreError(f"{path} is another application's database, not a trace store")
                case "newer":
                    raise StoreError(
                        f"{path} was written by a newer version of agenttrace; upgrade to read it"
                    )
                case "older":
                    span_table.stand_in_for_reading(db)
                    migrations.make_tables_beside(db)
                case "current":
                    pass
            return query(db)
        finally:
            db.close()
    except OSError as error:
        raise StoreError(
            f"{path} cannot be read: {error.strerror or error}{_ADVICE['unavailable']}"
        ) from error
    except sqlite3.DatabaseError as error:
        trouble = trouble_of(error)
        if trouble == "damaged" and state == "older":
            raise StoreError(
                f"{path} was written by an older version of agenttrace and lacks what is asked for; "
                "the next write brings it up to date, and keeps what it holds"
            ) from error
        if getattr(error, "sqlite_errorcode", 0) & 0xFF == sqlite3.SQLITE_IOERR and _log_is_empty(path):
            raise StoreError(f"{path} cannot be read: {error}{_LOG_REMOVED}") from error
        raise StoreError(f"{path} cannot be read: {error}{_ADVICE[trouble]}") from error


def _log_is_empty(path: str) -> bool:
    """Whether there is no log, or the one that a reader has begun anew where it was removed."""
    try:
        return os.stat(path + "-wal").st_size == 0
    except FileNotFoundError:
        return True


_LOG_REMOVED = (
    "; its log FILE-wal was removed while it is in use: what is in it comes back when the processes that "
    "write there have ended"
)


def _check_files_beside(path: str, timeout: float) -> None:
    """Refuse a file of another kind; move aside a log that belongs to a file which this one replaced."""
    lock = FileLock(path)
    log_owner.refuse_foreign_file(path, lock)
    if not log_owner.orphan_suffixes(path, log_owner.noted_files(lock)):
        return
    if not lock.acquire(timeout):
        raise StoreError(f"{path} cannot be read{_ADVICE['busy']}")
    try:
        log_owner.move_orphans(path, lock)
    finally:
        lock.release()


_ATTEMPTS = 3

_ADVICE = {
    "busy": "; another process holds it, try again",
    "damaged": "; the next write moves it aside, and `sqlite3 FILE .recover` saves what is left",
    "moved": "; it was replaced while it was read, try again",
    "unavailable": "; check that the file and its directory may be read",
}
