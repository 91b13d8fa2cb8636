# ruff: noqa: PT012, SIM117 - it is the end of a simulation's block that raises
"""Where a simulation holds: tasks, threads, nested blocks, untraced calls; and where it does not."""

import asyncio
import contextvars
import copy
import functools
import gc
import os
import pickle
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from agenttrace import Tracer, propagate
from agenttrace.core.errors import ConfigError, SimulationError
from agenttrace.simulation import Simulation, cases, raises, real, sequence, when
from agenttrace.tracing import stand_in
from agenttrace.tracing.stand_in import StandIn


def function_in(wrapper):
    return stand_in._cells(wrapper)["_at_function"].cell_contents


def in_thread(call):
    results = []
    thread = threading.Thread(target=lambda: results.append(call()))
    thread.start()
    thread.join()
    return results[0]


def test_it_follows_threads_and_executors(tracer, desk):
    with tracer.simulate({"search": 7}):
        assert in_thread(lambda: desk.search("x")) == 7
        with ThreadPoolExecutor(1) as pool:
            assert pool.submit(desk.search, "x").result() == 7
            assert list(pool.map(desk.search, ["x", "y"])) == [7, 7]
        carried = propagate(desk.search)
    assert carried("x") == 7
    assert desk.ran == []


def test_a_pools_thread_forgets_it_with_the_task(tracer, desk):
    with ThreadPoolExecutor(1) as pool:
        with tracer.simulate({"search": 7}):
            assert pool.submit(desk.search, "x").result() == 7
        assert pool.submit(desk.search, "x").result() == "really x"


def test_it_follows_threads_of_a_tracer_whose_calls_do_not(desk):
    quiet = Tracer("quiet", store="memory", context_in_threads=False)
    with quiet.simulate({"search": 7}):
        assert in_thread(lambda: desk.search("x")) == 7
    quiet.shutdown()


def test_it_follows_tasks_and_holds_nowhere_else(tracer, desk):
    async def one(value):
        with tracer.simulate({"book": value}):
            await asyncio.sleep(0)
            many = await asyncio.gather(*(desk.book("Ritz") for _ in range(3)))
            return [*many, await asyncio.to_thread(asyncio.run, desk.book("Ritz"))]

    async def agent():
        return await asyncio.gather(one(1), one(2), desk.book("Savoy"))

    assert asyncio.run(agent()) == [[1] * 4, [2] * 4, "really Savoy"]


def test_other_threads_are_not_simulated_at_the_same_time(tracer, desk):
    inside, done, seen = threading.Event(), threading.Event(), []

    def other():
        inside.wait(60)
        seen.append(desk.search("x"))
        done.set()

    thread = threading.Thread(target=other)
    thread.start()
    with tracer.simulate({"search": 7}):
        inside.set()
        assert done.wait(60)
        assert desk.search("x") == 7
    thread.join()
    assert seen == ["really x"]


def test_the_inner_of_two_answers_first_and_its_real_tool_is_the_outers_answer(tracer, desk):
    with tracer.simulate({"search": "outer", "pages": ["outer"]}):
        with tracer.simulate({"search": sequence("inner", real())}):
            assert desk.search("x") == "inner"
            assert desk.search("x") == "outer"
            assert list(desk.pages("x")) == ["outer"]
        assert desk.search("x") == "outer"
    assert desk.ran == []


def test_a_task_that_outlives_the_block_is_still_simulated(tracer, desk):
    async def agent():
        go = asyncio.Event()

        async def late():
            await go.wait()
            return await desk.book("Ritz")

        with tracer.simulate({"book": 7}):
            task = asyncio.create_task(late())
            await asyncio.sleep(0)
        go.set()
        return await task, await desk.book("Ritz")

    assert asyncio.run(agent()) == (7, "really Ritz")


def test_wrappers_are_as_before_once_no_simulation_is_left(tracer, desk):
    with tracer.simulate({"search": 7}):
        assert type(function_in(desk.search)) is StandIn
    gc.collect()
    assert desk.search("x") == "really x"
    assert function_in(desk.search) is desk.search.__wrapped__


def test_calls_outside_every_trace_and_those_that_are_not_recorded_are_simulated(desk):
    for options in ({"sample_rate": 0.0}, {"enabled": True}):
        tracer = Tracer("other", store="memory", **options)

        @tracer.observe(span_type="tool")
        def send(to):
            raise AssertionError("really")

        with Tracer("off", store="memory", enabled=False).simulate({"send": 7, "search": 8}):
            assert (send("ann"), desk.search("x")) == (7, 8)
        with tracer.simulate({"send": 9}):
            tracer.shutdown()
            assert send("ann") == 9
    assert desk.ran == []


