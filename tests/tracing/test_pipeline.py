"""Nothing waits for the store, nothing is lost in silence, whatever the store does."""

import ctypes
import gc
import inspect
import logging
import signal
import sqlite3
import subprocess
import sys
import threading
import time
import weakref
from _thread import get_ident

import pytest
from stored import Sink

from agenttrace.core import identity
from agenttrace.core.errors import ExportError
from agenttrace.process import signal_safe
from agenttrace.tracer import Tracer
from agenttrace.tracing import delivery as delivery_module
from agenttrace.tracing import pipeline as pipelines
from agenttrace.tracing.delivery import BATCH, LARGEST_BATCH, Delivery
from agenttrace.tracing.process_end import Patience
from agenttrace.tracing.queue_limit import ENOUGH


@pytest.fixture
def sink():
    sink = Sink()
    yield sink
    sink.gate.set()
    sink.refuse = lambda span: None


@pytest.fixture
def tracer(sink):
    tracer = Tracer("test", store=sink)
    yield tracer
    sink.gate.set()
    tracer.shutdown()


@pytest.fixture
def work(tracer):
    return tracer.observe(lambda n=0: n, name="work")


def until(condition, seconds=60):
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "it never came"
        time.sleep(0.005)


class TestFlush:
    def test_waits_until_everything_is_stored(self, tracer, work, sink):
        for n in range(10_000):
            work(n)
        result = tracer.flush()
        assert result
        assert (result.stored, result.pending, result.dropped) == (10_000, 0, {})
        assert [span.input["n"] for span in sink.spans] == list(range(10_000))

    def test_without_anything_recorded_starts_nothing(self, tracer):
        assert tracer.flush()
        assert tracer._pipeline._worker is None

    def test_of_a_stalled_store_returns_in_time_and_tells_the_truth(self, tracer, work, sink):
        """Scenario 52."""
        sink.gate.clear()
        for n in range(10):
            work(n)
        result = tracer.flush(0.1)
        assert not result
        assert result.pending == 10
        sink.gate.set()
        assert tracer.flush()

    def test_with_no_time_at_all_returns_at_once(self, tracer, work, sink):
        sink.gate.clear()
        work()
        assert not tracer.flush(0)
        assert not tracer.flush(-1)

    def test_from_twenty_threads_agrees(self, tracer, work):
        """Scenario 53."""
        results = []

        def trace_and_flush():
            for n in range(100):
                work(n)
            results.append(bool(tracer.flush()))

        threads = [threading.Thread(target=trace_and_flush) for _ in range(20)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert results == [True] * 20
        assert tracer.flush().stored == 2_000

    def test_inside_a_span_stores_what_has_ended(self, tracer, work, sink):
        """Scenario 53."""
        with tracer.span("open"):
            work(1)
            assert tracer.flush()
            assert sink.names == ["work"]

    def test_from_the_worker_itself_does_not_wait_for_itself(self, tracer, work, sink):
        """Scenario 53."""
        results = []
        sink.flush = lambda timeout: results.append(tracer.flush(60))
        sink.refuse = lambda span: results.append(tracer.flush(60))
        work(1)
        tracer.flush(2)
        until(lambda: results)

    def test_within_the_flush_of_a_store_or_an_exporter_flushes_neither_again(self, work):
        depths = []

        class Asks(Sink):
            def flush(self, timeout):
                depths.append(len(inspect.stack(0)))
                tracer.flush(1)
                return True

        tracer = Tracer("test", store=Asks(), exporters=[Asks()])
        tracer.observe(lambda: 1)()
        assert tracer.flush(60)
        assert len(depths) == 2
        tracer.shutdown()

    def test_in_a_signal_handler_that_interrupts_a_flush_does_not_deadlock(self, tracer, work, sink):
        """Scenario 53."""
        results, before = [], signal.getsignal(signal.SIGALRM)
        signal.signal(signal.SIGALRM, lambda *_: results.append(tracer.flush(0.2)))
        try:
            signal.setitimer(signal.ITIMER_REAL, 0.01, 0.003)
            end = time.monotonic() + 0.3
            while time.monotonic() < end:
                work()
                tracer.flush(1)
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)
            signal.signal(signal.SIGALRM, before)
        assert results
        assert tracer.flush()


