"""Agents that run in the worker processes of an executor: the same report, traces in the caller's store."""

import asyncio
import json
import multiprocessing
import os
import sys
import threading
from concurrent.futures import Executor, Future, ProcessPoolExecutor

import pytest

from agenttrace.core.errors import ConfigError
from agenttrace.core.example import Example
from agenttrace.core.report import EvaluationInterrupted
from agenttrace.evaluation import run_evaluation, run_evaluation_async
from agenttrace.scorers.state import StateScorer
from agenttrace.scorers.tool_order import ToolOrderScorer
from agenttrace.tracer import Tracer
from tests.evaluation import pool_agents
from tests.evaluation.evaluation_fakes import Answer

TIMES = (
    "created_at",
    "duration",
    "example_id",
    "id",
    "run_duration",
    "run_id",
    "spent",
    "started_ns",
    "trace_id",
)
METHODS = [method for method in ("fork", "spawn") if method in multiprocessing.get_all_start_methods()]


@pytest.fixture
def owner():
    """The tracer of the caller, in whose store everything lands."""
    with_secrets = Tracer("caller", store="memory")
    yield with_secrets
    with_secrets.shutdown()


@pytest.fixture(params=METHODS)
def pool(request):
    context = multiprocessing.get_context(request.param)
    with ProcessPoolExecutor(2, mp_context=context) as pool:
        yield pool


def searches(*inputs):
    return [
        Example(
            input=q,
            expected_output=q.upper(),
            expected_tools=[{"tool_name": "search", "arguments": {"q": q}}],
        )
        for q in inputs
    ]


def without_times(value):
    if isinstance(value, dict):
        return {key: without_times(item) for key, item in value.items() if key not in TIMES}
    if isinstance(value, list):
        return [without_times(item) for item in value]
    return value


def outcomes(report):
    return [result.outcome for result in report]


def evaluated(owner, executor, inputs, function=pool_agents.agent, **options):
    scorers = [ToolOrderScorer(), Answer()]
    return run_evaluation(
        searches(*inputs), scorers, function=function, tracer=owner, executor=executor, **options
    )


def test_the_report_is_that_of_threads_but_for_times_and_ids(owner, pool):
    inputs = ["a", "b", "raise", "huge", "c"]
    here = evaluated(owner, None, inputs, eval_run_name="same", concurrency=2)
    there = evaluated(owner, pool, inputs, eval_run_name="same", concurrency=2)
    assert outcomes(there) == ["passed", "passed", "failed", "failed", "passed"]
    assert without_times(there.to_dict()) == without_times(here.to_dict())
    spans = [[s.to_dict() for result in report for s in result.trace.spans] for report in (here, there)]
    moments = ("trace_id", "span_id", "parent_id", "start_ns", "end_ns", "duration_ms")
    bare = [[{key: one[key] for key in one if key not in moments} for one in part] for part in spans]
    assert json.dumps(bare[0]) == json.dumps(bare[1])


def test_the_traces_their_sessions_and_scores_land_in_the_store_of_the_caller(owner, pool):
    report = evaluated(owner, pool, ["a"])
    owner.flush()
    stored = owner.store.trace(report[0].trace_id)
    assert [span.name for span in stored.spans] == ["agent", "search"]
    assert stored.session_id == "session of a"
    assert {span.project for span in stored.spans} == {"caller"}
    by_span = {(span_id, score.name) for span_id, score in owner.store.scores(stored.trace_id)}
    assert (stored.spans[0].span_id, "Confidence") in by_span
    assert (None, "Tool Order") in by_span
    assert len(owner.store.traces()) == 1


def test_agents_run_in_other_processes_coroutines_too(owner, pool):
    there = run_evaluation(
        [Example(input="a")], [Answer()], function=pool_agents.where, tracer=owner, executor=pool
    )
    assert there[0].example.actual_output != os.getpid()
    assert evaluated(owner, pool, ["a"], pool_agents.async_agent).passed


def test_it_is_the_same_on_the_loop_of_the_caller(owner, pool):
    examples, options = searches("a", "b"), {"function": pool_agents.agent, "tracer": owner, "executor": pool}
    report = asyncio.run(run_evaluation_async(examples, [ToolOrderScorer()], **options))
    assert report.passed


def test_an_agent_that_is_late_fails_its_example_as_it_does_on_threads(owner, pool):
    report = evaluated(owner, pool, ["hang", "a"], timeout=3)
    assert outcomes(report) == ["failed", "passed"]
    assert "agent did not return within its timeout of 3 s" in report[0].error
    assert "time.sleep(20)" in report[0].error


def test_a_keyboard_interrupt_there_ends_the_run_here(owner, pool):
    with pytest.raises(EvaluationInterrupted) as interruption:
        evaluated(owner, pool, ["a", "interrupt", "b"])
    assert outcomes(interruption.value.report) == ["passed"]


def test_a_worker_that_dies_is_said_of_its_example_and_the_rest_is_not_run(owner):
    with ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn")) as pool:
        report = evaluated(owner, pool, ["a", "die", "b", "c"])
    assert outcomes(report) == ["passed", "errored", "not_run", "not_run"]
    assert "the executor gave no result of agent" in report[1].error
    assert "BrokenProcessPool" in report[1].error
    assert "the executor takes no more runs" in report[3].error


