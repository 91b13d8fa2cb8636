"""Snapshots: bounded, exact, made without running any code of the value's."""

import array
import asyncio
import collections
import dataclasses
import datetime
import enum
import json
import pathlib
import re
import socket
import threading
import types
import unittest.mock
import uuid
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import pydantic
import pytest

from agenttrace.core import snapshot as snapshot_module
from agenttrace.core.handlers import register_snapshot
from agenttrace.core.jsonable import jsonable
from agenttrace.core.limits import CAPTURED, RECORDED
from agenttrace.core.snapshot import MOST_REPEATED, first_snapshot, snapshot


class Touched(Exception):
    """Code of a value's ran."""


def _touch(*_, **__):
    raise Touched


HOSTILE_NAMES = [
    *("__repr__", "__str__", "__getattr__", "__getattribute__", "__len__", "__bool__", "__eq__", "__hash__"),
    *("__iter__", "__next__", "__contains__", "__getitem__", "__reduce__", "__reduce_ex__", "__getstate__"),
    *(
        "__format__",
        "__int__",
        "__float__",
        "__index__",
        "__bytes__",
        "__sizeof__",
        "__dir__",
        "__deepcopy__",
    ),
    *("__copy__", "__call__", "keys", "items", "values", "to_dict", "model_dump", "dict", "json", "__json__"),
]
ALL_HOSTILE = dict.fromkeys(HOSTILE_NAMES, _touch) | {
    name: property(_touch) for name in ("__class__", "__dict__", "__doc__", "name", "value")
}

Hostile = type("Hostile", (), dict(ALL_HOSTILE))


def copy(value):
    return snapshot(value)[0]


class TestBuiltinValues:
    @pytest.mark.parametrize(
        "value", ["text", "", 0, -7, 2.5, True, False, None, {}, [], {"a": [1, {"b": None}]}]
    )
    def test_are_copied_as_they_are(self, value):
        assert copy(value) == value

    def test_do_not_change_with_the_original(self):
        """Scenario 20: what is recorded is the value at the time of the snapshot."""
        value = {"list": [1, 2], "dict": {"a": {"b": 1}}}
        kept = copy(value)
        value["list"].clear()
        value["dict"]["a"]["b"] = 2
        assert kept == {"list": [1, 2], "dict": {"a": {"b": 1}}}

    def test_a_tuple_becomes_a_list(self):
        assert copy((1, ("a",))) == [1, ["a"]]

    def test_a_set_becomes_a_list_in_an_order_without_the_hash_seed(self):
        assert copy({"b", "a", "c"}) == ["a", "b", "c"]
        assert copy(frozenset({3, 1, 2})) == [1, 2, 3]
        assert sorted(map(str, copy({1, "a", None}))) == ["1", "None", "a"]

    @pytest.mark.parametrize(
        "value", [b"\xff\xfe\x00", bytearray(b"\xff\xfe\x00"), memoryview(b"\xff\xfe\x00")]
    )
    def test_bytes_are_kept_as_base64_with_their_size(self, value):
        """Scenario 17."""
        assert copy(value) == {"$bytes": "//4A", "size": 3}

    def test_views_that_are_not_contiguous_or_not_of_bytes_are_no_problem(self):
        assert copy(memoryview(b"abcdef")[::2])["size"] == 3
        assert copy(memoryview(array.array("d", [1.0])))["size"] == 8

    def test_of_long_bytes_only_the_head_is_kept(self):
        """Scenario 9."""
        kept = copy(b"x" * 200_000_000)
        assert kept["size"] == 200_000_000
        assert len(kept["$bytes"]) < 2_000

    def test_a_long_text_is_cut_with_a_mark(self):
        """Scenario 9."""
        kept = copy("x" * 200_000_000)
        assert kept == "x" * RECORDED.value + f"…[+{200_000_000 - RECORDED.value} chars]"

    def test_many_items_are_cut_with_their_number(self):
        """Scenario 10."""
        kept = copy(list(range(100_000)))
        assert kept[: RECORDED.items] == list(range(RECORDED.items))
        assert kept[RECORDED.items :] == [{"$truncated": 100_000 - RECORDED.items}]

    def test_many_keys_are_cut_with_their_number(self):
        """Scenario 10."""
        kept = copy({str(n): n for n in range(100_000)})
        assert kept["$truncated"] == 100_000 - RECORDED.items
        assert len(kept) == RECORDED.items + 1

    @pytest.mark.parametrize(
        "value",
        [[*range(3_000)], [[n] for n in range(3_000)], {str(n): n for n in range(3_000)}],
        ids=["scalars", "lists", "mapping"],
    )
    def test_what_was_cut_once_is_not_cut_again(self, value):
        """A score's details are bounded where they are redacted, and once more where they are stored."""
        kept = copy(value)
        assert copy(kept) == kept
        assert copy({"deep": [kept]}) == {"deep": [kept]}

    def test_all_text_together_stays_under_the_limit(self):
        kept = copy([["y" * 5_000] * 100] * 100)
        assert len(json.dumps(kept)) < 2 * RECORDED.value