class TestStore:
    def test_that_refuses_for_a_while_gets_everything_later_in_order(self, tracer, work, sink):
        def refuse(span):
            raise ExportError("not now")

        sink.refuse = refuse
        for n in range(50):
            work(n)
        assert not tracer.flush(0.1)
        sink.refuse = lambda span: None
        assert tracer.flush()
        assert [span.input["n"] for span in sink.spans] == list(range(50))

    def test_that_cannot_take_one_span_gets_its_neighbours(self, tracer, work, sink, caplog):
        """Scenario 48."""

        def refuse(span):
            if span.input["n"] == 50:
                raise ValueError("poison")

        sink.refuse = refuse
        for n in range(100):
            work(n)
        result = tracer.flush()
        assert sorted({span.input["n"] for span in sink.spans}) == [n for n in range(100) if n != 50]
        assert (result.pending, result.dropped) == (0, {"rejected": 1})
        assert caplog.text.count("poison") == 1

    def test_that_stalls_lets_the_queue_fill_to_its_limit_and_counts_the_rest(self, sink):
        """Scenario 47."""
        tracer = Tracer("test", store=sink, queue_limit=100)
        work = tracer.observe(lambda n: n)
        sink.gate.clear()
        work(-1)
        until(lambda: not tracer._pipeline.queue)  # the worker has taken it, and is stuck
        for n in range(250):
            work(n)
        assert tracer.stats()["dropped"]["queue_full"] == 150
        sink.gate.set()
        assert tracer.flush().dropped == {"queue_full": 150}
        assert [span.input["n"] for span in sink.spans] == list(range(-1, 100))
        tracer.shutdown()

    def test_that_cannot_keep_up_lets_fewer_wait_until_none_does(self, sink):
        """From a longer queue nothing more is stored, and the garbage collector goes through all of it."""
        limits = []
        sink.refuse = lambda span: limits.append(tracer._pipeline.limit)
        most = ENOUGH + 2 * BATCH
        tracer = Tracer("test", store=sink, queue_limit=most)
        work = tracer.observe(lambda n: n)
        sink.gate.clear()
        work(-1)
        until(lambda: not tracer._pipeline.queue)  # the worker has taken it, and is stuck
        for n in range(most + 5):
            work(n)
        assert tracer.stats()["dropped"]["queue_full"] == 5
        sink.gate.set()
        assert tracer.flush(60).stored == most + 1
        assert ENOUGH <= min(limits) < max(limits) == most
        assert tracer._pipeline.limit == most
        tracer.shutdown()

    def test_that_stalls_has_no_more_heavy_outputs_waiting_than_light_ones(self, sink):
        """Scenario 47: a call whose output is copied ends on a way of its own."""
        tracer = Tracer("test", store=sink, queue_limit=100)
        work = tracer.observe(lambda n: {"n": [n]})
        sink.gate.clear()
        work(-1)
        until(lambda: not tracer._pipeline.queue)  # the worker has taken it, and is stuck
        for n in range(250):
            work(n)
        assert tracer.stats()["queued"] == 100
        assert tracer.stats()["dropped"]["queue_full"] == 150
        sink.gate.set()
        tracer.shutdown()

    def test_that_stalls_has_no_more_generators_waiting_than_calls(self, sink):
        """Scenario 47: a generator ends on a way of its own, too."""
        tracer = Tracer("test", store=sink, queue_limit=100)

        @tracer.observe
        def steps(n):
            yield n

        sink.gate.clear()
        assert [*steps(-1)] == [-1]
        until(lambda: not tracer._pipeline.queue)  # the worker has taken it, and is stuck
        for n in range(250):
            assert [*steps(n)] == [n]
        assert tracer.stats()["queued"] == 100
        assert tracer.stats()["dropped"]["queue_full"] == 150
        sink.gate.set()
        tracer.shutdown()

    def test_that_stalls_has_heavy_values_replaced_beyond_their_weight(self, sink, monkeypatch):
        """Scenario 47."""
        monkeypatch.setattr(pipelines, "MAX_WEIGHT", 100_000)
        tracer = Tracer("test", store=sink)
        heavy = tracer.observe(lambda text: None)
        sink.gate.clear()
        heavy("")
        until(lambda: not tracer._pipeline.queue)  # the worker has taken it, and is stuck
        for _ in range(10):
            heavy("x" * 20_000)
        assert tracer.stats()["values_dropped"] == 5
        sink.gate.set()
        assert tracer.flush()
        assert [s.input["text"] for s in sink.spans].count({"$truncated": "memory"}) == 5
        assert tracer.stats()["queued_bytes"] == 0
        tracer.shutdown()

    def test_is_never_traced_itself(self, tracer, work, sink):
        """Scenario 56: a store, an exporter, a logging handler that are traced make no feedback."""
        sink.export = tracer.observe(sink.export, name="export")
        sink.flush = tracer.observe(sink.flush, name="flush")
        work()
        for _ in range(5):
            tracer.flush()
        assert "export" not in sink.names


