import asyncio
import logging
import os
import queue
import signal
import subprocess
import sys
import threading
from concurrent.futures import wait
from contextvars import copy_context

import pytest

from agenttrace.process.loop_thread import LoopThread


def test_closing_cancels_what_is_left_and_leaves_a_blocked_loop_behind():
    loop_thread, release, ended = LoopThread("loop"), threading.Event(), threading.Event()

    async def waits():
        try:
            await asyncio.Event().wait()
        finally:
            ended.set()

    loop_thread.start(waits, copy_context(), lambda _: None)
    loop_thread.close()
    assert ended.wait(60)

    async def blocks():
        release.wait(30)

    blocked = LoopThread("blocked")
    blocked.start(blocks, copy_context(), lambda _: None)
    blocked.close(within=0.05)
    assert not wait((blocked.answer(),), 0.05).done
    release.set()


def test_neither_what_ends_the_loop_nor_a_log_handler_that_raises_ends_the_thread():
    class Raising(logging.Handler):
        def emit(self, record):
            raise OSError("disk full")

    async def ends():
        asyncio.get_running_loop().call_soon(sys.exit, 1)

    handler = Raising()
    logging.getLogger("agenttrace").addHandler(handler)
    loop_thread, answers = LoopThread("loop"), queue.SimpleQueue()
    try:
        for _ in range(3):
            loop_thread.start(ends, copy_context(), answers.put)
            assert answers.get(timeout=60) is None
        loop_thread.start(lambda: asyncio.sleep(0.01, "it runs on"), copy_context(), answers.put)
        assert answers.get(timeout=60) == "it runs on"
    finally:
        logging.getLogger("agenttrace").removeHandler(handler)
        loop_thread.close()


@pytest.mark.faults
@pytest.mark.parametrize("agent", ["lambda x: time.sleep(60)", "asynchronous"])
def test_control_c_ends_a_run_at_once_and_stores_what_was_finished(tmp_path, agent):
    program = f"""
import asyncio, signal, time
signal.signal(signal.SIGINT, signal.default_int_handler)  # ignored where the tests run in the background
from agenttrace import Client, Example
from agenttrace.scorers import ExecutionOrderScorer

async def asynchronous(x):
    await asyncio.sleep(60)

agent = {agent}

def first_is_quick(x):
    if x == 0:
        return ["a"]
    print("waiting", flush=True)
    return agent(x)

examples = [Example(input={{"x": n}}, expected_output=["a"]) for n in range(3)]
client = Client(store={str(tmp_path / "t.db")!r})
client.run_evaluation(examples, [ExecutionOrderScorer()], function=first_is_quick)
"""
    process = subprocess.Popen(
        [sys.executable, "-X", "faulthandler", "-c", program],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stdout.readline() == "waiting\n"
    os.kill(process.pid, signal.SIGINT)
    _, errors = process.communicate(timeout=50)
    assert "EvaluationInterrupted" in errors
    assert process.returncode != 0

    from agenttrace.store import open_store

    (run,) = open_store(tmp_path / "t.db").runs()
    assert (run.passed, run.metadata["interrupted"], run.metadata["not_run"]) == (1, True, 2)
