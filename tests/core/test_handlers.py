"""Handlers that could never be asked are refused where they are registered."""

import functools

import pytest

from agenttrace.core.errors import ConfigError
from agenttrace.core.handlers import register_snapshot
from agenttrace.core.snapshot import snapshot


class Money:
    pass


async def read_later(value):
    return 1


async def read_parts_later(value):
    yield 1


class ReadsLater:
    async def __call__(self, value):
        return 1


@pytest.mark.parametrize("kind", [str, int, bool, float, type(None), dict, list, tuple])
def test_builtin_values_are_always_read_as_what_they_are(kind):
    with pytest.raises(ConfigError, match=f"values of {kind.__name__} are always read as what they are"):
        register_snapshot(kind, lambda value: "handled")


@pytest.mark.parametrize(
    "handler",
    [read_later, read_parts_later, functools.partial(read_later), ReadsLater(), ReadsLater().__call__],
    ids=["function", "generator", "partial", "object", "method"],
)
def test_a_handler_cannot_be_awaited(handler):
    with pytest.raises(ConfigError, match="cannot be an async function"):
        register_snapshot(Money, handler)


def test_other_types_and_their_subclasses_have_handlers():
    class Basket(list):
        pass

    register_snapshot(Basket, lambda basket: {"size": len(basket)})
    assert snapshot(Basket("ab"))[0] == {"size": 2}