class TestStart:
    """The store gets ready as soon as a trace has begun, on the writer's thread."""

    def test_of_the_first_trace_opens_the_store_before_anything_has_ended(self, tracer, sink):
        threads = []
        sink.get_ready = lambda: threads.append(threading.get_ident())
        with tracer.span("open"):
            until(lambda: threads)
        assert threads == [tracer._pipeline._worker.ident]
        assert tracer.flush()
        assert len(threads) == 1

    def test_of_the_first_trace_makes_the_file_and_nothing_before_it_does(self, tmp_path):
        path = tmp_path / "place" / "traces.db"
        tracer = Tracer("test", store=path)
        work = tracer.observe(lambda: 1)
        assert tracer.flush()
        assert not path.parent.exists()
        with tracer.span("open"):
            until(path.exists)
            until(lambda: _tables(path))
            work()
        assert tracer.flush().stored == 2
        tracer.shutdown()

    def test_of_a_store_that_hangs_holds_up_nobody_and_loses_nothing(self, tracer, work, sink):
        gate = threading.Event()
        sink.get_ready = gate.wait
        try:
            began = time.monotonic()
            for n in range(100):
                work(n)
            result = tracer.flush(0.1)
            assert time.monotonic() - began < 5
            assert (bool(result), result.pending) == (False, 100)
        finally:
            gate.set()
        assert tracer.flush(60).stored == 100


def _tables(path):
    db = sqlite3.connect(f"file:{path}?mode=ro", uri=True)
    try:
        return db.execute("SELECT name FROM sqlite_master WHERE name = 'outbox_senders'").fetchall()
    except sqlite3.OperationalError:  # in the middle of being made
        return []
    finally:
        db.close()


class TestExporters:
    def test_get_what_the_store_took(self, sink):
        other = Sink()
        tracer = Tracer("test", store=sink, exporters=[other])
        tracer.observe(lambda: 1, name="work")()
        tracer.flush()
        assert sink.names == other.names == ["work"]
        tracer.shutdown()
        assert (sink.closed, other.closed) == (1, 1)

    def test_that_fail_are_counted_and_disturb_nobody(self, sink, caplog):
        class Broken(Sink):
            def export(self, spans):
                raise OSError("unreachable")

            flush = close = export

        tracer = Tracer("test", store=sink, exporters=[Broken()])
        tracer.observe(lambda: 1)()
        assert tracer.flush()
        assert tracer.stats()["not_exported"] == 1
        tracer.shutdown()
        assert "unreachable" in caplog.text


