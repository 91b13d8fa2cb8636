"""What a plain function returns but did not make for its caller alone stays what it was."""

import asyncio

import pytest

from agenttrace import Tracer
from agenttrace.store import MemoryStore


@pytest.fixture
def tracer():
    tracer = Tracer("shared", store=MemoryStore())
    yield tracer
    tracer.shutdown()


class Source:
    def __init__(self):
        self.lines = (number for number in range(5))


def test_a_generator_that_somebody_else_holds_is_returned_itself(tracer):
    source = Source()

    @tracer.observe
    def lines():
        return source.lines

    assert lines() is source.lines
    assert [next(lines()) for _ in range(3)] == [0, 1, 2]
    for _ in lines():
        break
    assert list(lines()) == [4]


def test_an_async_generator_that_somebody_else_holds_is_returned_itself(tracer):
    async def count():
        for number in range(3):
            yield number

    shared = count()

    @tracer.observe
    def numbers():
        return shared

    async def main():
        return [await anext(numbers()) for _ in range(3)]

    assert asyncio.run(main()) == [0, 1, 2]


def test_a_generator_made_for_the_caller_keeps_its_span_open(tracer):
    @tracer.observe(span_type="tool")
    def inner(number):
        return number

    @tracer.observe
    def lines():
        return (inner(number) for number in range(3))

    with tracer.capture() as captured:
        assert list(lines()) == [0, 1, 2]
    root, *children = captured.trace.spans
    assert root.output == [0, 1, 2]
    assert {child.parent_id for child in children} == {root.span_id}