class TestNesting:
    @pytest.mark.parametrize("depth", [5_000, 100_000])
    def test_deep_values_are_cut(self, depth):
        """Scenario 6."""
        value = []
        for _ in range(depth):
            value = [value]
        kept, levels = copy(value), 0
        while isinstance(kept, list):
            kept, levels = kept[0], levels + 1
        assert kept == {"$truncated": "depth"}
        assert levels == RECORDED.depth

    def test_cycles_are_marked(self):
        """Scenario 5."""
        a_list, a_dict = [1], {"a": 1}
        a_list.append(a_list)
        a_dict["self"] = a_dict
        assert copy(a_list) == [1, {"$cycle": "list"}]
        assert copy(a_dict) == {"a": 1, "self": {"$cycle": "dict"}}

    def test_cycles_through_records_are_marked(self):
        """Scenario 5: dataclass, slots, pydantic."""

        @dataclasses.dataclass
        class Node:
            next: object = None

        @dataclasses.dataclass(slots=True)
        class Slotted:
            next: object = None

        class Model(pydantic.BaseModel):
            next: object = None

        for kind in (Node, Slotted, Model):
            node = kind()
            node.next = [node]
            kept = copy(node)
            assert list(kept) == ["next"]
            assert list(kept["next"][0]) == ["$cycle"], kind

    def test_what_is_shared_is_not_a_cycle(self):
        shared = [1]
        assert copy([shared, shared]) == [[1], [1]]


class TestObjects:
    def test_an_object_is_recorded_as_its_type(self):
        """Scenario 1."""

        class Broken:
            def __repr__(self):
                raise ValueError("no repr")

        assert copy(Broken()) == {"$type": f"{__name__}.{Broken.__qualname__}"}

    def test_nothing_of_a_hostile_object_runs(self):
        """Scenarios 3, 13, 14, 15."""
        value = object.__new__(Hostile)
        assert copy(value) == {"$type": f"{__name__}.Hostile"}
        assert copy([{"deep": (value,)}]) == [{"deep": [{"$type": f"{__name__}.Hostile"}]}]

    @pytest.mark.parametrize("error", [SystemExit, KeyboardInterrupt, GeneratorExit])
    def test_no_exception_leaves_a_value(self, error):
        """Scenario 4."""

        def throw(*_, **__):
            raise error

        kind = type("Thrower", (), dict.fromkeys(HOSTILE_NAMES, throw))
        assert copy([object.__new__(kind)]) == [{"$type": f"{__name__}.Thrower"}]

    def test_a_hostile_metaclass_is_read_past(self):
        meta = type(
            "Meta", (type,), {"__getattribute__": _touch, "__instancecheck__": _touch, "mro": type.mro}
        )
        kind = type.__call__(meta, "Odd", (), {})
        assert list(copy(object.__new__(kind))) == ["$type"]

    @pytest.mark.parametrize("base", [dict, list, tuple, set, frozenset, str, int, float, bytes, bytearray])
    def test_subclasses_of_builtins_are_read_by_the_builtins_own_methods(self, base):
        hooks = {name: _touch for name in HOSTILE_NAMES if name not in ("__hash__", "__eq__")}
        kind = type("Sub", (base,), hooks)
        plain = {dict: {"a": 1}, str: "a", int: 7, float: 1.5, bytes: b"a", bytearray: b"a"}.get(base, ["a"])
        value = base.__new__(kind, plain) if base in (tuple, frozenset, str, int, float, bytes) else kind()
        if base is dict:
            dict.__setitem__(value, "a", 1)
        elif base is list:
            list.append(value, "a")
        elif base is set:
            set.add(value, "a")
        elif base is bytearray:
            bytearray.extend(value, b"a")
        assert copy(value) == ({"$bytes": "YQ==", "size": 1} if plain == b"a" else plain)

    def test_infinite_sequences_and_mappings_are_not_walked(self):
        """Scenario 11."""

        class Endless(Sequence, Mapping):
            def __len__(self):
                return 1 << 60

            def __getitem__(self, key):
                return self

            def __iter__(self):
                while True:
                    yield "key"

        assert list(copy(Endless())) == ["$type"]

    def test_iterators_files_and_sockets_are_not_consumed(self, tmp_path):
        """Scenario 12."""
        generator = (n for n in range(3))
        (tmp_path / "file").write_text("content")
        with open(tmp_path / "file") as file, socket.socket() as unconnected:
            kept = copy([generator, iter([1]), file, unconnected, map(str, [1])])
            assert file.read() == "content"
        assert [list(item) for item in kept] == [["$type"]] * 5
        assert list(generator) == [0, 1, 2]

    def test_things_of_python_itself_are_recorded_as_their_type(self):
        """Scenario 16."""

        async def never_awaited():
            pass

        coroutine = never_awaited()
        things = [types, Hostile, len, lambda: 0, threading.Lock(), coroutine, unittest.mock.Mock(), object()]
        kept = copy(things)
        coroutine.close()
        assert all(list(item) == ["$type"] for item in kept)
        assert kept[6] == {"$type": "unittest.mock.Mock"}

    def test_library_arrays_are_recorded_as_their_type(self):
        """Scenario 16: what looks like numpy, pandas and torch."""
        for name in ("ndarray", "DataFrame", "Tensor"):
            kind = type(name, (), {**ALL_HOSTILE, "__module__": "somelib", "__array__": _touch})
            assert copy(object.__new__(kind)) == {"$type": f"somelib.{name}"}