class TestWorker:
    # It may come while the thread is in a callback of the garbage collector, such as that of hypothesis.
    @pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
    def test_that_gets_an_exception_goes_on(self, tracer, work, sink):
        """Scenario 49: injected into the thread, at any point of its loop."""
        for n in range(20):
            work(n)
            until(lambda: tracer._pipeline._worker.ident)  # 0 would mean any thread that is being started
            thread = ctypes.c_ulong(tracer._pipeline._worker.ident)
            ctypes.pythonapi.PyThreadState_SetAsyncExc(thread, ctypes.py_object(SystemExit))
            time.sleep(0.01)
        assert tracer.flush(60)
        assert {span.input["n"] for span in sink.spans} == set(range(20))

    def test_outlives_whatever_is_raised_in_it(self, tracer, work, sink, monkeypatch, caplog):
        """Scenario 49: no call has to start another one."""
        with tracer.span("open"):  # a root starts the worker, the calls below it do not
            until(lambda: tracer._pipeline._worker.ident)
            worker, follow = tracer._pipeline._worker, pipelines.follow_clock

            def dies():
                if get_ident() == worker.ident:  # not the writer of another test
                    monkeypatch.setattr(pipelines, "follow_clock", follow)
                    raise SystemExit("thrown in")

            monkeypatch.setattr(pipelines, "follow_clock", dies)
            until(lambda: "the writer goes on" in caplog.text)
            work(1)
            until(lambda: sink.names == ["work"])
            assert tracer._pipeline._worker is worker
            assert worker.alive

    def test_outlives_what_is_thrown_in_while_it_tells_of_an_exception_before(
        self, tracer, work, sink, monkeypatch
    ):
        """Scenario 49: a flush that waits for it would wait in vain."""
        work(1)
        assert tracer.flush(60)
        pipeline, thrown = tracer._pipeline, []

        def throws(name, kind, owner):
            went_on = getattr(owner, name)

            def throw(*_, **__):
                setattr(owner, name, went_on)
                thrown.append(kind)
                raise kind

            monkeypatch.setattr(owner, name, throw)

        worker = pipeline._worker
        throws("warn", SystemExit, pipeline._delivery)
        throws("_store", GeneratorExit, pipeline)
        until(lambda: thrown == [GeneratorExit, SystemExit])
        work(2)
        assert tracer.flush(60).stored == 2
        assert pipeline._worker is worker
        assert worker.alive

    def test_ends_at_a_shutdown_though_a_library_of_the_store_cannot_be_loaded(self, tracer, work, sink):
        """Scenario 72: a sub-interpreter cannot end while the writer still runs."""

        def refuse(span):
            raise ImportError("does not support loading in subinterpreters")

        sink.refuse = refuse
        work(1)
        assert not tracer.flush(0.2)
        worker = tracer._pipeline._worker
        assert tracer.shutdown(0.2).pending == 1
        until(lambda: not worker.alive)

    def test_stores_without_being_asked(self, tracer, work, sink):
        work()
        until(lambda: sink.names == ["work"])

    def test_that_cannot_be_started_is_done_without(self, tracer, work, sink, monkeypatch):
        """Scenario 71."""

        def refuse(*_):
            raise RuntimeError("can't start new thread")

        monkeypatch.setattr(signal_safe, "start_new_thread", refuse)
        for n in range(5):
            work(n)
        assert tracer.flush()
        assert [span.input["n"] for span in sink.spans] == list(range(5))

    def test_that_cannot_be_started_is_stood_in_for_by_the_next_call(self, tracer, work, sink, monkeypatch):
        """Scenario 71: nothing waits for a flush that may never come."""

        def refuse(*_):
            raise RuntimeError("can't start new thread")

        monkeypatch.setattr(signal_safe, "start_new_thread", refuse)
        for n in range(3):
            work(n)
        assert [span.input["n"] for span in sink.spans] == [0, 1]

    def test_is_started_again_when_a_thread_can_be_had(self, tracer, work, monkeypatch):
        """Scenario 71."""

        def refuse(*_):
            raise RuntimeError("can't start new thread")

        with monkeypatch.context() as patch:
            patch.setattr(signal_safe, "start_new_thread", refuse)
            work()
        work()
        assert tracer._pipeline._worker.alive

    def test_starts_while_threading_holds_its_own_lock(self, tracer, work, sink):
        """Scenario 54."""
        with threading._active_limbo_lock:
            work()
        assert tracer.flush()

    def test_that_is_being_started_stores_what_a_handler_flushes(self, tracer, work, sink, monkeypatch):
        """Scenario 54: a handler comes when the thread runs but is not yet known."""
        threads = []
        sink.refuse = lambda span: threads.append(get_ident())
        start_new_thread = signal_safe.start_new_thread

        def interrupted(*arguments):
            monkeypatch.setattr(signal_safe, "start_new_thread", start_new_thread)
            start_new_thread(*arguments)
            work(1)
            assert tracer.flush()

        monkeypatch.setattr(signal_safe, "start_new_thread", interrupted)
        work(2)
        assert tracer.flush()
        assert [span.input["n"] for span in sink.spans] == [1, 2]
        assert get_ident() not in threads, "what is recorded here while the store is at work is lost"

    def test_that_is_being_started_holds_up_no_call(self, tracer, sink):
        """Scenario 54: a signal handler that interrupts the start of the worker waits for nobody."""
        work = tracer.observe(lambda: 1)
        interrupted = object()
        assert tracer._pipeline._starting.take(interrupted)
        call = threading.Thread(target=work, daemon=True)
        call.start()
        call.join(60)
        held_up = call.is_alive()
        tracer._pipeline._starting.give_back(interrupted)
        assert not held_up
        assert tracer.flush()

    def test_with_a_broken_logging_handler_goes_on(self, tracer, work, sink):
        """Scenario 55."""

        class Broken(logging.Handler):
            def emit(self, record):
                raise RuntimeError("broken handler")

        log, handler = logging.getLogger("agenttrace"), Broken()
        log.addHandler(handler)
        try:
            sink.refuse = lambda span: (_ for _ in ()).throw(OSError("not now"))
            work()
            assert not tracer.flush(0.1)
            sink.refuse = lambda span: None
            assert tracer.flush()
        finally:
            log.removeHandler(handler)


