"""Lets the tests of this room import their makers of values, and gives them stores."""

import sys
from pathlib import Path

import pytest

from agenttrace.store import MemoryStore, SQLiteStore, open_store

sys.path.insert(0, str(Path(__file__).parent))


@pytest.fixture
def path(tmp_path):
    return str(tmp_path / "traces.db")


@pytest.fixture
def sqlite_store(path):
    store = SQLiteStore(path, busy_timeout=0.2)
    yield store
    store.close()


@pytest.fixture(params=["sqlite", "memory", "postgres"])
def store(request, path):
    if request.param == "postgres":
        store = open_store(request.getfixturevalue("postgres_address"))
    else:
        store = MemoryStore() if request.param == "memory" else SQLiteStore(path)
    yield store
    store.close()
