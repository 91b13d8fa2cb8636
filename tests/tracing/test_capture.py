"""A capture is complete when its block ends, and has nothing in it that belongs elsewhere."""

import asyncio
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest
from stored import stored, tree

from agenttrace.core.errors import ConfigError
from agenttrace.core.limits import Limits
from agenttrace.store.memory import MemoryStore
from agenttrace.tracer import Tracer
from agenttrace.tracing import pipeline as pipelines
from agenttrace.tracing.capture import capture
from agenttrace.tracing.context import current


@pytest.fixture
def work(tracer):
    return tracer.observe(lambda n: n, name="work", span_type="tool")


def test_is_complete_without_a_flush_and_reaches_the_store_too(tracer, work):
    with tracer.capture() as captured:
        work(1)
        assert len(captured.trace) == 1, "what has ended is there while the block is open"
        work(2)
    assert [call.arguments["n"] for call in captured.trace.tool_calls] == [1, 2]
    assert [span.trace_key for span in stored(tracer)] == [captured.trace.trace_key] * 2


def test_of_nothing_is_an_empty_trace(tracer):
    with tracer.capture() as captured:
        pass
    assert len(captured.trace) == 0
    assert captured.trace.root is None


def test_needs_no_tracer_and_takes_what_any_tracer_records(tracer, work):
    other = Tracer("other", store="memory")
    with capture() as captured:
        other.observe(lambda: work(1), name="outer")()
    assert tree(captured.trace.spans) == {"outer": None, "work": "outer"}
    other.shutdown()


def test_inside_a_traced_call_is_a_trace_of_its_own(tracer, work):
    @tracer.observe
    def agent():
        work(0)
        with tracer.capture() as inner:
            work(1)
        work(2)
        return inner

    with tracer.capture() as outer:
        inner = agent()
    assert [call.arguments["n"] for call in inner.trace.tool_calls] == [1]
    assert [call.arguments["n"] for call in outer.trace.tool_calls] == [0, 2]
    assert {span.name: span.parent_key for span in inner.trace.spans} == {"work": None}


def test_nested_captures_keep_to_their_own(tracer, work):
    with tracer.capture() as outer:
        work(1)
        with tracer.capture() as inner:
            work(2)
    assert (len(outer.trace), len(inner.trace)) == (1, 1)


def test_concurrent_captures_do_not_see_each_other(tracer, work):
    def one(n):
        with tracer.capture() as captured:
            for _ in range(50):
                work(n)
        return {span.input["n"] for span in captured.trace.spans}, len(captured.trace)

    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(one, range(16))) == [({n}, 50) for n in range(16)]


def test_concurrent_captures_in_tasks_do_not_see_each_other(tracer):
    @tracer.observe
    async def work(n):
        await asyncio.sleep(0)

    async def one(n):
        with tracer.capture() as captured:
            await asyncio.gather(*(work(n) for _ in range(5)))
        return {span.input["n"] for span in captured.trace.spans}

    async def main():
        return await asyncio.gather(*(one(n) for n in range(20)))

    assert asyncio.run(main()) == [{n} for n in range(20)]


def test_has_what_threads_executors_and_tasks_inside_it_recorded(tracer, work):
    async def in_tasks():
        await asyncio.gather(asyncio.to_thread(work, 3), asyncio.to_thread(work, 4))

    with tracer.capture() as captured:
        thread = threading.Thread(target=work, args=(1,))
        thread.start()
        thread.join()
        with ThreadPoolExecutor() as pool:
            pool.submit(work, 2).result()
        asyncio.run(in_tasks())
    assert sorted(span.input["n"] for span in captured.trace.spans) == [1, 2, 3, 4]


def test_what_ends_after_the_block_still_reaches_the_store(tracer, work):
    go = threading.Event()

    def late():
        go.wait()
        work(2)

    with tracer.capture() as captured:
        work(1)
        thread = threading.Thread(target=late)
        thread.start()
    go.set()
    thread.join()
    assert len(captured.trace) == 1
    assert {span.trace_key for span in stored(tracer)} == {captured.trace.trace_key}
    assert len(stored(tracer)) == 2


def test_sampling_does_not_apply(store):
    tracer = Tracer("sampled", store=store, sample_rate=0.0)
    with tracer.capture() as captured:
        tracer.observe(lambda: 1)()
    assert len(captured.trace) == 1
    tracer.shutdown()


def test_an_error_in_the_block_passes_and_the_trace_is_there(tracer, work):
    captured = tracer.capture()

    def fails():
        with captured:
            work(1)
            raise LookupError

    with pytest.raises(LookupError):
        fails()
    assert len(captured.trace) == 1
    assert current.get() is None


def test_is_opened_once(tracer):
    captured = tracer.capture()
    with captured:
        pass
    with pytest.raises(ConfigError, match="opened once"), captured:
        pass


def test_an_open_call_is_not_in_it(tracer, work):
    with tracer.capture() as captured, tracer.span("open"):
        work(1)
        assert [span.name for span in captured.trace.spans] == ["work"]
    assert tree(captured.trace.spans) == {"open": None, "work": "open"}


def test_keeps_a_bounded_weight_of_values_and_says_what_it_left_out(tracer, monkeypatch):
    monkeypatch.setattr(tracer, "_capture_limits", Limits(trace=5_000))

    @tracer.observe
    def heavy(text, n):
        tracer.current_span().set_attribute("more", text)
        tracer.current_span().output = text
        return n

    with tracer.capture() as captured:
        for n in range(3):
            heavy("x" * 1_000, n)
        tracer.flush()
    mark = {"$truncated": "memory"}
    assert [span.input["n"] for span in captured.trace.spans] == [0, 1, 2]
    assert [span.input["text"] == mark for span in captured.trace.spans] == [False, True, True]
    assert [span.output == mark for span in captured.trace.spans] == [False, True, True]
    assert [span.attributes["more"] == mark for span in captured.trace.spans] == [False, True, True]
    assert captured.spans_lightened == 2
    assert [span.input["text"] for span in stored(tracer)] == ["x" * 1_000] * 3


class WaitingStore(MemoryStore):
    """Stores nothing until it is let go."""

    def __init__(self):
        super().__init__()
        self.may_write = threading.Event()

    def write(self, *args, **kwargs):
        self.may_write.wait(30)
        return super().write(*args, **kwargs)


def test_what_waits_for_a_slow_store_is_bounded_while_the_captured_trace_is_whole(monkeypatch):
    monkeypatch.setattr(pipelines, "MAX_WEIGHT", 10_000)
    store = WaitingStore()
    tracer = Tracer("test", store=store)

    @tracer.observe
    def heavy(text, n):
        tracer.current_span().set_attribute("more", text)
        return n

    try:
        with tracer.capture() as captured:
            for n in range(50):
                heavy(["x" * 1_000], n)
            stats = tracer.stats()
    finally:
        store.may_write.set()
    assert stats["queued_bytes"] <= 10_000
    assert [span.input["text"] for span in captured.trace.spans] == [["x" * 1_000]] * 50
    assert captured.spans_lightened == 0
    tracer.flush()
    spans = sorted(stored(tracer), key=lambda span: span.input["n"])
    assert [span.input["n"] for span in spans] == [*range(50)]
    values = [value for span in spans for value in (span.input["text"], span.attributes["more"])]
    dropped = values.count({"$truncated": "memory"})
    assert 50 <= dropped == tracer.stats()["values_dropped"]
    assert values.count(["x" * 1_000]) == 100 - dropped
