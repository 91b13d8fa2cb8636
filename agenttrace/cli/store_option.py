"""The option ``--store``: which store a command reads or writes."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any, TypeVar

import click

from agenttrace.core.errors import StoreError
from agenttrace.core.protocols import Store
from agenttrace.store import SQLiteStore, open_store

F = TypeVar("F", bound=Callable[..., Any])


def store_option(command: F) -> F:
    """Add the option ``--store`` to a command."""
    return click.option(
        "--store",
        metavar="PATH",
        help="The store's file, or sqlite:///file. [default: AGENTTRACE_STORE, else ./.agenttrace/traces.db]",
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


def place(store: Store) -> str:
    """Return the text that stands for a store in messages: its path, and if no file exists there yet."""
    if not isinstance(store, SQLiteStore):
        return "the store in memory"
    return store.path if os.path.lexists(store.path) else f"{store.path}, which is not there yet"
