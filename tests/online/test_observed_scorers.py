"""`observe(scorers=…)`: what every call of a function is evaluated with."""

import subprocess
import sys
import threading
import time

import pytest

from agenttrace import Score, Tracer
from agenttrace.core.errors import ExportError
from agenttrace.scoring.isolation import Isolation
from agenttrace.store import MemoryStore, SQLiteStore


class Good:
    name, threshold = "Good", 0.5

    def score(self, example, trace):
        return Score.of(self.name, 1.0, self.threshold)


class Slow(Good):
    def score(self, example, trace):
        time.sleep(0.05)
        return super().score(example, trace)


@pytest.fixture(params=["memory", "sqlite"])
def store(request, tmp_path):
    return MemoryStore() if request.param == "memory" else SQLiteStore(tmp_path / "traces.db")


@pytest.fixture
def tracer(store):
    tracer = Tracer("observed", store=store)
    yield tracer
    tracer.shutdown()


def evaluations(tracer):
    return tracer.stats()["evaluations"]


def scored(tracer):
    traces = tracer.store.traces(limit=1_000)
    return sum(len(tracer.store.scores(trace.trace_id)) for trace in traces)


def test_who_waits_waits_also_for_what_is_still_to_be_asked(tracer):
    describe = tracer.observe(scorers=[Slow()])(lambda number: number)
    for round_ in range(1, 4):
        for number in range(10):
            describe(number)
        assert tracer.wait_for_evaluations(60)
        assert evaluations(tracer)["scored"] == scored(tracer) == 10 * round_


def test_who_waits_without_a_limit_waits_for_them_too(tracer):
    tracer.observe(scorers=[Slow()])(lambda: 1)()
    assert tracer.wait_for_evaluations()
    assert scored(tracer) == 1