class TestOddPlaces:
    """Scenario 55: traced calls where nobody expects code to run."""

    def test_finalisers_and_weak_references(self, tracer, work, sink):
        class Dying:
            def __del__(self):
                work(1)

        class Cyclic(Dying):
            pass

        for _ in range(3):
            Dying()
            cyclic = Cyclic()
            cyclic.self = cyclic
            reference = weakref.ref(cyclic, lambda _: work(2))
            del cyclic
            gc.collect()
            assert reference() is None
        assert tracer.flush()
        assert [span.input["n"] for span in sink.spans].count(1) == 6

    def test_a_traced_logging_handler(self, tracer, work, sink):
        class Traced(logging.Handler):
            @tracer.observe
            def emit(self, record):
                work(record.getMessage())

        log, handler = logging.getLogger("agenttrace"), Traced()
        log.addHandler(handler)
        try:
            log.warning("hello")
            sink.refuse = lambda span: (_ for _ in ()).throw(OSError("not now"))
            work()
            tracer.flush(0.1)
            sink.refuse = lambda span: None
            assert tracer.flush()
        finally:
            log.removeHandler(handler)
        assert sink.names.count("work") == 2

    def test_a_trace_function_and_an_except_hook(self, tracer, work, sink):
        calls = []

        def trace(frame, event, argument):
            if not calls:
                calls.append(1)
                work("traced")
            return

        before = sys.gettrace()
        sys.settrace(trace)
        try:
            work("plain")
        finally:
            sys.settrace(before)
        hook = tracer.observe(lambda kind, value, trace: None, name="hook")
        hook(ValueError, ValueError("x"), None)
        assert tracer.flush()
        assert {"work", "hook"} == set(sink.names)


class TestShutdown:
    def test_stores_everything_and_closes_once(self, tracer, work, sink):
        """Scenario 69."""
        work()
        assert tracer.shutdown()
        assert tracer.shutdown()
        assert (sink.names, sink.closed) == (["work"], 1)

    def test_what_comes_later_is_counted_not_kept(self, tracer, work, sink):
        """Scenario 69."""
        block = tracer.span("open")
        with block:
            work(1)
            tracer.shutdown()
        assert work(2) == 2
        assert tracer.stats()["dropped"]["after_shutdown"] == 2
        assert not tracer.flush()
        assert sink.names == ["work"]

    def test_what_its_worker_still_stores_is_counted_once(self, tracer, work, sink):
        sink.gate.clear()
        work(1)
        until(lambda: not tracer._pipeline.queue)  # the worker has taken it, and is stuck
        for number in range(5):
            work(number)
        result = tracer.shutdown(0.1)
        stats = tracer.stats()
        assert (stats["queued"], stats["dropped"]["after_shutdown"]) == (5, 0)
        assert (result.pending, result.dropped) == (6, {})
        sink.gate.set()
        until(lambda: tracer.stats()["written"] == 6)
        assert sum(tracer.stats()["dropped"].values()) == 0

    def test_of_a_stalled_store_returns(self, tracer, work, sink):
        sink.gate.clear()
        work()
        assert not tracer.shutdown(0.1)