def test_trials_and_limits_hold_across_processes(owner, pool):
    assert len(evaluated(owner, pool, ["a", "b"], trials=2, concurrency=2)) == 4
    stopped = evaluated(owner, pool, ["raise", "a", "b"], stop_after=1)
    assert outcomes(stopped) == ["failed", "not_run", "not_run"]


def test_what_cannot_be_pickled_is_said_before_any_agent_runs(owner, pool, monkeypatch):
    monkeypatch.setitem(sys.modules, "cloudpickle", None)
    lock = threading.Lock()
    with pytest.raises(ConfigError, match=r"the function cannot be pickled.*pip install cloudpickle"):
        evaluated(owner, pool, ["a"], function=lambda q: lock)
    report = run_evaluation(
        [Example(input={"q": threading.Lock()})],
        [Answer()],
        function=pool_agents.agent,
        tracer=owner,
        executor=pool,
    )
    assert outcomes(report) == ["errored"]
    assert "the input" in report[0].error
    assert "cannot be pickled" in report[0].error


def test_a_closure_goes_there_with_cloudpickle(owner, pool):
    pytest.importorskip("cloudpickle", reason="cloudpickle is not installed")
    suffix = "!"
    report = run_evaluation(
        [Example(input="a", expected_output="a!")],
        [Answer()],
        function=lambda q: q + suffix,
        tracer=owner,
        executor=pool,
    )
    assert report.passed


def test_a_secret_is_compared_though_another_process_recorded_it(owner, pool):
    example = Example(
        input="a", expected_tools=[{"tool_name": "search", "arguments": {"q": "a", "password": "hunter2"}}]
    )
    report = run_evaluation(
        [example], [ToolOrderScorer()], function=pool_agents.agent, tracer=owner, executor=pool
    )
    assert report.passed
    assert "hunter2" not in json.dumps(report[0].trace.to_dict())


class _Other:
    """What runs calls, and is no Executor: its futures are of a kind of its own."""

    def __init__(self, pool):
        self.pool = pool

    def submit(self, function, *arguments):
        return _OtherFuture(self.pool.submit(function, *arguments))


class _OtherFuture:
    def __init__(self, future):
        self._future = future

    def add_done_callback(self, call):
        self._future.add_done_callback(lambda _: call(self))

    def result(self, timeout=None):
        return self._future.result(timeout)


def test_any_pool_with_submit_will_do(owner, pool):
    assert evaluated(owner, _Other(pool), ["a"]).passed


def test_an_executor_that_runs_calls_at_once_runs_them_here(owner):
    class AtOnce(Executor):
        def submit(self, function, /, *args, **kwargs):
            future = Future()
            future.set_result(function(*args, **kwargs))
            return future

    ran = []
    run_evaluation([Example(input="a")], [Answer()], function=ran.append, tracer=owner, executor=AtOnce())
    assert ran == ["a"]


def test_a_pool_whose_futures_cannot_be_waited_for_is_told_at_once(owner):
    class NoFutures:
        def submit(self, function, *arguments):
            return 4

    with pytest.raises(ConfigError, match="returns int, which is no future"):
        evaluated(owner, NoFutures(), ["a"])


def test_four_workers_of_dask_give_the_report_of_threads(owner):
    distributed = pytest.importorskip("distributed", reason="dask.distributed is not installed")
    inputs = [f"q{number}" for number in range(40)] + ["raise", "huge"]
    here = evaluated(owner, None, inputs, eval_run_name="same", concurrency=4)
    with (
        distributed.LocalCluster(
            n_workers=4, threads_per_worker=1, host="127.0.0.1", dashboard_address=None
        ) as cluster,
        distributed.Client(cluster) as client,
        client.get_executor() as executor,
    ):
        there = evaluated(owner, executor, inputs, eval_run_name="same", concurrency=4)
    assert without_times(there.to_dict()) == without_times(here.to_dict())


class TestStates:
    def test_that_the_agent_registers_are_read_in_its_process(self, owner, pool):
        example = Example(input="tea", expected_state={"orders": {"added": {"0": "tea"}}})
        report = run_evaluation(
            [example], [StateScorer()], function=pool_agents.keeps_orders, executor=pool, tracer=owner
        )
        assert report.passed, report.summary()

    def test_of_the_callers_tracer_are_not_told_to_be_what_they_are_here(self, owner, pool):
        owner.state("orders", [])
        example = Example(input="tea", expected_state={"orders": {"only": True}})
        report = run_evaluation(
            [example], [StateScorer()], function=pool_agents.agent, executor=pool, tracer=owner
        )
        assert report.counts["errored"] == 1
        assert "the agent ran in another process" in report[0].scores[0].error


class TestSimulation:
    """No real tool runs by mistake: what answers in this process answers in no other."""

    def test_of_an_evaluation_is_refused_before_any_agent_runs(self, owner, pool):
        with pytest.raises(ConfigError, match="the real tools would be called"):
            run_evaluation(
                searches("a"),
                [ToolOrderScorer()],
                function=pool_agents.agent,
                executor=pool,
                tracer=owner,
                simulate={"search": "simulated"},
            )

    def test_of_a_block_is_refused_too(self, owner, pool):
        with owner.simulate({"search": "simulated"}), pytest.raises(ConfigError, match="in this process"):
            run_evaluation(
                searches("a"), [ToolOrderScorer()], function=pool_agents.agent, executor=pool, tracer=owner
            )