class TestRecords:
    def test_a_dataclass_is_read_from_its_fields(self):
        @dataclasses.dataclass
        class Point:
            x: int
            y: list

            @property
            def area(self):
                raise Touched

        assert copy(Point(1, [2])) == {"x": 1, "y": [2]}

    def test_a_named_tuple_is_read_by_the_names_of_its_fields(self):
        class Point(NamedTuple):
            x: int
            y: int

        class Twisted(tuple):
            _fields = ("a", "b")

        assert jsonable([Point(1, 2), Twisted((1,))]) == [{"x": 1, "y": 2}, [1]]

    def test_a_frozen_or_slotted_dataclass_is_read_too(self):
        @dataclasses.dataclass(frozen=True, slots=True)
        class Point:
            x: int
            y: int

        assert copy(Point(1, 2)) == {"x": 1, "y": 2}

    def test_a_pydantic_model_is_read_without_model_dump(self):
        """Scenario 13."""

        class Model(pydantic.BaseModel):
            city: str
            nested: dict = {}

            def model_dump(self, **_):
                raise Touched

            @pydantic.computed_field
            def costly(self) -> int:
                raise Touched

        assert copy(Model(city="Paris", nested={"a": [1]})) == {"city": "Paris", "nested": {"a": [1]}}

    def test_a_pydantic_secret_is_not_opened(self):
        """Scenario 22."""
        kept = copy({"key": pydantic.SecretStr("hunter2")})
        assert "hunter2" not in json.dumps(kept)

    def test_a_dataclass_that_hides_its_dictionary_is_recorded_as_its_type(self):
        @dataclasses.dataclass
        class Sly:
            x: int = 1
            __dict__ = property(_touch)

        assert list(copy(Sly.__new__(Sly))) == ["$type"]

    @pytest.mark.parametrize(
        "kind", [dataclasses.make_dataclass("Base", ["x"]), enum.Enum], ids=["data", "enum"]
    )
    def test_a_dictionary_behind_a_descriptor_of_the_users_is_left_closed(self, kind):
        class Sly:
            __get__ = __set__ = _touch

        namespace = {"__dict__": Sly()}
        if kind is enum.Enum:
            member = enum.Enum("Color", {"RED": "red"}, type=type("Mixin", (), namespace)).RED
        else:
            derived = type("Derived", (kind,), namespace)
            member = object.__new__(derived)
        assert list(copy(member)) == ["$type"]

    def test_an_enum_is_its_value(self):
        kind = enum.Enum("Color", {"RED": "red"})
        assert copy(kind.RED) == "red"
        assert copy(enum.IntEnum("Level", {"LOW": 1}).LOW) == 1


