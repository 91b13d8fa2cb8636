"""Sampling decides once, at the root."""

import random

import pytest

from agenttrace.core.errors import ConfigError
from agenttrace.store import MemoryStore
from agenttrace.tracer import Tracer
from agenttrace.tracing.record import sampler


def nested(tracer):
    child = tracer.observe(lambda: tracer.current_span(), name="child")
    return tracer.observe(lambda: [child(), child()], name="root")


@pytest.mark.parametrize("rate", [-0.1, 1.1, "all", None, True, float("nan")])
def test_a_rate_that_is_none_is_refused(rate):
    with pytest.raises(ConfigError, match="sample_rate is a number from 0"):
        sampler(rate)


def test_every_trace_is_kept_without_asking():
    assert sampler(1) is None


def test_no_trace_is_kept_and_each_is_counted():
    tracer = Tracer("test", store=MemoryStore(), sample_rate=0)
    for _ in range(5):
        assert nested(tracer)() == [None, None]
    assert tracer.flush().stored == 0
    assert tracer.stats()["sampled_out"] == 5
    tracer.shutdown()


def test_a_share_of_the_traces_is_kept_each_as_a_whole():
    random.seed(1)
    store = MemoryStore()
    tracer = Tracer("test", store=store, sample_rate=0.5)
    root = nested(tracer)
    for _ in range(400):
        random.seed(1)
        root()
    tracer.flush()
    kept = store.traces(limit=1_000)
    assert {trace.spans for trace in kept} == {3}
    assert 140 < len(kept) < 260, "six standard deviations"
    assert len(kept) + tracer.stats()["sampled_out"] == 400
    tracer.shutdown()


@pytest.mark.parametrize("kind", ["async", "generator", "async generator", "block"])
def test_below_an_unrecorded_call_of_any_kind_nothing_is_recorded(kind):
    import asyncio

    store = MemoryStore()
    tracer = Tracer("test", store=store, sample_rate=0)
    other = Tracer("other", store=store)
    child = other.observe(lambda: 1)

    async def coroutine():
        child()

    def generator():
        yield child()

    async def async_generator():
        yield child()

    async def consume():
        return [item async for item in tracer.observe(async_generator)()]

    if kind == "async":
        asyncio.run(tracer.observe(coroutine)())
    elif kind == "generator":
        assert list(tracer.observe(generator)()) == [1]
    elif kind == "async generator":
        assert asyncio.run(consume()) == [1]
    else:
        with tracer.span("x"):
            child()
    other.flush()
    assert store.traces() == []
    child()
    other.flush()
    assert len(store.traces()) == 1
    tracer.shutdown()
    other.shutdown()
