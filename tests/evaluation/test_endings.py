"""A run of an evaluation ends and keeps its results, whatever the user's code does to its threads."""

import asyncio
import os
import signal
import threading
import time
from concurrent.futures import Future, ThreadPoolExecutor

import pytest

from agenttrace.core.example import Example
from agenttrace.core.report import EvaluationInterrupted
from agenttrace.core.score import Score
from agenttrace.evaluation import run_evaluation
from tests.evaluation.evaluation_fakes import Answer, Does, MemoryResults, scored

GUARD = 60.0
"""Seconds after which a call that does not return has failed."""


def within_time(call):
    """What a call returns or raises, on a thread of its own; the test fails where it does not come back."""
    outcome = Future()

    def run():
        try:
            outcome.set_result(call())
        except BaseException as error:
            outcome.set_exception(error)

    threading.Thread(target=run, daemon=True).start()
    return outcome.result(GUARD)


def doubles(count):
    return [Example(input={"x": n}, expected_output=2 * n, name=f"n{n}") for n in range(count)]


def double(x):
    return 2 * x


def outcomes(report):
    return [result.outcome for result in report]


class GivesUp(BaseException):
    """What a library raises that must not be caught by ``except Exception``."""


@pytest.mark.parametrize(
    "kind",
    [OSError, SystemExit, GivesUp, asyncio.CancelledError, GeneratorExit],
    ids=lambda kind: kind.__name__,
)
def test_a_broken_display_loses_no_result_and_is_told_of_once(tracer, caplog, kind):
    heard = []

    def progress(done, total, result):
        heard.append(done)
        raise kind("no terminal")

    tracer.store = MemoryResults()
    report = within_time(
        lambda: run_evaluation(doubles(5), [Answer()], function=double, tracer=tracer, progress=progress)
    )
    assert outcomes(report) == ["passed"] * 5
    assert len(tracer.store.reports[0]) == 5
    assert heard == [1]
    assert caplog.text.count("is not called again") == 1


def test_a_display_that_raises_keyboard_interrupt_ends_the_run_as_control_c_does(tracer):
    def progress(done, total, result):
        if done == 3:
            raise KeyboardInterrupt

    tracer.store = MemoryResults()
    with pytest.raises(EvaluationInterrupted) as interruption:
        within_time(
            lambda: run_evaluation(doubles(50), [Answer()], function=double, tracer=tracer, progress=progress)
        )
    (report,) = tracer.store.reports
    assert report.metadata["interrupted"] is True
    assert report.metadata["not_run"] == 50 - len(report)
    assert 3 <= len(report) < 50
    assert interruption.value.report.run_id == report.run_id
    assert outcomes(interruption.value.report) == ["passed"] * len(report)


class Uncopyable:
    """Raises when it is copied."""

    def __init__(self, kind):
        self.kind = kind

    def __deepcopy__(self, memo):
        raise self.kind("not this one")


@pytest.mark.parametrize("kind", [ValueError, SystemExit, GivesUp, asyncio.CancelledError])
def test_a_value_whose_copy_ends_the_thread_is_passed_on_as_it_is(tracer, kind):
    value = Uncopyable(kind)
    seen = []
    examples = [Example(input={"x": value, "y": [1]}), Example(input={"x": 2, "y": [2]})]

    def agent(x, y):
        seen.append(x)
        y.append(0)
        return "done"

    report = within_time(
        lambda: run_evaluation(
            examples, [Does(lambda example, trace: scored(1.0))], function=agent, tracer=tracer
        )
    )
    assert outcomes(report) == ["passed", "passed"]
    assert seen == [value, 2]
    assert examples[0].input["y"] == [1]


def test_a_value_whose_copy_raises_keyboard_interrupt_ends_the_run(tracer):
    tracer.store = MemoryResults()
    examples = [*doubles(30), Example(input={"x": Uncopyable(KeyboardInterrupt)}), *doubles(1)]
    with pytest.raises(KeyboardInterrupt):
        within_time(lambda: run_evaluation(examples, [Answer()], function=double, tracer=tracer))
    (report,) = tracer.store.reports
    assert 1 <= len(report) <= 30
    assert all(result.success for result in report)


class HasNoTruth:
    """Breaks where the engine, on its own thread, asks whether it is there."""

    def __init__(self, kind):
        self.kind = kind

    def __bool__(self):
        raise self.kind("there is no telling")


