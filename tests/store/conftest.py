"""Lets the tests of this room import their makers of values, and gives them stores."""

import sys
import threading
from pathlib import Path

import pytest

from agenttrace.service import Service
from agenttrace.service.tokens import OneToken
from agenttrace.store import MemoryStore, SQLiteStore, open_store
from agenttrace.viewer.serving import guard_of, listen

sys.path.insert(0, str(Path(__file__).parent))


@pytest.fixture
def path(tmp_path):
    return str(tmp_path / "traces.db")


@pytest.fixture
def sqlite_store(path):
    store = SQLiteStore(path, busy_timeout=0.2)
    yield store
    store.close()


TOKEN = "a-token-for-the-pages"


@pytest.fixture
def service_address(path):
    """A service over a store in a file, in a thread of its own."""
    behind = open_store(path)
    listener = listen("127.0.0.1", 0)
    port = listener.getsockname()[1]
    service = Service(behind, guard_of("127.0.0.1", port, TOKEN), OneToken(TOKEN))
    thread = threading.Thread(target=service.run, args=(listener,), daemon=True)
    thread.start()
    yield f"http://127.0.0.1:{port}"
    service.server.should_exit = True
    thread.join(30)
    listener.close()
    behind.close()


@pytest.fixture(params=["sqlite", "memory", "postgres", "remote"])
def store(request, path):
    if request.param == "postgres":
        store = open_store(request.getfixturevalue("postgres_address"))
    elif request.param == "remote":
        store = open_store(request.getfixturevalue("service_address"), token=TOKEN)
    else:
        store = MemoryStore() if request.param == "memory" else SQLiteStore(path)
    yield store
    store.close()
