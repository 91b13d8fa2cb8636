"""A record is made the running call of a context, and the former one is put back from elsewhere."""

import asyncio
import contextvars

import pytest

from agenttrace.tracing import open_span
from agenttrace.tracing.context import current
from agenttrace.tracing.open_span import make_current
from agenttrace.tracing.record import OFF


@pytest.fixture
def record():
    return list(OFF)


def test_the_former_running_call_is_put_back_in_the_same_context(record):
    before = current.get()
    made_current = make_current(record)
    assert current.get() is record
    made_current.restore()
    made_current.restore()
    assert current.get() is before


def test_a_task_gets_its_running_call_back_while_it_waits_for_another(record):
    async def main():
        async def start():
            return make_current(record)

        made_current = await start()  # in this very task
        inside = contextvars.copy_context()

        async def end():
            assert current.get() is record  # a copy of the context, which stays as it is
            made_current.restore()

        await asyncio.shield(asyncio.create_task(end()))
        assert inside.get(current) is record
        return current.get()

    assert asyncio.run(main()) is None


def test_a_running_call_that_came_later_is_left_alone(record):
    other = list(OFF)

    async def main():
        made_current = make_current(record)
        token = current.set(other)
        await asyncio.create_task(_take_back(made_current))
        assert current.get() is other
        current.reset(token)

    asyncio.run(main())


async def _take_back(made_current):
    made_current.restore()


def test_a_task_whose_context_cannot_be_reached_gets_no_running_call(record, monkeypatch):
    monkeypatch.setattr(open_span, "_context_of", lambda task, record: None)

    async def main():
        assert make_current(record) is None
        return current.get()

    assert asyncio.run(main()) is None


def test_putting_back_has_no_effect_in_a_context_that_is_gone(record):
    made_current = contextvars.copy_context().run(make_current, record)
    made_current.restore()
    assert current.get() is not record
