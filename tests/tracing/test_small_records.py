"""Objects of a few small scalars are read the quick way, and as `snapshot` reads them."""

import dataclasses
import datetime
import decimal
import enum
import functools
import gc
import pathlib
import weakref
from typing import Any

import pydantic
import pytest

from agenttrace.core.handlers import register_snapshot
from agenttrace.core.limits import Limits
from agenttrace.core.small_records import NOT_SMALL, small_content
from agenttrace.core.snapshot import first_snapshot
from agenttrace.tracing.freeze import Frozen, freeze, thaw


class Runs(str):
    """A text whose own code must not run."""

    __slots__ = ()

    def _refuse(self, *_: Any) -> Any:
        raise AssertionError("code of the user's ran")

    __len__ = __eq__ = __bool__ = __str__ = __repr__ = _refuse
    __hash__ = str.__hash__


@dataclasses.dataclass
class Order:
    city: Any = "Paris"
    days: Any = 3
    share: Any = 0.5

    @functools.cached_property
    def label(self) -> str:
        return "worked out"


@dataclasses.dataclass
class Rush(Order):
    hours: int = 2


class NoRecord(Order):
    pass


@dataclasses.dataclass(slots=True)
class Slotted:
    city: Any = "Paris"
    days: Any = 3


@dataclasses.dataclass(slots=True)
class SlottedToo(Slotted):
    hours: int = 2


class Model(pydantic.BaseModel):
    city: Any = "Paris"
    days: Any = 3
    _private: int = 7


class Open(pydantic.BaseModel, extra="allow"):
    city: str = "Paris"


class Colour(enum.Enum):
    RED = "red"
    ALL = ["red"]  # noqa: RUF012 - a value that is no scalar
    NONE = None


class Level(enum.IntEnum):
    LOW = 1


class Name(str, enum.Enum):  # noqa: UP042 - as many programs still have it
    ADA = "ada"


class Registered:
    pass


register_snapshot(Registered, lambda _: {"read": "by hand"})


@dataclasses.dataclass
class RegisteredRecord:
    city: str = "Paris"


register_snapshot(RegisteredRecord, lambda _: "by hand")


def changed(value: Any, **fields: Any) -> Any:
    for name, item in fields.items():
        object.__setattr__(value, name, item)
    return value


def without(value: Any, name: str) -> Any:
    object.__delattr__(value, name)
    return value


def with_label() -> Order:
    order = Order()
    assert order.label
    return order


class Sub(dict):
    def copy(self) -> Any:
        raise AssertionError("code of the user's ran")


def with_dict_of_ones_own() -> Order:
    order = Order()
    order.__dict__ = Sub(order.__dict__)
    return order


QUICK = {
    "dataclass": Order(),
    "inherited fields": Rush(),
    "slots": Slotted(),
    "model": Model(),
    "open model": Open(),
    "enum": Colour.RED,
    "enum of None": Colour.NONE,
    "enum of an int": Level.LOW,
    "enum of a text": Name.ADA,
    "cached property": with_label(),
    "more in its dictionary": changed(Order(), other=1),
}
SLOW = {
    "nested": Order(Order()),
    "list inside": Model(city=["Paris"]),
    "long text": Order("x" * 257),
    "large number": Order(2**53),
    "text with code": Order(Runs("Paris")),
    "like a mark": Order({"$type": "mine"}),
    "unset slot": without(Slotted(), "days"),
    "inherited slots": SlottedToo(),
    "subclass that is no record": NoRecord(),
    "model with more": Open(more=1),
    "model with a mark's name": Open(**{"$type": "mine"}),
    "enum of a list": Colour.ALL,
    "registered": Registered(),
    "registered record": RegisteredRecord(),
    "dictionary of its own": with_dict_of_ones_own(),
    "date": datetime.date(2025, 6, 1),
    "decimal": decimal.Decimal("1.10"),
    "path": pathlib.PurePosixPath("/a"),
    "object": object(),
    "function": with_label,
    "class": Order,
}


@pytest.mark.parametrize("name", [*QUICK, *SLOW])
def test_an_object_is_recorded_as_its_snapshot(name):
    value = (QUICK | SLOW)[name]
    for held in (value, [1, value, "a"], (value,), [value, "x" * 257], {"a": value}, [[value]], [value] * 9):
        assert thaw(freeze(held)) == first_snapshot(held)[0]


@pytest.mark.parametrize("name", QUICK)
def test_an_object_is_bounded_as_its_snapshot(name):
    limits = Limits(value=100, items=2, depth=1, bytes=2)
    value = QUICK[name]
    for held in (value, [1, value], {"a": value}):
        assert thaw(freeze(held, limits), limits) == first_snapshot(held, limits=limits)[0]


@pytest.mark.parametrize("name", QUICK)
def test_an_object_of_small_scalars_is_read_the_quick_way(name):
    content, size = small_content(QUICK[name], type(QUICK[name]), Limits())
    assert content is not NOT_SMALL
    assert size > 0
    frozen = freeze([QUICK[name], 1], Limits())
    assert isinstance(frozen, Frozen)
    assert frozen.form == "whole"


@pytest.mark.parametrize("name", SLOW)
def test_any_other_is_left_to_the_snapshot(name):
    assert small_content(SLOW[name], type(SLOW[name]), Limits())[0] is NOT_SMALL


def test_what_changes_later_does_not_reach_the_record():
    order, colours = Order(), [Colour.RED, Slotted()]
    frozen = freeze([order, 1]), freeze(order), freeze(colours)
    order.city = "Rome"
    colours[1].city = "Rome"
    assert "Rome" not in repr([thaw(one) for one in frozen])


def test_fields_that_are_declared_later_are_seen():
    class Late:
        def __init__(self):
            self.city = "Paris"

    late = Late()
    assert "$type" in thaw(freeze(late))
    Late.city = "Paris"
    Late.__annotations__ = {"city": str}
    dataclasses.dataclass(Late)
    assert thaw(freeze(late)) == thaw(freeze([late]))[0] == first_snapshot(late)[0] == {"city": "Paris"}


def test_a_handler_that_is_registered_later_is_asked():
    @dataclasses.dataclass
    class Later:
        city: str = "Paris"

    assert thaw(freeze([Later()])) == [{"city": "Paris"}]
    register_snapshot(Later, lambda _: "by hand")
    assert thaw(freeze([Later()])) == ["by hand"]


@pytest.mark.parametrize("slots", [False, True])
def test_no_class_is_kept_alive(slots):
    kind = dataclasses.make_dataclass("Passing", ["city"], slots=slots)
    assert thaw(freeze([kind("Paris")])) == [{"city": "Paris"}]
    alive = weakref.ref(kind)
    del kind
    gc.collect()
    assert alive() is None