@pytest.mark.parametrize("kind", [RuntimeError, SystemExit, GivesUp, asyncio.CancelledError])
def test_what_breaks_the_engine_on_one_example_spoils_no_other(tracer, kind):
    examples = doubles(5)
    examples[2].expected_tools = HasNoTruth(kind)
    report = within_time(lambda: run_evaluation(examples, [Answer()], function=double, tracer=tracer))
    assert outcomes(report) == ["passed", "passed", "errored", "passed", "passed"]
    broken = report[2]
    assert f"{kind.__name__}: there is no telling" in broken.error
    assert (broken.example.actual_output, broken.trace is not None) == (4, True)


def test_an_executor_that_raises_anything_errs_the_examples_it_was_given(tracer):
    class Leaves(ThreadPoolExecutor):
        submitted = 0

        def submit(self, *args, **kwargs):
            self.submitted += 1
            if self.submitted > 1:  # the first is a trial, before anything runs
                raise SystemExit("no more jobs")
            return super().submit(*args, **kwargs)

    with Leaves(1) as executor:
        report = within_time(
            lambda: run_evaluation(doubles(2), [Answer()], function=double, tracer=tracer, executor=executor)
        )
    assert outcomes(report) == ["errored", "errored"]
    assert "no more jobs" in report[0].error


def stops_the_loop(*_):
    asyncio.get_running_loop().stop()


def test_a_display_that_stops_the_event_loop_ends_nothing(tracer):
    report = within_time(
        lambda: run_evaluation(
            doubles(20), [Answer()], function=double, tracer=tracer, progress=stops_the_loop, concurrency=3
        )
    )
    assert outcomes(report) == ["passed"] * 20


@pytest.mark.parametrize("timeout", [5.0, None])
def test_an_async_agent_that_stops_its_event_loop_ends_nothing(tracer, timeout):
    async def agent(x):
        if x == 1:
            stops_the_loop()
        await asyncio.sleep(0.01)
        return 2 * x

    report = within_time(
        lambda: run_evaluation(
            doubles(6), [Answer()], function=agent, tracer=tracer, concurrency=3, timeout=timeout
        )
    )
    assert outcomes(report) == ["passed"] * 6


@pytest.mark.parametrize("kind", [SystemExit, KeyboardInterrupt])
def test_a_background_task_that_ends_the_event_loop_ends_no_other_call(tracer, caplog, kind):
    """Asyncio lets these two leave the loop that runs the task."""

    async def leaves():
        raise kind("enough")

    tasks = []

    async def agent(x):
        if x == 1:
            tasks.append(asyncio.create_task(leaves()))
        await asyncio.sleep(0.05)
        return 2 * x

    report = within_time(
        lambda: run_evaluation(doubles(6), [Answer()], function=agent, tracer=tracer, concurrency=3)
    )
    assert outcomes(report) == ["passed"] * 6
    assert "tried to end its thread" in caplog.text
    assert isinstance(tasks.pop().exception(), kind)


def test_an_async_scorer_that_stops_its_event_loop_spoils_no_later_one(tracer):
    """Online, where the loop lives as long as the tracer."""

    class Stops:
        name, threshold = "Stops", 0.5

        async def score(self, example, trace):
            stops_the_loop()
            return Score.of(self.name, 1.0, self.threshold)

    handles = []
    for _ in range(3):
        handles.append(tracer.async_evaluate([Stops()], Example(actual_output="x")))
        assert tracer.wait_for_evaluations(GUARD)
    assert [score.outcome for handle in handles for score in handle.result(GUARD)] == ["passed"] * 3


@pytest.mark.skipif(not hasattr(signal, "SIGUSR1"), reason="needs signals")
def test_what_was_finished_is_kept_when_a_signal_handler_leaves(tracer):
    """A service that is told to end raises SystemExit where it waits for the run."""

    def leaves(*_):
        raise SystemExit("told to end")

    def agent(x):
        if x == 20:
            os.kill(os.getpid(), signal.SIGUSR1)
            time.sleep(60)
        return 2 * x

    tracer.store = MemoryResults()
    before = signal.signal(signal.SIGUSR1, leaves)
    try:
        with pytest.raises(SystemExit, match="told to end"):
            run_evaluation(doubles(30), [Answer()], function=agent, tracer=tracer, timeout=GUARD)
    finally:
        signal.signal(signal.SIGUSR1, before)
    (report,) = tracer.store.reports
    assert report.metadata["interrupted"] is True
    assert report.metadata["not_run"] == 30 - len(report)
    assert 1 <= len(report) <= 20
    assert all(result.success for result in report)