class TestWellKnownTypes:
    @pytest.mark.parametrize(
        ("value", "text"),
        [
            (datetime.datetime(2026, 1, 2, 3, 4, tzinfo=datetime.UTC), "2026-01-02T03:04:00+00:00"),
            (datetime.date(2026, 1, 2), "2026-01-02"),
            (datetime.timedelta(days=1), "1 day, 0:00:00"),
            (uuid.UUID(int=1), "00000000-0000-0000-0000-000000000001"),
            (pathlib.PurePosixPath("/a/b"), "/a/b"),
            (complex(1, 2), "(1+2j)"),
            (range(3), "range(0, 3)"),
            (re.compile("a+"), "a+"),
        ],
    )
    def test_are_text(self, value, text):
        assert copy(value) == text

    def test_a_deque_is_a_list(self):
        assert copy(collections.deque([1, 2])) == [1, 2]

    def test_further_types_can_be_registered(self):
        class Money:
            def __init__(self, amount):
                self.amount = amount

        register_snapshot(Money, lambda money: {"amount": money.amount})
        assert copy([Money(3)]) == [{"amount": 3}]

    def test_a_registered_handler_that_raises_leaves_the_type(self):
        class Money:
            pass

        register_snapshot(Money, _touch)
        assert copy(Money()) == {"$type": f"{__name__}.{Money.__qualname__}"}
        assert copy([1, Money()]) == [1, {"$type": f"{__name__}.{Money.__qualname__}"}]

    def test_a_subclass_of_a_well_known_type_is_not_trusted(self):
        class Stamp(datetime.datetime):
            isoformat = _touch

        assert list(copy(Stamp(2026, 1, 2))) == ["$type"]


class TestKeys:
    def test_of_any_kind_become_text_without_overwriting(self):
        """Scenario 18."""
        kept = copy(
            {1: "int", "1": "text", 1.5: "float", None: "none", True and "t": "word", (1, 2): "tuple"}
        )
        assert kept == {
            "1": "int",
            "1 (str)": "text",
            "1.5": "float",
            "null": "none",
            "t": "word",
            "tuple [1, 2]": "tuple",
        }

    def test_that_equal_each_other_are_told_apart_by_their_own_kind(self):
        assert copy({1.0: "a"}) == {"1": "a"} == copy({1: "a"})
        assert copy({True: "a", False: "b"}) == {"true": "a", "false": "b"}

    def test_of_a_text_of_any_class_are_its_characters(self):
        """So that redaction knows them by their names, and that they equal the same text."""
        word = type("Word", (str,), {"__str__": _touch, "__repr__": _touch})
        (one,) = enum.StrEnum("Name", {"ONE": "api_key"})
        (two,) = enum.Enum("Name", {"ONE": "token"})
        keys = [one, word("password"), two]
        assert copy(dict.fromkeys(keys, 1)) == {"api_key": 1, "password": 1, "token": 1}
        assert copy({b"password": 1, b"\xff": 2}) == {"password": 1, "bytes {'$bytes': '/w==', 'size': 1}": 2}
        assert copy({uuid.UUID(int=1): 1}) == {str(uuid.UUID(int=1)): 1}
        (other,) = enum.Enum("Name", {"ONE": "a"})
        assert list(copy({"a": 1, other: 2}).values()) == [1, 2]

    def test_objects_as_keys_do_not_run(self):
        kind = type("Key", (), {**{n: _touch for n in HOSTILE_NAMES if n not in ("__hash__", "__eq__")}})
        assert list(copy({object.__new__(kind): 1})) == [f"{__name__}.Key {{'$type': '{__name__}.Key'}}"]

    def test_that_look_like_instructions_are_data(self):
        """Scenario 25."""
        value = {"__proto__": {"a": 1}, "constructor": 1, "lc": 1, "$ref": "#/x", "$type": "x"}
        assert copy(value) == value


