"""The running call follows threads and executors, and nothing else changes for them."""

import asyncio
import inspect
import multiprocessing.pool
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest
from stored import stored, tree

from agenttrace.tracer import Tracer
from agenttrace.tracing import threads
from agenttrace.tracing.context import current, propagate
from agenttrace.tracing.threads import follow_threads, leave_threads


@pytest.fixture
def work(tracer):
    return tracer.observe(lambda n=0: n, name="work")


def joined(thread):
    thread.start()
    thread.join()


class TestFollowing:
    def test_a_thread_has_the_call_that_started_it_as_parent(self, tracer, work):
        with tracer.capture() as captured, tracer.span("agent"):
            joined(threading.Thread(target=work))
            timer = threading.Timer(0, work)
            joined(timer)
        assert tree(captured.trace.spans) == {"agent": None, "work": "agent"}
        assert len(captured.trace) == 3

    def test_a_thread_that_overrides_run_is_followed(self, tracer, work):
        class Own(threading.Thread):
            def run(self):
                work(1)

        with tracer.capture() as captured, tracer.span("agent"):
            joined(Own())
        assert tree(captured.trace.spans)["work"] == "agent"

    def test_a_run_set_on_the_thread_itself_is_kept(self, tracer, work):
        thread = threading.Thread()
        thread.run = own = lambda: work(1)
        with tracer.capture() as captured:
            joined(thread)
        assert len(captured.trace) == 1
        assert thread.run is own

    def test_each_task_of_a_pool_has_the_call_that_submitted_it(self, tracer, work):
        with ThreadPoolExecutor(1) as pool, tracer.capture() as captured:
            for name in ("first", "second"):
                with tracer.span(name):
                    pool.submit(work, name).result()
                    list(pool.map(work, [name]))
            pool.submit(work, "outside").result()
        spans = {span.span_key: span for span in captured.trace.spans}
        parents = {
            (s.input["n"], spans[s.parent_key].name if s.parent_key in spans else None)
            for s in captured.trace.spans
            if s.name == "work"
        }
        assert parents == {("first", "first"), ("second", "second"), ("outside", None)}

    def test_an_executor_of_a_loop_is_followed(self, tracer, work):
        async def main():
            with tracer.span("agent"):
                await asyncio.get_running_loop().run_in_executor(None, work)

        with tracer.capture() as captured:
            asyncio.run(main())
        assert tree(captured.trace.spans) == {"agent": None, "work": "agent"}

    def test_a_thread_without_any_call_records_a_trace_of_its_own(self, tracer, work):
        """Scenario 41: 20 of 20."""
        with ThreadPoolExecutor(4) as pool:
            list(pool.map(work, range(20)))
        assert sorted(span.input["n"] for span in stored(tracer)) == list(range(20))
        assert len({span.trace_key for span in stored(tracer)}) == 20

    def test_an_older_kind_of_pool_does_not_keep_the_call_that_made_it(self, tracer, work):
        with tracer.span("agent"):
            pool = multiprocessing.pool.ThreadPool(2)
        with pool:
            pool.map(work, range(3))
        pool.join()
        assert {span.parent_key for span in stored(tracer) if span.name == "work"} == {None}

    def test_the_context_of_the_one_who_starts_is_not_changed(self, tracer):
        with tracer.span("agent"):
            before = current.get()
            joined(threading.Thread(target=lambda: current.set(None)))
            assert current.get() is before


