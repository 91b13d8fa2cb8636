"""A tracer of its own for each test, which nothing outlives."""

import gc
import sys
from pathlib import Path

import pytest

from agenttrace.store import MemoryStore
from agenttrace.tracer import Tracer
from agenttrace.tracing import default_recorder as recorders
from agenttrace.tracing.context import current

sys.path.insert(0, str(Path(__file__).parent))


@pytest.fixture(autouse=True)
def nothing_is_left_running():
    """No test may leave a running call in this context, nor its tracer as the default."""
    default = list(recorders._default)
    recorders._default.clear()
    yield
    recorders._default[:] = default
    record, token = current.get(), current.set(None)
    assert record is None, (record, token)


@pytest.fixture
def without_collection():
    """No garbage is collected: where no stack is left its finalisers fail, and with them the next test."""
    gc.collect()
    gc.disable()
    yield
    gc.enable()


@pytest.fixture
def store():
    return MemoryStore()


@pytest.fixture
def tracer(store):
    tracer = Tracer("test", store=store)
    yield tracer
    tracer.shutdown()
