"""A running call that is lent to a context, and taken back from elsewhere."""

import asyncio
import contextvars

import pytest

from agenttrace.tracing import open_span as loans
from agenttrace.tracing.context import current
from agenttrace.tracing.open_span import make_current
from agenttrace.tracing.record import OFF


@pytest.fixture
def record():
    return list(OFF)


def test_a_loan_is_taken_back_in_its_own_context(record):
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
            assert current.get() is record  # a copy, which is no concern of the loan's
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


def test_nothing_is_lent_to_a_task_whose_context_cannot_be_reached(record, monkeypatch):
    monkeypatch.setattr(loans, "_context_of", lambda task, record: None)

    async def main():
        assert make_current(record) is None
        return current.get()

    assert asyncio.run(main()) is None


def test_a_loan_of_a_context_that_is_gone_is_taken_back_without_effect(record):
    made_current = contextvars.copy_context().run(make_current, record)
    made_current.restore()
    assert current.get() is not record