class TestTransparency:
    def test_exceptions_and_results_pass(self, tracer):
        def fails():
            raise LookupError("in the pool")

        with tracer.span("agent"), ThreadPoolExecutor(1) as pool:
            assert pool.submit(lambda a, *, b: (a, b), 1, b=2).result() == (1, 2)
            with pytest.raises(LookupError, match="in the pool"):
                pool.submit(fails).result()

    @pytest.mark.parametrize("kind", ["property", "guarded", "delegating", "recursing", "reserved"])
    def test_a_thread_starts_whatever_its_class_does_with_attributes(self, tracer, kind):
        ran = []

        class Property(threading.Thread):
            @property
            def run(self):
                return lambda: ran.append(kind)

        class Guarded(threading.Thread):
            def __setattr__(self, name, value):
                if name == "run":
                    raise AttributeError("run is ours")
                super().__setattr__(name, value)

            def run(self):
                ran.append(kind)

        class Delegating(Guarded):
            def __getattr__(self, name):
                raise LookupError(name)

        class Recursing(Guarded):
            def __getattr__(self, name):
                return getattr(self, name + "_")

        class Reserved(Guarded):
            def __getattribute__(self, name):
                if name == "__dict__":
                    raise SystemExit("the dictionary was read")
                return super().__getattribute__(name)

        kinds = {cls.__name__.lower(): cls for cls in (Property, Guarded, Delegating, Recursing, Reserved)}
        with tracer.span("agent"):
            joined(kinds[kind]())
        assert ran == [kind]

    def test_a_thread_that_could_not_start_can_be_started_again(self, tracer, work, monkeypatch):
        def refuse(*_, **__):
            raise RuntimeError("can't start new thread")

        thread = threading.Thread(target=work)
        with tracer.capture() as captured:
            with monkeypatch.context() as patch:
                patch.setattr(threads, "_thread_start", refuse)
                with pytest.raises(RuntimeError, match="can't start"):
                    thread.start()
            joined(thread)
        assert len(captured.trace) == 1

    def test_a_second_start_gives_pythons_own_error(self, tracer):
        with tracer.span("agent"):
            thread = threading.Thread(target=int)
            joined(thread)
            with pytest.raises(RuntimeError, match="threads can only be started once"):
                thread.start()

    def test_what_inspect_says_stays(self, tracer):
        assert threading.Thread.start.__name__ == "start"
        assert list(inspect.signature(ThreadPoolExecutor.submit).parameters) == [
            "self",
            "fn",
            "args",
            "kwargs",
        ]


class TestSwitch:
    @pytest.fixture(autouse=True)
    def put_back(self):
        yield
        follow_threads()

    def test_can_be_undone_and_done_again(self, tracer, work):
        leave_threads()
        assert threading.Thread.start is not threads._start
        with tracer.capture() as captured, tracer.span("agent"):
            joined(threading.Thread(target=work))
        assert tree(captured.trace.spans) == {"agent": None}
        follow_threads()
        with tracer.capture() as captured, tracer.span("agent"):
            joined(threading.Thread(target=work))
        assert tree(captured.trace.spans) == {"agent": None, "work": "agent"}

    def test_is_left_off_by_a_tracer_that_does_not_want_it(self):
        leave_threads()
        Tracer("quiet", store="memory", context_in_threads=False).shutdown()
        assert threading.Thread.start is not threads._start
        Tracer("off", store="memory", enabled=False).shutdown()
        assert threading.Thread.start is not threads._start
        Tracer("follows", store="memory").shutdown()
        assert threading.Thread.start is threads._start

    def test_a_patch_on_top_of_ours_is_not_removed_nor_doubled(self, tracer, work, monkeypatch):
        ours = threading.Thread.start

        def theirs(self):
            return ours(self)

        monkeypatch.setattr(threading.Thread, "start", theirs)
        leave_threads()
        assert threading.Thread.start is theirs
        follow_threads()
        assert threading.Thread.start is theirs
        joined(threading.Thread(target=work))


class TestPropagate:
    def test_carries_the_running_call_anywhere(self, tracer, work):
        leave_threads()
        try:
            with tracer.capture() as captured, tracer.span("agent"):
                joined(threading.Thread(target=propagate(work)))
        finally:
            follow_threads()
        assert tree(captured.trace.spans) == {"agent": None, "work": "agent"}

    def test_carries_none_where_none_runs(self, tracer, work):
        carried = propagate(work)
        with tracer.capture() as captured, tracer.span("agent"):
            carried()
        assert tree(captured.trace.spans) == {"agent": None}

    def test_keeps_name_result_and_exception(self, tracer):
        def fails(a, *, b):
            raise LookupError((a, b))

        carried = propagate(fails)
        assert carried.__name__ == "fails"
        with pytest.raises(LookupError):
            carried(1, b=2)
        assert current.get() is None