def test_a_function_that_was_left_untouched_cannot_be_simulated(tracer, monkeypatch):
    monkeypatch.setenv("AGENTTRACE_ENABLED", "0")

    @tracer.observe(span_type="tool")
    def untouched():
        """Answer nothing."""

    with pytest.raises(ConfigError, match="AGENTTRACE_ENABLED switches recording off"):
        with tracer.simulate({"untouched": 1}):
            raise AssertionError("the block ran")


def test_methods_of_every_kind_are_simulated(tracer):
    @tracer.observe_tools
    class Desk:
        def find(self, city, nights=1):
            raise AssertionError("really")

        @classmethod
        def count(cls, city):
            raise AssertionError("really")

        @staticmethod
        def price(city):
            raise AssertionError("really")

        async def reserve(self, city):
            raise AssertionError("really")

    answers = {
        "find": cases(when({"city": "Paris", "nights": 1}, "found")),
        "count": lambda city: city,
        "price": 3,
        "reserve": 4,
    }
    with tracer.simulate(answers) as run:
        assert Desk().find("Paris") == "found"
        assert (Desk.count("Rome"), Desk().count("Rome"), Desk.price("Rome")) == ("Rome", "Rome", 3)
        assert asyncio.run(Desk().reserve("Rome")) == 4
    assert run.calls[0].arguments == {"city": "Paris", "nights": 1}


def retried(function):
    @functools.wraps(function)
    def again(*args, **kwargs):
        return function(*args, **kwargs)

    return again


def test_callables_that_are_no_plain_functions_are_simulated(tracer):
    class Finder:
        async def __call__(self, city):
            raise AssertionError("really")

    @tracer.observe(span_type="tool")
    @retried
    def search(city):
        raise AssertionError("really")

    @tracer.observe(span_type="tool")
    @retried
    async def fetch(city):
        raise AssertionError("really")

    class Shop:
        @tracer.observe(span_type="tool")
        @retried
        def buy(self, item):
            raise AssertionError("really")

    finder = tracer.observe(span_type="tool")(Finder())
    part = tracer.observe(span_type="tool", name="part")(functools.partial(search.__wrapped__, "Paris"))
    paris = cases(when({"city": "Paris"}, 7))
    answers = {"search": paris, "Finder": paris, "part": 8, "fetch": paris, "buy": lambda item: item}
    with tracer.simulate(answers):
        assert search("Paris") == 7
        assert Shop().buy("tea") == "tea"
        assert part() == 8

        async def agent():
            return await finder("Paris"), await fetch("Paris"), await asyncio.gather(fetch("Paris"))

        assert asyncio.run(agent()) == (7, 7, [7])


def test_pickled_and_copied_tools_are_simulated(tracer, desk):
    same = pickle.loads(pickle.dumps(module_tool))
    part = copy.deepcopy(tracer.observe(span_type="tool", name="copied")(functools.partial(str.upper, "a")))
    with tracer.simulate({"module_tool": 7, "copied": 8}):
        assert (same("x"), module_tool("x"), part()) == (7, 7, 8)


_module_tracer = Tracer("module", store="memory")


@_module_tracer.observe(span_type="tool")
def module_tool(city):
    """Answer nothing."""
    raise AssertionError("really")


def test_cloudpickle_takes_a_tool_without_its_simulation(tracer):
    cloudpickle = pytest.importorskip("cloudpickle")

    @tracer.observe(span_type="tool")
    def local(city):
        return f"really {city}"

    with tracer.simulate({"local": 7}):
        pickled = cloudpickle.dumps(local)
    assert pickle.loads(pickled)("x") == "really x"


def test_recursion_inside_a_real_tool_is_simulated_again(tracer):
    @tracer.observe(span_type="tool")
    def down(n):
        return [n, down(n - 1)]

    with tracer.simulate({"down": cases(when({"n": 3}, real()), when({"n": 2}, real()), otherwise="end")}):
        assert down(3) == [3, [2, "end"]]


