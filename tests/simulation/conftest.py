"""A tracer of its own for each test, and tools that must never really run."""

import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from agenttrace.store import MemoryStore
from agenttrace.tracer import Tracer
from agenttrace.tracing import default_recorder as recorders
from agenttrace.tracing import stand_in


def is_ours(wrapper):
    """Whether a module of this folder has it at its top: not another test, collected already or not."""
    module = sys.modules.get(getattr(wrapper, "__module__", ""))
    here = Path(getattr(module, "__file__", None) or "").parent == Path(__file__).parent
    return here and "<locals>" not in wrapper.__qualname__


@pytest.fixture
def tracer(monkeypatch):
    wrappers = {address: made for address, made in stand_in._wrappers.items() if is_ours(made())}
    monkeypatch.setattr(stand_in, "_wrappers", wrappers)
    default = list(recorders._default)
    recorders._default.clear()
    tracer = Tracer("test", store=MemoryStore())
    yield tracer
    tracer.shutdown()
    recorders._default[:] = default


@pytest.fixture
def desk(tracer):
    """Tools of every style. What is really called stands in `ran`."""
    ran = []

    @tracer.observe(span_type="tool")
    def search(city, *, nights=1):
        ran.append("search")
        return f"really {city}"

    @tracer.observe(span_type="tool")
    async def book(hotel, nights=1):
        ran.append("book")
        return f"really {hotel}"

    @tracer.observe(span_type="tool")
    def pages(query):
        ran.append("pages")
        yield "really"

    @tracer.observe(span_type="tool")
    async def news(query):
        ran.append("news")
        yield "really"

    return SimpleNamespace(search=search, book=book, pages=pages, news=news, ran=ran)
