"""The option ``--store``: which store a command reads or writes."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any, TypeVar

import click

from agenttrace.cli.main import own_command
from agenttrace.core.errors import ConfigError, StoreError
from agenttrace.core.protocols import Store
from agenttrace.core.trace import Trace
from agenttrace.store import MemoryStore, SQLiteStore, open_store

F = TypeVar("F", bound=Callable[..., Any])


def store_option(command: F) -> F:
    """Add the option ``--store`` to a command."""
    return click.option(
        "--store",
        metavar="PATH",
        help="The store's file, sqlite:///file, postgresql://host/database, https://host of a "
        "service or, to read, clickhouse://host/database. [default: AGENTTRACE_STORE, "
        "else ./.agenttrace/traces.db]",
    )(command)


def store_to_read(path: str | None) -> Store:
    """Open the store that ``--store`` names, or else the default one, which need not exist yet.

    Raises:
        ConfigError: the option cannot name a store.
        StoreError: there is no file at the path.
    """
    store = open_store(path)
    if path is not None and isinstance(store, SQLiteStore) and not os.path.lexists(store.path):
        raise StoreError(f"there is no store at {store.path}; give --store the path of a file that is there")
    return store


def shared_store(where: str | None) -> Store:
    """Return the store that ``--store`` names, which other processes may use, too; it need not be there yet.

    Raises:
        ConfigError: it is one in memory.
    """
    store = open_store(where)
    if isinstance(store, MemoryStore):
        raise ConfigError("a store in memory can only be seen by its own process; give --store a file")
    return store


def trace_named(store: Store, prefix: str) -> Trace:
    """Return the stored trace whose id begins so.

    Raises:
        StoreError: there is none, several begin so, or the store cannot be read.
    """
    trace = store.trace(prefix)
    if trace is None:
        raise StoreError(
            f"no trace begins with {prefix!r} in {place(store)}; see: {own_command()} traces list"
        )
    return trace


def place(store: Store) -> str:
    """Return the text that stands for a store in messages: where it is, and if no file exists there yet."""
    address = getattr(store, "address", None)
    if isinstance(address, str):
        return address
    if not isinstance(store, SQLiteStore):
        return "the store in memory"
    return store.path if os.path.lexists(store.path) else f"{store.path}, which is not there yet"