class TestPace:
    """Other processes, and forks, wait for a write: it should not take long."""

    def test_a_write_that_took_long_is_followed_by_smaller_ones_and_short_ones_by_larger(self, tracer):
        delivery = tracer._pipeline._delivery
        for _ in range(20):
            delivery._pace(0.1)
        assert delivery._largest_batch == LARGEST_BATCH
        delivery._pace(0.6)
        assert delivery._largest_batch == LARGEST_BATCH
        sizes = []
        for _ in range(4):
            delivery._pace(2.0)
            sizes.append(delivery._largest_batch)
        assert sizes == [3 * BATCH, BATCH, BATCH, BATCH]

    def test_what_callers_add_while_a_batch_is_taken_still_counts(self, sink, monkeypatch):
        """Otherwise more and more heavy values wait, and none is left out."""
        tracer, counted = Tracer("test", store=sink), []
        pipeline, take = tracer._pipeline, Delivery.take

        def meanwhile(delivery, queue, stop, **options):
            weight = take(delivery, queue, stop, **options)
            if weight and not counted:
                before = pipeline.weight
                assert pipeline.admit(1_000)
                counted.append(before + 1_000 - weight)
            return weight

        def noted(delivery):
            if len(counted) == 1:
                counted.append(pipeline.weight)
            return deliver(delivery)

        deliver = Delivery.deliver
        monkeypatch.setattr(Delivery, "take", meanwhile)
        monkeypatch.setattr(Delivery, "deliver", noted)
        tracer.observe(lambda text: None)("x" * 20_000)
        assert tracer.flush()
        assert counted[1] == counted[0] == 1_000
        tracer.shutdown()

    @pytest.mark.parametrize("exporters", [0, 1], ids=["rows", "spans"])
    def test_large_values_that_wait_are_not_all_unpacked_for_one_write(
        self, tmp_path, monkeypatch, exporters
    ):
        """A hundred times the text is packed once: of what waits nobody sees how large it becomes."""
        taken, all_wait = [], threading.Event()
        take = Delivery.take

        def noted(delivery, queue, stop, **options):
            assert all_wait.wait(60)
            weight = take(delivery, queue, stop, **options)
            if delivery.pending:
                taken.append(len(delivery.pending))
            return weight

        monkeypatch.setattr(Delivery, "take", noted)
        monkeypatch.setattr(delivery_module, "LARGEST_SIZE", 4 << 20)
        tracer = Tracer("test", store=str(tmp_path / "traces.db"), exporters=[Sink()] * exporters)
        work = tracer.observe(lambda n: ["z" * 1_000] * 100)
        for n in range(300):
            work(n)
        all_wait.set()
        assert tracer.flush(60)
        assert sum(taken) == 300
        assert max(taken) <= (4 << 20) // 100_000 + 1
        tracer.shutdown()

    def test_what_waits_is_stored_in_writes_as_large_as_the_last_ones_allow(self, tracer, work, sink):
        sink.gate.clear()
        for n in range(20 * BATCH):
            work(n)
        tracer._pipeline._delivery._pace(5.0)
        sink.gate.set()
        assert tracer.flush(60)
        assert max(sink.batches) > BATCH
        assert sink.batches[1] <= 2 * BATCH


