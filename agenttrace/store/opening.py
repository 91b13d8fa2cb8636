"""Which store a setting means."""

from __future__ import annotations

import os
from pathlib import Path

from agenttrace.core.errors import ConfigError
from agenttrace.core.protocols import Store
from agenttrace.store.memory import MemoryStore
from agenttrace.store.sqlite import SQLiteStore

ENVIRONMENT = "AGENTTRACE_STORE"
DEFAULT_PATH = "./.agenttrace/traces.db"
MEMORY = "memory"


def open_store(where: str | Path | None = None) -> Store:
    """The store for a path, for ``"memory"``, or for None: what ``AGENTTRACE_STORE`` says, else the default.

    No file is opened or made before the store is used.

    Raises:
        ConfigError: the path is empty, an address, or a directory.
    """
    if where is None:
        where = os.environ.get(ENVIRONMENT) or DEFAULT_PATH
    if where == MEMORY:
        return MemoryStore()
    text = os.fspath(where)
    if not text.strip() or "\0" in text:
        raise ConfigError(f"a store is the path of a file or {MEMORY!r}, got {text!r}")
    if "://" in text:
        raise ConfigError(f"a store is the path of a local file or {MEMORY!r}, got the address {text!r}")
    path = Path(text).expanduser()
    if path.is_dir():
        raise ConfigError(f"{text} is a directory; give the path of a file in it, as {path / 'traces.db'}")
    return SQLiteStore(path)