def test_an_abandoned_generator_leaves_nothing_behind(tracer, desk):
    with tracer.capture() as captured, tracer.simulate({"pages": ["a", "b"], "news": ["a", "b"]}):
        stream = desk.pages("x")
        assert next(stream) == "a"
        stream.close()
        never = desk.pages("never begun")
        del never

        async def agent():
            async for _ in desk.news("x"):
                return

        asyncio.run(agent())
        gc.collect()
    statuses = [span.status for span in captured.trace.spans]
    assert statuses == ["abandoned", "cancelled"]  # as those of the tools themselves would be


def test_a_stream_that_was_begun_inside_goes_on_outside(tracer, desk):
    with tracer.simulate({"pages": ["a", "b"]}):
        stream = desk.pages("x")
        assert next(stream) == "a"
    assert list(stream) == ["b"]
    assert list(desk.pages("x")) == ["really"]


def test_one_object_is_open_once_at_a_time(tracer, desk):
    simulation = tracer.simulate({"search": 7})
    with simulation:
        with pytest.raises(ConfigError, match="open already"), simulation:
            raise AssertionError("the block ran")
        assert desk.search("x") == 7
    with simulation:
        assert desk.search("x") == 7
    assert desk.search("x") == "really x"


def test_a_block_that_ends_in_another_context_ends(tracer, desk):
    simulation = tracer.simulate({"search": 7})
    contextvars.copy_context().run(simulation.__enter__)
    contextvars.copy_context().run(simulation.__exit__, None, None, None)
    assert desk.search("x") == "really x"


def test_a_function_of_the_same_name_is_simulated_too(tracer, desk):
    @tracer.observe(span_type="tool")
    def search(origin):
        raise AssertionError("really")

    with pytest.raises(SimulationError, match="origin='Paris'"):
        with tracer.simulate({"search": cases(when({"city": "Paris"}, 7))}):
            assert desk.search("Paris") == 7
            search("Paris")
    assert desk.ran == []


def test_many_threads_that_simulate_at_once_keep_apart(tracer, desk):
    barrier, wrong = threading.Barrier(8), []

    def work(number):
        barrier.wait(60)
        for turn in range(50):
            with Simulation({"search": (number, turn)}):
                if desk.search("x") != (number, turn):
                    wrong.append(number)
            if desk.search("x") != "really x":
                wrong.append(number)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []


def test_an_error_is_recorded_as_the_tools_own(tracer, desk):
    with tracer.capture() as captured, tracer.simulate({"search": raises(TimeoutError, "late")}):
        with pytest.raises(TimeoutError):
            desk.search("Paris")
    (call,) = captured.trace.tool_calls
    assert (call.error.type, call.error.message) == ("TimeoutError", "late")
    assert call.failed


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system cannot fork")
def test_a_forked_child_is_simulated_and_can_simulate(tracer, desk):
    with stand_in._lock, tracer.simulate({"search": 7}):
        child = os.fork()
        if child == 0:
            answers = [desk.search("x")]
            with tracer.simulate({"search": 8}):
                answers.append(desk.search("x"))
            os._exit(0 if answers == [7, 8] else 1)
        assert os.waitpid(child, 0)[1] == 0


def test_a_real_error_is_recorded_with_the_same_frames_while_another_tool_is_simulated(tracer, desk):
    @tracer.observe(span_type="tool")
    def fails():
        raise LookupError("no")

    def frames():
        with tracer.capture() as captured, pytest.raises(LookupError):
            fails()
        return [frame.function for frame in captured.trace.tool_calls[0].error.frames]

    kept_alive = tracer.simulate({"search": 7})
    before = frames()
    with kept_alive as run:
        outside = in_thread(lambda: contextvars.Context().run(frames))
        assert outside == before
        assert type(function_in(fails)) is StandIn
    del run


def test_tools_that_are_gone_are_forgotten_without_a_callback_that_a_full_stack_breaks(tracer, monkeypatch):
    monkeypatch.setattr(stand_in, "_room", [8])
    monkeypatch.setattr(stand_in, "_ROOM", 8)
    kept = [tracer.observe(name=f"kept {number}")(lambda: 1) for number in range(20)]
    for number in range(200):
        tracer.observe(name=f"gone {number}")(lambda: 1)
    gc.collect()
    assert [ref.__callback__ for ref in stand_in._wrappers.values()] == [None] * len(stand_in._wrappers)
    kept.append(tracer.observe(name="kept 20")(lambda: 1))
    with stand_in._lock:
        stand_in._forget_the_dead()
    assert {f"kept {number}" for number in range(21)} <= {one.name for one in stand_in.observed_functions()}
    assert len(stand_in._wrappers) < 100