class TestExit:
    """What is still recorded after the last flush of the process."""

    def test_of_a_trace_that_was_under_way_is_stored_as_it_ends(self, tracer, work, sink):
        with tracer.span("under way"):
            tracer._pipeline.finish_up(Patience(1.0))
            work(1)
            assert sink.names == ["work"]
        assert sink.names == ["work", "under way"]
        assert tracer.stats()["queued"] == 0

    def test_of_a_capture_that_was_under_way_is_stored_too(self, tracer, work, sink):
        with tracer.capture() as captured:
            tracer._pipeline.finish_up(Patience(1.0))
            work(1)
        assert sink.names == ["work"]
        assert len(captured.trace) == 1


class TestClock:
    def test_set_back_or_forth_inside_a_call_leaves_durations_and_order(
        self, tracer, work, sink, monkeypatch
    ):
        """Scenario 50."""
        monkeypatch.setattr(identity, "_jumps", 0)
        monkeypatch.setattr(identity, "_anchor_ns", identity._anchor_ns)
        real, hour = time.time_ns, 3_600 * 10**9
        for shift in (-hour, hour):
            with tracer.span("long"):
                work()
                monkeypatch.setattr(time, "time_ns", lambda shift=shift: real() + shift)
                work()
            tracer.flush()
        assert tracer.stats()["clock_jumps"] == 2  # to put it right again may be one more
        monkeypatch.setattr(time, "time_ns", real)
        for trace in (sink.spans[:3], sink.spans[3:]):
            first, second, root = trace
            assert (
                root.start_ns
                <= first.start_ns
                <= first.end_ns
                <= second.start_ns
                <= second.end_ns
                <= root.end_ns
            )
            assert root.duration_ns < hour

    def test_dates_a_call_when_it_ran(self, tracer, work, sink):
        """Scenario 50: the monotonic clock counts from another zero than the wall clock."""
        hour = 3_600 * 10**9
        before = time.time_ns()
        work()
        tracer.flush()
        (span,) = sink.spans
        assert before - hour < span.start_ns <= span.end_ns < time.time_ns() + hour

    def test_that_runs_backwards_from_the_first_moment_on_makes_no_duration_negative(self):
        """Scenario 50: as under libfaketime, the clock is another before anything of ours is loaded."""
        script = """
import time
real, shift = time.time_ns, [0]
time.time_ns = lambda: real() + shift[0]
time.time = lambda: time.time_ns() / 1e9
from agenttrace import Tracer
tracer = Tracer("clock", store="memory")
hour = 3_600 * 10**9
for shift[0] in (hour, 0, -hour):
    with tracer.capture() as captured:
        with tracer.span("long"):
            shift[0] -= hour
    span, = captured.trace.spans
    print(0 <= span.duration_ns < hour)
"""
        done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=60)
        assert done.stdout.split() == ["True"] * 3, done.stderr

    def test_set_to_another_time_is_followed_by_the_traces_after_it(self, tracer, work, sink, monkeypatch):
        monkeypatch.setattr(identity, "_jumps", 0)
        monkeypatch.setattr(identity, "_anchor_ns", identity._anchor_ns)
        real, day = time.time_ns, 24 * 3_600 * 10**9
        work()
        tracer.flush()
        monkeypatch.setattr(time, "time_ns", lambda: real() + day)
        with tracer.span("between"):
            tracer.flush()
        until(lambda: tracer.stats()["clock_jumps"] == 1)
        work()
        tracer.flush()
        assert sink.spans[-1].start_ns - sink.spans[0].start_ns > day


_NO_DESCRIPTORS = """
import resource, sys
from agenttrace import Tracer
resource.setrlimit(resource.RLIMIT_NOFILE, (256, 256))
tracer = Tracer("p", store=sys.argv[1])
work = tracer.observe(lambda x: x)
leaked = []
try:
    while True:
        leaked.append(open("/dev/null"))
except OSError:
    pass
work(1)
print("done")
"""


@pytest.mark.skipif(sys.platform != "linux", reason="the C library's way to end a thread")
def test_a_process_without_descriptors_ends_as_it_would_without_us(tmp_path):
    ran = subprocess.run(
        [sys.executable, "-c", _NO_DESCRIPTORS, str(tmp_path / "traces.db")],
        capture_output=True, text=True, timeout=60, check=False,
    )  # fmt: skip
    assert (ran.returncode, ran.stdout) == (0, "done\n")
    assert "spans lost: 1" in ran.stderr
