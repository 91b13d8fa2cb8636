"""Connections to the server: opened when needed, given up at trouble, and never carried over a fork."""

from __future__ import annotations

import os
import threading
import time
import uuid
from collections.abc import Callable
from functools import cache
from typing import Any, TypeVar

from agenttrace.core.errors import MissingDependency, StoreError
from agenttrace.store.postgres import schema
from agenttrace.store.postgres.address import Address

T = TypeVar("T")
Action = Callable[[Any], T]
"""Runs statements on a connection of the driver, in a transaction that is open."""

CONNECT_SECONDS = 5
STATEMENT_SECONDS = 30.0
"""How long a statement may take: a server that is stuck holds nobody up for longer."""
_LOCK_SECONDS = 10.0


def driver() -> Any:
    """The driver, psycopg 3.

    Raises:
        MissingDependency: it is not installed; the message names the extra.
    """
    try:
        import psycopg
    except ImportError as error:
        raise MissingDependency(
            "a store on PostgreSQL needs psycopg 3: pip install 'agenttrace-evals[postgres]'"
        ) from error
    return psycopg


class Away(Exception):
    """The server cannot be asked now. `is_sure` is False where a transaction may have been committed."""

    def __init__(self, text: str, *, is_sure: bool = True) -> None:
        super().__init__(text)
        self.is_sure = is_sure


class Connection:
    """One connection, for one thread at a time: opened when it is first needed, and anew after trouble."""

    def __init__(self, address: Address) -> None:
        self._address = address
        self._lock = threading.RLock()
        self._db: Any = None
        self._process = os.getpid()
        self.opened = 0
        """How often it was opened."""

    def write(self, action: Action[T], commit_id: uuid.UUID | None = None) -> T | None:
        """Run an action in a transaction; it is run once however often it is tried with the same `commit_id`.

        Returns None where the transaction of that id was committed before.

        Raises:
            Away: the server cannot be asked.
            Exception: what the action raises, or what the server says of its values.
        """

        def once(db: Any) -> T | None:
            if commit_id is not None:
                # Waits for the same transaction, where a server goes on with one whose client it lost.
                noted = db.execute("INSERT INTO commits VALUES (%s) ON CONFLICT DO NOTHING", (commit_id,))
                if not noted.rowcount:
                    return None
            return action(db)

        return self._run(once)

    def read(self, action: Action[T]) -> T:
        """Run an action that reads, in a transaction; once more where the connection was lost.

        Raises:
            StoreError: the server cannot be asked.
        """
        for last in (False, True):
            try:
                return self._run(action)
            except Away as error:
                if last:
                    raise StoreError(f"{self._address.shown} cannot be read: {error}") from error
        raise AssertionError("the last attempt returns or raises")

    def _run(self, action: Action[T]) -> T:
        if not self._lock.acquire(timeout=STATEMENT_SECONDS):
            raise Away("another thread waits for the server")
        is_committing = False
        try:
            errors = driver().errors
            try:
                db = self._opened()
                with db.transaction():
                    value = action(db)
                    is_committing = True
                return value
            except (driver().OperationalError, driver().InterfaceError) as error:
                self.close()
                raise Away(_text(error), is_sure=not is_committing) from error
            except (
                errors.InsufficientPrivilege,
                errors.ReadOnlySqlTransaction,
                errors.UndefinedTable,
            ) as error:
                self.close()
                raise Away(_text(error)) from error
        finally:
            self._lock.release()

    def _opened(self) -> Any:
        if self._process != os.getpid():
            self.abandon()
        if self._db is None or self._db.closed:
            self._db = _open(self._address)
            self.opened += 1
        return self._db

    def abandon(self) -> None:
        """In a forked child: leave the connection, which is the parent's, without a word to the server."""
        if self._db is not None:
            _LEFT_TO_PARENTS.append(self._db)
        self._db, self._lock, self._process = None, threading.RLock(), os.getpid()

    def close(self) -> None:
        """Close it; the next use opens another."""
        db, self._db = self._db, None
        if db is not None and self._process == os.getpid():
            try:
                db.close()
            except Exception:  # choke-point: a connection that is given up may be broken already
                pass


def _refusals(errors: Any) -> tuple[type[BaseException], ...]:
    """What the server says where it cannot be used now for reasons that no value has."""
    return errors.InsufficientPrivilege, errors.ReadOnlySqlTransaction, errors.UndefinedTable


_LEFT_TO_PARENTS: list[Any] = []
"""Inherited connections: collected as garbage they would say goodbye on the parent's line."""


@cache
def _bounded_connection() -> Any:
    """The driver's connection, which gives up waiting: a server that is frozen never answers, nor closes."""
    psycopg = driver()
    base: Any = psycopg.Connection

    class BoundedConnection(base):  # type: ignore[misc]  # of a driver that may be missing
        def wait(self, gen: Any, *arguments: Any, **options: Any) -> Any:
            return super().wait(bounded(gen), *arguments, **options)

    def bounded(gen: Any) -> Any:
        until = time.monotonic() + STATEMENT_SECONDS + 1
        try:
            wanted = next(gen)
            while True:
                ready = yield wanted
                if not ready and time.monotonic() > until:
                    raise psycopg.OperationalError(f"no answer within {STATEMENT_SECONDS:g} s")
                wanted = gen.send(ready)
        except StopIteration as end:
            return end.value

    return BoundedConnection


def _open(address: Address) -> Any:
    psycopg = driver()
    db = _bounded_connection().connect(
        address.dsn,
        autocommit=True,
        connect_timeout=CONNECT_SECONDS,
        application_name="agenttrace",
        prepare_threshold=3,
        keepalives_idle=10,
        keepalives_interval=5,
        keepalives_count=3,
        tcp_user_timeout=int(STATEMENT_SECONDS * 1000),
    )
    try:
        quoted = psycopg.sql.Identifier(address.schema).as_string(db)
        db.execute(f"SET statement_timeout = {int(STATEMENT_SECONDS * 1000)}")
        db.execute(f"SET lock_timeout = {int(_LOCK_SECONDS * 1000)}")
        db.execute("SET idle_in_transaction_session_timeout = 60000")
        db.execute("SET client_encoding = 'UTF8'")
        schema.prepare(db, address.schema, quoted)
        db.execute(f"SET search_path TO {quoted}")
    except BaseException:
        db.close()
        raise
    return db


def _text(error: BaseException) -> str:
    """The first line of what the driver says: it names hosts and users, no password."""
    return str(error).strip().partition("\n")[0] or type(error).__name__
