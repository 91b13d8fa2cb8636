"""Nothing that the code recording calls raises stops the writer: no SystemExit, no panic of a library."""

import functools
import logging
import signal
import sys
import time
from concurrent.futures import ThreadPoolExecutor

import pytest
from stored import Sink

from agenttrace.core.marks import REDACTED
from agenttrace.core.score import Score
from agenttrace.redaction import Redaction
from agenttrace.tracer import Tracer
from agenttrace.tracing import delivery
from agenttrace.tracing.decorator import observe_with
from agenttrace.tracing.observed_function import ObserveOptions
from agenttrace.tracing.pipeline import Pipeline


class Panic(BaseException):
    """As a library that is written in Rust raises it."""

    def __str__(self):
        raise self


RAISED = [SystemExit, KeyboardInterrupt, GeneratorExit, Panic, RuntimeError]
NOT_OF_SIGNALS = [kind for kind in RAISED if kind is not KeyboardInterrupt]


def raises(kind):
    def function(*_args, **_options):
        raise kind

    return function


def recorded(tracer, count=5, **options):
    work = observe_with(tracer._recorder, lambda n: n, ObserveOptions(**options))
    for n in range(count):
        work(n)


def numbers(sink):
    return [span.input["n"] for span in sink.spans]


@pytest.fixture
def sink():
    return Sink()


@pytest.mark.parametrize("kind", RAISED)
class TestOnTheWriter:
    def test_out_of_redact_it_costs_the_value_not_the_span(self, sink, kind):
        def redact(name, value):
            if value == 3:
                raise kind
            return value

        tracer = Tracer("test", store=sink, redact=redact)
        recorded(tracer, 20)
        assert tracer.flush(60)
        assert numbers(sink) == [n if n != 3 else REDACTED for n in range(20)]
        assert tracer.stats()["redaction_failed"] >= 2  # of the process's tools, some more
        tracer.shutdown()

    def test_out_of_an_exporter_it_is_counted(self, sink, kind, caplog):
        broken = Sink()
        broken.export = broken.write_scores = raises(kind)
        other = Sink()
        tracer = Tracer("test", store=sink, exporters=[broken, other])
        with tracer.span("scored"):
            tracer.score_current_span("quality", 1.0)
        recorded(tracer)
        assert tracer.flush(60)
        assert tracer.stats()["not_exported"] == 6
        assert len(other.spans) == len(sink.spans) == 6
        assert len(other.scores) == 1
        assert caplog.text.count("not exported") == 1
        tracer.shutdown()

    def test_out_of_a_listener_it_is_logged(self, sink, kind, caplog):
        tracer = Tracer("test", store=sink)
        recorded(tracer, on_end=raises(kind))
        assert tracer.flush(60)
        assert numbers(sink) == list(range(5))
        assert caplog.text.count("after '") == 1
        tracer.shutdown()

    def test_out_of_a_store_the_spans_wait(self, sink, kind):
        sink.refuse = raises(kind)
        sink.get_ready = raises(kind)
        tracer = Tracer("test", store=sink)
        recorded(tracer)
        assert tracer.flush(0.5).pending == 5
        sink.refuse = lambda span: None
        assert tracer.flush(60)
        assert numbers(sink) == list(range(5))
        tracer.shutdown()

    def test_out_of_a_store_the_scores_wait(self, sink, kind):
        write, sink.write_scores = sink.write_scores, raises(kind)
        tracer = Tracer("test", store=sink)
        with tracer.span("scored"):
            tracer.score_current_span("quality", 1.0)
        tracer.flush(5)
        sink.write_scores = write
        recorded(tracer)
        assert tracer.flush(60)
        assert len(sink.scores) == 1
        tracer.shutdown()

    def test_out_of_a_logging_handler_it_is_nothing(self, sink, kind):
        class Broken(logging.Handler):
            emit = raises(kind)

        log, handler = logging.getLogger("agenttrace"), Broken()
        log.addHandler(handler)
        try:
            tracer = Tracer("test", store=sink)
            recorded(tracer, on_end=raises(ValueError))
            assert tracer.flush(60)
            assert numbers(sink) == list(range(5))
            tracer.shutdown()
        finally:
            log.removeHandler(handler)

    def test_over_a_record_it_costs_that_record_alone(self, sink, kind, monkeypatch, caplog):
        finish = delivery.finish

        def refuses(record, redaction):
            if record[5] == (3,):
                raise kind
            return finish(record, redaction)

        monkeypatch.setattr(delivery, "finish", refuses)
        tracer = Tracer("test", store=sink)
        recorded(tracer)
        result = tracer.flush(60)
        assert (result.stored, result.pending, result.dropped) == (4, 0, {"unreadable": 1})
        assert numbers(sink) == [0, 1, 2, 4]
        tracer.shutdown()

    def test_over_the_score_of_a_record_it_costs_that_record_alone(self, sink, kind, monkeypatch):
        monkeypatch.setattr(Redaction, "score", raises(kind))
        tracer = Tracer("test", store=sink)
        with tracer.span("scored"):
            tracer.score_current_span("quality", 1.0)
        recorded(tracer)
        assert tracer.flush(60).dropped == {"unreadable": 1}
        assert numbers(sink) == list(range(5))
        tracer.shutdown()


@pytest.mark.parametrize("kind", [SystemExit, GeneratorExit, Panic])
def test_what_is_thrown_into_the_writer_once_costs_no_record(sink, kind, monkeypatch):
    finish, thrown = delivery.finish, []

    def interrupted(record, redaction):
        if record[5] not in thrown:
            thrown.append(record[5])
            raise kind
        return finish(record, redaction)

    monkeypatch.setattr(delivery, "finish", interrupted)
    tracer = Tracer("test", store=sink)
    recorded(tracer)
    writer = tracer._pipeline._worker
    assert tracer.flush(60)
    assert numbers(sink) == list(range(5))
    assert tracer._pipeline._worker is writer
    tracer.shutdown()


