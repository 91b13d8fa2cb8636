"""A child in which a signal handler raises, again and again, wherever recording happens to be."""

import asyncio
import enum
import faulthandler
import random
import signal
import sys
import time

from agenttrace.core.handlers import register_snapshot
from agenttrace.tracer import Tracer
from agenttrace.tracing.context import current

PATIENCE = 15
LOST_AFTER = 1.0
"""Seconds after an alarm by which its exception must have left the loop."""


class SoftTimeLimit(Exception):
    pass


class Opened:
    def __init__(self, parts):
        self.parts = parts


class Level(enum.Enum):
    HIGH = "high"


def opened(value):
    return list(value.parts)


register_snapshot(Opened, opened)

tracer = Tracer("interrupted", store="memory")
large = [{"a": list(range(20)), "b": object(), "c": Level.HIGH} for _ in range(900)]
messages = [{"role": "user", "content": "x" * 900, "parts": [{"n": n}]} for n in range(30)]


@tracer.observe
def empty():
    return None


@tracer.observe
def returns_large():
    return large


@tracer.observe
def returns_opened():
    return [Opened(range(5)) for _ in range(20)]


@tracer.observe(span_type="tool")
def search(query, options):
    """What a real tool looks like: two milliseconds of work, 28 KB of result."""
    end = time.perf_counter() + 0.002
    while time.perf_counter() < end:
        pass
    return messages


@tracer.observe
def raises():
    raise LookupError("nothing there")


@tracer.observe
def steps():
    yield 1
    yield {"a": [1, 2]}


@tracer.observe
async def awaited(value):
    return [value]


@tracer.observe
async def streamed():
    yield 1
    yield [2]


def run_raises():
    try:
        raises()
    except LookupError:
        pass


def run_awaited():
    try:
        awaited({"a": [1]}).send(None)
    except StopIteration:
        pass


def run_streamed():
    async def consume():
        return [item async for item in streamed()]

    try:
        consume().send(None)
    except StopIteration:
        pass


def run_block():
    with tracer.span("block", input={"a": [1]}) as span:
        span.set_attribute("b", [1, {"c": 2}])
        empty()


def run_capture():
    with tracer.capture():
        empty()


LOOPS = {
    "empty": empty,
    "large": returns_large,
    "opened": returns_opened,
    "realistic": lambda: search("oil", {"limit": 3, "tags": ["a"]}),
    "raising": run_raises,
    "generator": lambda: list(steps()),
    "async": run_awaited,
    "async generator": run_streamed,
    "block": run_block,
    "capture": run_capture,
}


def repeat(call, end):  # not inside the `try`: Python 3.13 leaves the head of such a loop uncovered
    while time.monotonic() < end:
        call()


def stop(signum, frame):
    raise SoftTimeLimit(signum)


def main(kind, count):
    faulthandler.dump_traceback_later(PATIENCE, exit=True)
    call = LOOPS[kind]
    signal.signal(signal.SIGALRM, stop)
    asyncio.run(asyncio.sleep(0))  # what it imports is there before the first alarm
    empty()
    lost = leaked = 0
    for _ in range(int(count)):
        faulthandler.dump_traceback_later(PATIENCE, exit=True)
        try:
            signal.setitimer(signal.ITIMER_REAL, random.uniform(0.0002, 0.003))
            repeat(call, time.monotonic() + LOST_AFTER)
            lost += 1
        except SoftTimeLimit:
            pass
        leaked += current.get() is not None
        current.set(None)
    faulthandler.cancel_dump_traceback_later()
    flushed = bool(tracer.flush(30)) or bool(tracer.stats()["dropped"]["queue_full"])
    print(lost, leaked, flushed, tracer.stats()["recording_errors"])


if __name__ == "__main__":
    main(*sys.argv[1:])
