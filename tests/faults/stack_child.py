"""A child that records deep values and objects inside containers, with little stack to do so."""

import dataclasses
import datetime
import enum
import faulthandler
import sys
import threading

from agenttrace.tracer import Tracer


@dataclasses.dataclass
class Point:
    x: object


class Level(enum.Enum):
    HIGH = "high"


def deep(depth):
    value = []
    for _ in range(depth):
        value = [value]
    return value


def chained(depth):
    value = Point(None)
    for _ in range(depth):
        value = Point([value])
    return value


def main(limit, stack):
    faulthandler.dump_traceback_later(60, exit=True)
    sys.setrecursionlimit(int(limit))
    tracer = Tracer("stack", store="memory")

    @tracer.observe
    def tool(value):
        return value

    values = [
        [datetime.date(2024, 1, 1)],
        {"a": [Level.HIGH, Point(1), Point, len, object()]},
        deep(50_000),
        [*([n] for n in range(1_000)), deep(50_000)],
        {"a": {"b": (deep(500),)}},
        [chained(2_000)],
    ]

    def call():
        for value in values:
            assert tool(value) is value

    if stack == "main":
        call()
    else:
        threading.stack_size(int(stack) * 1024)
        thread = threading.Thread(target=call)
        thread.start()
        thread.join()
        threading.stack_size(0)
    assert tracer.flush(30)
    stats = tracer.stats()
    assert stats["written"] == len(values), stats
    assert stats["recording_errors"] == 0, stats
    print("recorded")
    while values:  # deep ones, whose end takes stack too
        values.pop()


if __name__ == "__main__":
    main(*sys.argv[1:])