@pytest.mark.parametrize("kind", NOT_OF_SIGNALS)
def test_out_of_an_exporter_that_is_flushed_or_closed_it_does_not_reach_who_flushes(sink, kind):
    broken, other = Sink(), Sink()
    broken.flush = broken.close = raises(kind)
    tracer = Tracer("test", store=sink, exporters=[broken, other])
    recorded(tracer)
    assert tracer.flush(60)
    assert tracer.shutdown()
    assert (sink.closed, other.closed) == (1, 1)


@pytest.mark.parametrize("kind", NOT_OF_SIGNALS)
def test_out_of_a_store_that_is_flushed_it_makes_the_flush_untrue(sink, kind):
    sink.flush = raises(kind)
    tracer = Tracer("test", store=sink)
    recorded(tracer)
    assert not tracer.flush(10)
    assert numbers(sink) == list(range(5))
    tracer.shutdown()


@pytest.mark.parametrize("kind", NOT_OF_SIGNALS)
def test_where_no_thread_can_be_had_it_does_not_reach_the_agent(sink, kind, monkeypatch):
    def refuse(*_):
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr("agenttrace.process.signal_safe.start_new_thread", refuse)

    def redact(name, value):
        if value == 3:
            raise kind
        return value

    broken = Sink()
    broken.export = raises(kind)
    tracer = Tracer("test", store=sink, redact=redact, exporters=[broken])
    recorded(tracer, on_end=raises(kind))
    assert tracer.flush()
    assert numbers(sink) == [0, 1, 2, REDACTED, 4]
    tracer.shutdown()


class TimeLimit(Exception):
    pass


def limit(*_):
    raise TimeLimit


def leave(*_):
    raise SystemExit(143)


@pytest.mark.parametrize(
    ("handler", "kind"),
    [(limit, TimeLimit), (leave, SystemExit), (signal.default_int_handler, KeyboardInterrupt)],
    ids=["a time limit", "SIGTERM", "Control-C"],
)
def test_what_a_signal_raises_during_a_flush_reaches_who_flushes(sink, handler, kind):
    slow = Sink()
    slow.flush = lambda timeout: time.sleep(5)
    tracer = Tracer("test", store=sink, exporters=[slow])
    recorded(tracer)
    before = signal.signal(signal.SIGALRM, handler)
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.3)
        with pytest.raises(kind):
            tracer.flush(60)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    slow.flush = lambda timeout: True
    assert tracer.flush()
    assert numbers(sink) == list(range(5))
    tracer.shutdown()


def test_a_capture_goes_on_whatever_redact_raises(sink):
    tracer = Tracer("test", store=sink, redact=raises(Panic))
    with tracer.capture() as captured:
        recorded(tracer, 1)
    assert [span.output for span in captured.trace.spans] == [REDACTED]
    tracer.shutdown()


def test_a_score_that_is_told_whatever_redact_raises_says_nothing():
    redaction = Redaction(call=raises(SystemExit))
    assert redaction.score(Score.of("quality", 1.0, 0.5, reason="secret")).reason == REDACTED


def in_a_thread(test):
    """Run a test in a thread of its own: what is thrown in between two steps of the interpreter may stay the
    exception that the thread is said to handle."""

    @functools.wraps(test)
    def run(*args, **options):
        with ThreadPoolExecutor(1) as pool:
            pool.submit(test, *args, **options).result(60)

    return run


class ThrownAt:
    """Throws a `Panic` into this thread after so many steps of the interpreter in some functions, once."""

    def __init__(self, steps, *functions):
        self.left = steps
        self.codes = [function.__code__ for function in functions]

    def __enter__(self):
        self.before = sys.gettrace()
        sys.settrace(self.trace)
        return self

    def __exit__(self, kind, error, trace):
        sys.settrace(self.before)
        return kind is Panic

    def trace(self, frame, event, argument):
        if not any(frame.f_code is code for code in self.codes):
            return None
        frame.f_trace_opcodes = True
        if event in ("opcode", "line"):  # Python 3.12 may tell of lines alone
            self.left -= 1
            if self.left == 0:
                raise Panic
        return self.trace


@in_a_thread
def test_what_is_thrown_in_while_a_thread_stores_leaves_its_turn_to_the_next(sink, monkeypatch):
    def refuse(*_):
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr("agenttrace.process.signal_safe.start_new_thread", refuse)
    steps = 1
    while True:
        tracer = Tracer("test", store=sink)
        with ThrownAt(steps, Pipeline._store, Pipeline.ensure_worker) as thrown:
            recorded(tracer, 1)
        sink.spans.clear()
        recorded(tracer, 1)
        assert tracer.flush(60), steps
        assert numbers(sink)[-1:] == [0], steps
        tracer.shutdown()
        if thrown.left > 0:
            break
        steps += 1
    assert steps > 10


@in_a_thread
def test_what_is_thrown_in_while_a_thread_starts_the_writer_keeps_no_later_call_from_it(sink):
    steps = 1
    while True:
        tracer = Tracer("test", store=sink)
        with ThrownAt(steps, Pipeline.ensure_worker) as thrown:
            recorded(tracer, 1)
        recorded(tracer, 1)
        assert tracer._pipeline._worker.alive, steps
        tracer.shutdown()
        if thrown.left > 0:
            break
        steps += 1
    assert steps > 5
