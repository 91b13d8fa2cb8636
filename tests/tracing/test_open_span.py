"""Spans that start in one place and end in another."""

import threading

import pytest

from agenttrace.tracer import Tracer
from agenttrace.tracing.capture import capture


@pytest.fixture
def tracer():
    tracer = Tracer("open spans", store="memory")
    yield tracer
    tracer.shutdown()


def test_an_open_span_is_recorded_when_it_ends_and_is_not_the_running_call(tracer):
    @tracer.observe
    def inner():
        return 1

    with capture() as captured:
        span = tracer.span("stream", span_type="llm", input={"question": "why"}).open()
        inner()
        assert [s.name for s in captured.trace.spans] == ["inner"]
        span.output = "because"
        span.end()
    stream, other = captured.trace.spans
    assert (stream.name, stream.span_type, stream.input) == ("stream", "llm", {"question": "why"})
    assert (stream.output, stream.status, other.parent_id) == ("because", "ok", None)


def test_it_stands_under_the_running_call_or_under_another_open_span(tracer):
    with capture() as captured:
        with tracer.span("outer") as outer:
            first = tracer.span("first").open()
        second = tracer.span("second").open(under=first)
        second.end()
        first.end()
    parents = {span.name: span.parent_id for span in captured.trace.spans}
    assert parents == {"outer": None, "first": outer.span_id, "second": first.span_id}


def test_of_two_ends_the_first_counts(tracer):
    with capture() as captured:
        span = tracer.span("once").open()
        span.end(status="abandoned")
        span.end(error=ValueError("late"))
    (once,) = captured.trace.spans
    assert (once.status, once.error) == ("abandoned", None)


def test_many_threads_that_end_a_span_end_it_once(tracer):
    with capture() as captured:
        spans = [tracer.span(f"{n}").open() for n in range(50)]
        threads = [
            threading.Thread(target=lambda: [span.end() for span in spans], daemon=True) for _ in range(4)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert sorted(int(span.name) for span in captured.trace.spans) == list(range(50))


def test_an_error_ends_it_with_the_error(tracer):
    with capture() as captured:
        tracer.span("broken").open().end(error=ValueError("no"))
    (broken,) = captured.trace.spans
    assert (broken.status, broken.error.type, broken.error.message) == ("error", "ValueError", "no")


def test_below_a_span_that_is_not_recorded_nothing_is():
    off = Tracer("off", store="memory", sample_rate=0)
    span = off.span("root").open()
    assert not span.recorded
    assert not off.span("child").open(under=span).recorded
    assert off.stats()["sampled_out"] == 1
    span.end()
    off.shutdown()


def test_its_type_can_be_told_later(tracer):
    with capture() as captured:
        span = tracer.span("graph", span_type="chain").open()
        span.set_type("agent")
        span.end()
    assert captured.trace.spans[0].span_type == "agent"


def test_it_knows_whether_the_running_call_is_below_it(tracer):
    with capture():
        span = tracer.span("above").open()
        assert not span.is_above_running()
        made_current = span.make_current()
        with tracer.span("below"):
            assert span.is_above_running()
            assert not tracer.span("other").open().is_above_running()
        made_current.restore()
        assert not span.is_above_running()
