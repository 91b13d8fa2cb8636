import asyncio
import subprocess
import sys
import time
from contextlib import contextmanager
from contextvars import copy_context
from functools import partial

import pytest

from agenttrace.process.loop_thread import LoopKeeper
from agenttrace.process.threads import DaemonExecutor
from agenttrace.scoring.isolation import Call, Isolation, carried, is_async


async def coroutine():
    return 1


async def async_generator():
    yield 1


class AsyncCallable:
    async def __call__(self):
        return 1

    async def method(self):
        return 1


@pytest.mark.parametrize(
    "function", [coroutine, async_generator, AsyncCallable(), AsyncCallable().method, partial(coroutine)]
)
def test_async_callables_are_recognised(function):
    assert is_async(function)


@pytest.mark.parametrize("function", [len, lambda: coroutine(), AsyncCallable, str.upper, partial(len, "x")])
def test_plain_callables_are_not_taken_for_async_ones(function):
    assert not is_async(function)


@contextmanager
def isolated():
    threads, loops = DaemonExecutor(), LoopKeeper()
    isolation = Isolation(threads, loops.loop)
    try:
        yield isolation
    finally:
        isolation.close()
        threads.shutdown()
        loops.close()


def outcomes_of(*functions, timeout=60.0):
    async def run():
        with isolated() as isolation:
            calls = [Call(function, (), {}, copy_context(), timeout) for function in functions]
            return [await carried(isolation.run(call)) for call in calls]

    return asyncio.run(run())


def test_a_thread_is_used_again_but_not_one_that_was_left_behind():
    from threading import Event, get_ident

    release = Event()
    first, second, late, after = outcomes_of(
        get_ident, get_ident, partial(release.wait, 60), get_ident, timeout=2
    )
    release.set()
    assert first.value == second.value
    assert late.timed_out
    assert after.value != first.value


def test_durations_are_those_of_the_calls():
    (outcome,) = outcomes_of(partial(time.sleep, 0.02))
    assert outcome.duration >= 0.02


def test_without_a_timeout_a_call_takes_its_time():
    (outcome,) = outcomes_of(lambda: 1, timeout=None)
    assert outcome.value == 1


@pytest.mark.faults
@pytest.mark.parametrize("agent", ["def agent():", "async def agent():"])
def test_agents_left_behind_do_not_keep_the_process(tmp_path, agent):
    program = f"""
import time
from agenttrace import Example, ExecutionOrderScorer, run_evaluation
{agent}
    time.sleep(120)
report = run_evaluation(
    [Example(expected_output=[])] * 3, [ExecutionOrderScorer()], function=agent, timeout=0.1, concurrency=3
)
print(report.counts)
"""
    ran = subprocess.run(
        [sys.executable, "-X", "faulthandler", "-c", program],
        capture_output=True,
        text=True,
        timeout=100,
        cwd=tmp_path,
    )
    assert ran.stdout == "{'passed': 0, 'failed': 3, 'errored': 0}\n", ran.stderr
    assert ran.stderr == ""
    assert ran.returncode == 0
