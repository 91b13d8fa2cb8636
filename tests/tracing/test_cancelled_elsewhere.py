"""Calls that trio or gevent stop are cancelled, not failed; where their children stand."""

import subprocess
import sys

import pytest

TRIO = """
import trio
from agenttrace import Tracer

tracer = Tracer("trio", store="memory")

@tracer.observe
async def waits(name):
    await trio.sleep_forever()

@tracer.observe
async def agent():
    with trio.move_on_after(0):
        await waits("a")
    async with trio.open_nursery() as nursery:
        nursery.start_soon(waits, "b")
        await trio.lowlevel.checkpoint()
        nursery.cancel_scope.cancel()

trio.run(agent)
"""

KILLED = """
import gevent
from agenttrace import Tracer

tracer = Tracer("gevent", store="memory")

@tracer.observe
def waits(name):
    gevent.sleep(100)

child = gevent.spawn(waits, "a")
gevent.sleep(0)
child.kill()
"""

CHILDREN = """
import contextvars
import gevent
from agenttrace import Tracer

tracer = Tracer("gevent", store="memory")

@tracer.observe
def tool(name):
    gevent.sleep(0)

@tracer.observe
def agent():
    gevent.joinall([gevent.spawn(contextvars.copy_context().run, tool, number) for number in range(3)])

agent()
"""

SHOWN = """
tracer.flush()
for summary in tracer.store.traces():
    trace = tracer.store.trace(summary.trace_id)
    for depth, span in trace.walk():
        print(depth, span.name, span.status)
"""


def spans(code):
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", code + SHOWN], capture_output=True, timeout=60
    )
    assert done.returncode == 0, done.stderr.decode()[-3000:]
    return done.stdout.decode().splitlines()


def test_a_call_that_trio_cancels_is_cancelled():
    pytest.importorskip("trio", reason="trio is not installed")
    assert spans(TRIO) == ["0 agent ok", "1 waits cancelled", "1 waits cancelled"]


def test_a_call_whose_greenlet_is_killed_is_cancelled():
    pytest.importorskip("gevent", reason="gevent is not installed")
    assert spans(KILLED) == ["0 waits cancelled"]


def test_a_greenlet_that_runs_in_a_copy_of_the_context_stands_under_its_parent():
    """As the documents say: a greenlet begins in an empty context, and gevent's class cannot be patched."""
    pytest.importorskip("gevent", reason="gevent is not installed")
    assert spans(CHILDREN) == ["0 agent ok", *["1 tool ok"] * 3]


@pytest.mark.parametrize(
    ("module", "name"),
    [("trio", "Cancelled"), ("greenlet", "GreenletExit"), ("asyncio.exceptions", "CancelledError")],
)
def test_a_subclass_of_what_stops_calls_stops_them_too(tracer, module, name):
    stop = type(name, (BaseException,), {"__module__": module})

    @tracer.observe
    def waits():
        raise type("Mine", (stop,), {"__module__": "shop"})

    with pytest.raises(stop):
        waits()
    tracer.flush()
    (summary,) = tracer.store.traces()
    assert summary.status == "cancelled"
