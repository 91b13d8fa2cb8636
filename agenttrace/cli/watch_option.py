"""The store of a command that needs what is kept for those who watch production."""

from __future__ import annotations

from agenttrace.cli.store_option import store_to_read
from agenttrace.core.errors import StoreError
from agenttrace.core.protocols import KeepsWatch, Store, optional


def watched_store(path: str | None) -> tuple[Store, KeepsWatch]:
    """Open the store that ``--store`` names, twice the same: as a store, and as what keeps watch.

    Raises:
        ConfigError: the option cannot name a store.
        StoreError: there is no file at the path, or the store keeps no failures.
    """
    store = store_to_read(path)
    watch = optional(store, KeepsWatch)
    if watch is None:
        raise StoreError(f"{type(store).__name__} keeps no failures, annotations or counts")
    return store, watch