class TestNumbers:
    @pytest.mark.parametrize("value", [1 << 53, 1 << 63, -(1 << 64), 10**400])
    def test_large_integers_stay_numbers(self, value):
        """Scenario 19."""
        assert jsonable([value, {"a": value}]) == [value, {"a": value}]

    def test_integers_of_ten_thousand_digits_are_written_as_hexadecimal_digits(self):
        """Scenario 19."""
        value = -(10**10_000)
        assert jsonable(value) == {"$int": hex(value)}

    def test_integers_of_a_million_digits_are_cut(self):
        data = jsonable(-(10**1_000_000), limit=RECORDED.value)
        assert data["$int"].startswith("-0x")
        assert data["$int"].endswith(" digits]")
        assert len(data["$int"]) < 100

    def test_a_hundred_thousand_large_integers_stay_under_the_limit(self):
        assert (
            len(json.dumps(jsonable([[1 << 9_000] * 500] * 500, limit=RECORDED.value))) < 2 * RECORDED.value
        )

    def test_the_largest_exact_integer_stays_a_number(self):
        assert jsonable((1 << 53) - 1) == (1 << 53) - 1


class TestWhileOthersWrite:
    def test_a_dict_that_changes_meanwhile_is_no_error(self):
        """Scenario 21."""
        shared = {str(n): [n] for n in range(500)}
        done = threading.Event()

        def write():
            n = 0
            while not done.is_set():
                shared[f"new {n % 300}"] = [n]
                shared.pop(f"new {(n + 150) % 300}", None)
                n += 1

        writer = threading.Thread(target=write)
        writer.start()
        try:
            kinds = {type(copy(shared)) for _ in range(300)}
        finally:
            done.set()
            writer.join()
        assert kinds == {dict}


def test_tasks_and_futures_are_recorded_as_their_type():
    async def main():
        future = asyncio.get_running_loop().create_future()
        task = asyncio.ensure_future(asyncio.sleep(0))
        kept = copy([future, task])
        await task
        future.cancel()
        return kept

    assert all(list(item) == ["$type"] for item in asyncio.run(main()))


@pytest.mark.parametrize("leaf", ["x", None], ids=["with a leaf", "without any"])
@pytest.mark.parametrize(
    "around", [lambda v: [v, v], lambda v: {"a": v, "b": v}, lambda v: (v, v)], ids=range(3)
)
def test_parts_that_are_shared_at_every_level_are_not_walked_for_ever(leaf, around, monkeypatch):
    """Forty levels of two are 2^40 places: the bound holds for containers, too, not only for leaves."""
    walked = []
    walk = snapshot_module._Budget.walk

    def counted(self, value, depth):
        walked.append(depth)
        assert len(walked) < 200_000, "the walk has no bound"
        return walk(self, value, depth)

    monkeypatch.setattr(snapshot_module._Budget, "walk", counted)
    value = [] if leaf is None else [leaf]
    for _ in range(40):
        value = around(value)
    _, size = snapshot(value)
    assert size < 2 * RECORDED.value
    assert len(walked) < RECORDED.value


def _containers(value):
    """How many mappings and lists a copy has."""
    parts = value.values() if type(value) is dict else value if type(value) is list else ()
    return (type(value) in (dict, list)) + sum(map(_containers, parts))


@dataclasses.dataclass
class Pair:
    left: object
    right: object


def _doubled(kind, times):
    value = kind(1)
    for _ in range(times):
        value = kind(value)
    return value


@pytest.mark.parametrize(
    "kind",
    [
        lambda v: [v, v],
        lambda v: (v, v),
        lambda v: {"a": v, "b": v},
        lambda v: [[v], {"x": v}],
        lambda v: Pair(v, v),
    ],
    ids=["list", "tuple", "dict", "both", "record"],
)
def test_what_a_value_holds_again_and_again_is_bounded(kind):
    copy, _ = first_snapshot(_doubled(kind, 40), limits=CAPTURED)
    assert _containers(copy) < 3 * MOST_REPEATED
    assert "$truncated" in str(copy)


def test_the_items_of_a_list_that_stands_many_times_are_counted_too():
    rows = [{"n": number} for number in range(1_000)]
    copy, _ = first_snapshot([rows] * 1_000, limits=CAPTURED)
    assert 60_000 < _containers(copy) < 3 * MOST_REPEATED


def test_values_that_share_a_part_are_recorded_whole():
    part = {"currency": {"code": "EUR"}, "tags": ["a", "b"]}
    orders = [{"number": number, "settings": part} for number in range(15_000)]
    assert first_snapshot(orders, limits=CAPTURED)[0] == orders
    row = [1, 2]
    assert first_snapshot([row] * 200_000, limits=CAPTURED)[0] == [row] * 200_000
    distinct = [[[number]] for number in range(100_000)]
    assert first_snapshot(distinct, limits=CAPTURED)[0] == distinct