def test_of_threads_that_trace_and_wait_each_finds_its_own_scored(tracer):
    describe = tracer.observe(scorers=[Good()])(lambda number: tracer.current_span().trace_id)
    missing = []

    def service(number):
        for _ in range(5):
            trace_id = describe(number)
            if not tracer.wait_for_evaluations(20) or not tracer.store.scores(trace_id):
                missing.append(trace_id)

    threads = [threading.Thread(target=service, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert missing == []


def test_a_store_that_cannot_be_written_makes_waiting_untrue(tmp_path):
    path = tmp_path / "traces.db"
    tracer = Tracer("observed", store=path)
    describe = tracer.observe(scorers=[Good()])(lambda: 1)
    path.mkdir()
    describe()
    assert not tracer.wait_for_evaluations(5)
    path.rmdir()
    assert tracer.flush()
    assert tracer.wait_for_evaluations(60)
    assert scored(tracer) == 1
    tracer.shutdown()


def test_a_store_that_refuses_for_longer_than_the_limit_makes_waiting_untrue():
    store = MemoryStore()
    tracer = Tracer("observed", store=store)
    describe = tracer.observe(scorers=[Good()])(lambda: 1)
    write = store.write

    def refuse(batch):
        raise ExportError("not now")

    store.write = refuse
    describe()
    assert not tracer.wait_for_evaluations(0.3)
    store.write = write
    assert tracer.wait_for_evaluations(60)
    assert evaluations(tracer)["scored"] == 1
    tracer.shutdown()


def test_a_span_that_the_store_refuses_leaves_its_neighbours_evaluations_alone():
    store = MemoryStore()
    tracer = Tracer("observed", store=store)
    describe = tracer.observe(scorers=[Good()])(lambda number: number)
    write = store.write

    def picky(batch):
        if any(span.input == {"number": 3} for span in batch.spans):
            raise ValueError("poison")
        write(batch)

    store.write = picky
    for number in range(6):
        describe(number)
    tracer.wait_for_evaluations(10)
    assert tracer.stats()["dropped"]["rejected"] == 1
    assert evaluations(tracer)["asked"] == 6
    tracer.shutdown()


def test_who_waits_inside_a_call_waits_for_what_has_ended(tracer):
    describe = tracer.observe(scorers=[Slow()])(lambda: 1)
    answers = []

    @tracer.observe(scorers=[Good()])
    def agent():
        handle = tracer.async_evaluate([Good()], actual_output="x")
        describe()
        began = time.monotonic()
        answers.append(tracer.wait_for_evaluations(30))
        answers.append(time.monotonic() - began < 20)
        answers.append(evaluations(tracer)["scored"])
        return handle

    handle = agent()
    assert answers == [True, True, 1]
    assert handle.result(60)[0].outcome == "passed"
    assert tracer.wait_for_evaluations(60)
    assert evaluations(tracer)["scored"] == 3


def test_who_waits_on_the_writers_own_thread_does_not_hang(store):
    answers = []

    class Waits:
        def export(self, spans):
            answers.append(tracer.wait_for_evaluations(0.2))

        def flush(self, timeout):
            return True

        def close(self):
            pass

    tracer = Tracer("observed", store=store, exporters=[Waits()])
    describe = tracer.observe(scorers=[Good()])(lambda: 1)
    for _ in range(3):
        describe()
    assert tracer.wait_for_evaluations(60)
    assert answers
    assert scored(tracer) == 3
    tracer.shutdown()


def test_a_shutdown_leaves_nothing_unsaid(store):
    tracer = Tracer("observed", store=store, drain_seconds=0.0)
    gate = threading.Event()

    class Blocked(Good):
        def score(self, example, trace):
            gate.wait(20)
            return super().score(example, trace)

    describe = tracer.observe(scorers=[Blocked()])(lambda: 1)
    for _ in range(30):
        describe()
    assert tracer.shutdown(10)
    gate.set()
    assert len(store.pending_evaluations("observed")) == evaluations(tracer)["pending"] == 30


def test_what_is_asked_after_the_end_is_pending(store):
    """As by a thread that goes on when the evaluator was closed already."""
    tracer = Tracer("observed", store=store)
    describe = tracer.observe(scorers=[Good()])(lambda: 1)
    tracer._online.close()
    describe()
    describe()
    tracer.flush()
    assert len(store.pending_evaluations("observed")) == evaluations(tracer)["pending"] == 2
    assert not tracer.wait_for_evaluations(5)
    later = Tracer("observed", store=store)
    assert [handle.result(60)[0].outcome for handle in later.resume_evaluations([Good()])] == ["passed"] * 2
    later.shutdown()
    tracer.shutdown()


@pytest.mark.parametrize("threads", [0, 1])
def test_where_python_starts_no_more_threads_at_the_end_what_is_not_done_is_pending(
    store, monkeypatch, threads, caplog
):
    """Python 3.12 refuses them as soon as the main thread has ended."""
    tracer = Tracer("observed", store=store)
    describe = tracer.observe(scorers=[Good()])(lambda: 1)
    run, used = Isolation._on_thread, []

    def refuses(self, call):
        if len(used) >= threads:
            raise RuntimeError("can't create new thread at interpreter shutdown")
        used.append(call)
        try:
            return (yield from run(self, call))
        finally:
            used.remove(call)

    monkeypatch.setattr(Isolation, "_on_thread", refuses)
    monkeypatch.setattr(threading, "_SHUTTING_DOWN", True)
    for _ in range(10):
        describe()
    tracer.flush()
    began = time.monotonic()
    tracer._online.close(20)
    assert time.monotonic() - began < 15
    counts = evaluations(tracer)
    assert (counts["scored"] + counts["pending"], counts["errored"]) == (10, 0)
    assert (scored(tracer), len(store.pending_evaluations("observed"))) == (
        counts["scored"],
        counts["pending"],
    )
    assert bool(counts["scored"]) == bool(threads)
    assert caplog.text == ""
    tracer.shutdown()


class Panic(BaseException):
    """As a library that is written in Rust raises it."""


@pytest.mark.parametrize("kind", [SystemExit, KeyboardInterrupt, Panic])
def test_a_judge_whose_model_cannot_be_set_whatever_it_raises_spoils_no_other(tracer, kind):
    class Judge(Good):
        name = "Judge"

        def with_model(self, model):
            if threading.current_thread() is threading.main_thread():  # where it is asked for: all is well
                return self
            raise kind

    with tracer.span("answer"):
        handle = tracer.async_evaluate([Judge(), Good()], actual_output="a", model="any")
        after = tracer.async_evaluate([Good()], actual_output="a")
    assert [score.outcome for score in handle.result(60)] == ["errored", "passed"]
    assert after.result(60)[0].outcome == "passed"


def test_observing_starts_nothing_and_loads_nothing_heavy():
    code = """
import sys, threading
from agenttrace import Tracer

class Good:
    name, threshold = "Good", 0.5
    def score(self, example, trace):
        raise NotImplementedError

tracer = Tracer("observed", store="memory")
tracer.observe(scorers=[Good()])(lambda: 1)
print(threading.active_count(), sorted({"asyncio", "pydantic", "httpx", "rich", "jinja2"} & set(sys.modules)))
"""
    process = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert (process.stdout.strip(), process.stderr) == ("1 []", "")
