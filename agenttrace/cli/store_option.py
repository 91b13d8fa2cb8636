"""Which store a command reads or writes."""

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
    """Add ``--store``."""
    return click.option(
        "--store",
        metavar="PATH",
        help="The store's file, or sqlite:///file. [default: AGENTTRACE_STORE, else ./.agenttrace/traces.db]",
    )(command)


def store_to_read(given: str | None) -> Store:
    """The store that ``--store`` names, or the one of the settings, which need not be there yet.

    Raises:
        ConfigError: it names no file that could be a store.
        StoreError: nothing is at the path given.
    """
    store = open_store(given)
    if given is not None and isinstance(store, SQLiteStore) and not os.path.lexists(store.path):
        raise StoreError(f"there is no store at {store.path}; give --store the path of a file that is there")
    return store


def place(store: Store) -> str:
    """What messages call a store that holds nothing: where it is, and whether anything is there."""
    if not isinstance(store, SQLiteStore):
        return "the store in memory"
    return store.path if os.path.lexists(store.path) else f"{store.path}, which is not there yet"
