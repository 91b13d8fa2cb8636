"""The caller's side of a snapshot: later changes do not reach it, whatever the value."""

import copy
import dataclasses
import datetime
import decimal
import enum
import itertools
import pathlib
import pickle
import sys
import uuid

import pydantic
import pytest
from hypothesis import given
from hypothesis import strategies as st

from agenttrace.core import handlers
from agenttrace.core.handlers import register_snapshot
from agenttrace.core.limits import RECORDED
from agenttrace.core.snapshot import first_snapshot, snapshot
from agenttrace.core.stand_ins import Fields, StandIn
from agenttrace.tracing import freeze as freeze_module
from agenttrace.tracing import packing
from agenttrace.tracing.freeze import Frozen, freeze, thaw

plain = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**60), 2**60)
    | st.floats(allow_nan=False)
    | st.text()
    | st.binary(max_size=9),
    lambda parts: (
        st.lists(parts) | st.dictionaries(st.text() | st.integers(), parts) | st.tuples(parts, parts)
    ),
    max_leaves=30,
)


@dataclasses.dataclass(frozen=True)
class Point:
    x: int
    y: int


class Color(enum.Enum):
    RED = "red"


class Refuses:
    """An object that pickle must never get hold of."""

    def _refuse(self, *_):
        raise SystemExit("pickle got hold of it")

    __reduce__ = __reduce_ex__ = __getstate__ = __getnewargs__ = _refuse


@given(plain)
def test_what_is_thawed_is_the_snapshot_of_the_value(value):
    assert thaw(freeze(value)) == first_snapshot(value)[0]


@given(st.lists(plain, min_size=1))
def test_later_changes_do_not_reach_it(value):
    """Scenario 20."""
    before = first_snapshot(copy.deepcopy(value))[0]
    frozen = freeze(value)
    for item in value:
        if isinstance(item, list | dict):
            item.clear()
    value.clear()
    assert thaw(frozen) == before


@pytest.mark.parametrize("value", [{"a": 1, "b": "two"}, [1, "two"], {"a": [1]}], ids=str)
def test_no_argument_is_kept_by_reference(value):
    """Scenario 20: the flat mapping, the commonest argument, too."""
    before = copy.deepcopy(value)
    frozen = freeze(value)
    value.clear()
    assert thaw(frozen) == before


@pytest.mark.parametrize(
    "value",
    [{"a": 1, "b": 2}, {str(n): n for n in range(40)}, {"a": {"b": {"c": datetime.date(2024, 1, 1)}}}],
)
def test_a_mapping_that_another_thread_changes_while_it_is_copied_is_kept(value):
    """Scenario 21: changed at every line of ours, as the worst of threads would; what was there stays."""
    before = first_snapshot(copy.deepcopy(value))[0]
    lines = itertools.count()

    def change(frame, event, argument):
        if event == "line":
            value[f"new {next(lines)}"] = 0
            value.pop(f"new {next(lines) - 2}", None)
        return change

    outer = sys.gettrace()
    sys.settrace(lambda frame, event, argument: change if "agenttrace" in frame.f_code.co_filename else None)
    try:
        frozen = freeze(value)
    finally:
        sys.settrace(outer)
    kept = thaw(frozen)
    assert {key: kept.get(key) for key in before} == before


class Model(pydantic.BaseModel):
    x: int = 1


@dataclasses.dataclass
class Node:
    value: object
    below: object = None


@dataclasses.dataclass(slots=True)
class Slotted:
    value: object
    other: object = None


class Holder(pydantic.BaseModel):
    value: object = None
    other: object = None


def _records(parts):
    return st.one_of(
        *(st.builds(kind, parts, parts) for kind in (Node, Slotted)),
        st.builds(Holder, value=parts, other=parts),
        st.lists(parts, max_size=4),
        st.dictionaries(st.sampled_from(["a", "$type", "password", "b"]), parts, max_size=3),
    )


_leaves = st.one_of(
    plain,
    st.sampled_from([datetime.date(2024, 1, 1), decimal.Decimal("1.5"), uuid.UUID(int=1), Color.RED]),
    st.builds(Refuses),
    st.text(min_size=300, max_size=400),
)


class TestObjectsWithFields:
    @given(st.recursive(_leaves, _records, max_leaves=12))
    def test_are_recorded_as_a_snapshot_of_the_whole_is(self, value):
        assert repr(thaw(freeze(value))) == repr(first_snapshot(value)[0])

    @given(st.recursive(_leaves, _records, max_leaves=12))
    def test_are_recorded_so_without_a_guarded_stack_too(self, value):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(freeze_module, "_stack_is_guarded", lambda: False)
            assert repr(thaw(freeze(value))) == repr(first_snapshot(value)[0])

    @pytest.mark.parametrize("record", [Node([1]), Holder(value="x" * 300), [Slotted([1])] * 3], ids=repr)
    def test_are_packed_and_read_later(self, record):
        assert freeze(record).form == ("packed" if freeze_module._stack_is_guarded() else "plain")

    def test_that_hold_themselves_are_marked(self):
        """Scenario 5."""
        node = Node("x" * 300)
        node.below = [node, {"again": node}]
        kept = thaw(freeze(node))
        assert kept == {
            "value": "x" * 300,
            "below": [{"$cycle": f"{__name__}.Node"}, {"again": {"$cycle": f"{__name__}.Node"}}],
        }
        assert kept == first_snapshot(node)[0]

    @pytest.mark.parametrize("levels", [50, 400, 5_000, 100_000])
    def test_in_a_long_chain_are_cut_at_the_depth(self, levels):
        """Scenario 6."""
        chain = None
        for number in range(levels):
            chain = Node(number, chain)
        assert thaw(freeze(chain)) == first_snapshot(chain)[0]
        assert thaw(freeze([chain])) == first_snapshot([chain])[0]
        while chain is not None:  # link by link: the interpreter has a stack, too
            chain.below, chain = None, chain.below

    def test_keep_as_much_of_what_is_too_large_as_a_snapshot_does(self):
        large = [Node("x" * 270_000), Node("y" * 1_000)]
        assert len(repr(thaw(freeze(large)))) > 100_000
        assert len(repr(thaw(freeze(Node(["x" * 1_000] * 400))))) > 100_000

    def test_that_change_later_are_recorded_as_they_were(self):
        """Scenario 20."""
        node = Node(["before"], {"a": "b" * 300})
        frozen = freeze(node), freeze([node, node, node])
        node.value[0] = node.below["a"] = "after"
        assert thaw(frozen[0]) == {"value": ["before"], "below": {"a": "b" * 300}}
        assert thaw(frozen[1])[2] == thaw(frozen[0])


class TestObjectsInsidePackedValues:
    @pytest.mark.parametrize(
        "item",
        [
            datetime.date(2024, 1, 1),
            datetime.datetime(2024, 1, 1, tzinfo=datetime.UTC),
            decimal.Decimal("1.5"),
            uuid.UUID(int=1),
            Color.RED,
            Point(1, 2),
            Model(),
            Refuses(),
            object(),
            len,
            copy.copy,
            Refuses,
            StandIn,
            {Point(1, 2)},
        ],
        ids=lambda item: type(item).__name__,
    )
    @pytest.mark.parametrize("around", [lambda item: [{"a": 1}, item], lambda item: {"a": {"b": [item]}}])
    def test_leave_the_value_packed_instead_of_walked(self, item, around):
        """Packing is the cheap way: a walk, or an error that ends packing, costs many times that."""
        value = around(item)
        frozen = freeze(value)
        assert frozen.form == "packed"
        assert thaw(frozen) == snapshot(value)[0]

    def test_cost_what_their_own_snapshots_cost(self):
        """Each is asked for once: no error on the way makes the packer begin again."""
        asked = []
        rows = [{"n": n, "when": Point(n, n)} for n in range(20)]

        class Counting(packing._Packer):
            def reducer_override(self, value):
                asked.append(value)
                return super().reducer_override(value)

        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(packing, "_packers", [Counting()])
            assert freeze(rows).form == "packed"
        assert [value for value in asked if value is not Fields] == [row["when"] for row in rows]

    def test_are_in_one_order_in_a_set(self):
        points = [Point(n, -n) for n in range(20)]
        mirrored = [Point(-n, n) for n in range(0, -20, -1)]
        forwards, backwards = [set(points)], [set(mirrored)]
        assert thaw(freeze(forwards)) == thaw(freeze(backwards)) == snapshot(forwards)[0]

    def test_are_never_pickled(self):
        kept = thaw(freeze({"a": [Refuses(), {"b": Refuses()}], "long": "x" * 300}))
        assert kept["a"][0] == {"$type": f"{__name__}.Refuses"}

    @pytest.mark.parametrize(
        "value",
        [
            {"a": {Point(1, 2): 1}},
            {"a": {(1, Point(1, 2)): 1}},
            {"a": {Color.RED: 1, "red": 2}},
            [{Point(1, 2), Point(3, 4)}],
            [{frozenset([Point(1, 2)])}],
            {"a": {Refuses: 1}},
            pytest.param({Refuses(): [1, 2]}, id="{Refuses(): [1, 2]}"),
        ],
        ids=repr,
    )
    def test_may_be_keys_and_members(self, value):
        """Scenario 18."""
        assert repr(thaw(freeze(value))) == repr(snapshot(value)[0])

    def test_of_a_cycle_are_marked(self):
        """Scenario 5."""
        value = {"a": [1], "long": "x" * 300}
        value["a"].append(value)
        assert thaw(freeze(value))["a"][1] == {"$cycle": "dict"}


class Unhashable(type):
    """A metaclass with an equality of its own, so that its classes have no hash, as Python has it."""

    def __eq__(cls, other):
        raise SystemExit("a class was compared")


class Money(metaclass=Unhashable):
    pass


class TestClassesWithAMetaclassOfTheUsers:
    @pytest.mark.parametrize("kind", ["hash", "equality"])
    @pytest.mark.parametrize("base", [object, list, dict, set, str, int, bytes, tuple, float])
    @pytest.mark.parametrize(
        "around",
        [
            lambda value: value,
            lambda value: [value],
            lambda value: {"a": [value]},
            lambda value: (1, {"a": value}),
            lambda value: [[n] for n in range(100)] + [value],
        ],
        ids=range(5),
    )
    def test_are_never_hashed_or_compared(self, kind, base, around):
        """Scenario 3."""

        def refuse(*_):
            raise SystemExit("code of a metaclass ran")

        methods = {"__eq__": refuse} if kind == "equality" else {"__hash__": refuse}
        made = type("Meta", (type,), methods)("Made", (base,), {})()
        assert snapshot(thaw(freeze(around(made))))[0] == snapshot(around(made))[0]

    def test_may_be_recorded_themselves(self):
        assert thaw(freeze([Money])) == [{"$type": f"{__name__}.Unhashable"}]


class TestPackers:
    """One that is free packs the next value: to make it costs as much as to pack a small one."""

    LARGE = ({"text": "x" * 300, "n": 1}, [2])

    def packers(self, monkeypatch):
        monkeypatch.setattr(packing, "_packers", [])
        freeze(self.LARGE)
        return packing._packers

    def test_are_used_again(self, monkeypatch):
        packers = self.packers(monkeypatch)
        (first,) = packers
        assert thaw(freeze(self.LARGE)) == [*self.LARGE]
        assert packers == [first]

    def test_keep_nothing_of_what_they_packed(self, monkeypatch):
        (packer,) = self.packers(monkeypatch)
        part = ["part"]
        counted = sys.getrefcount(part)
        freeze([part, "x" * 300])
        assert sys.getrefcount(part) == counted
        assert packer.writer.chunks == []

    @pytest.mark.parametrize("value", [["x" * 100_000, "y" * 100_000, ["z" * 100_000]], [[[]]]], ids=range(2))
    def test_that_were_stopped_are_not_used_again(self, monkeypatch, value):
        packers = self.packers(monkeypatch)
        if value == [[[]]]:
            for _ in range(100_000):
                value = [value]
        assert freeze(value).form == "plain"
        assert len(packers) <= 1
        assert thaw(freeze(self.LARGE)) == [*self.LARGE]

    def test_are_taken_one_for_each_value(self, monkeypatch):
        """A handler of the user's may record a call of its own while a value is packed."""
        inside = []

        class Kind:
            pass

        def handler(_):
            inside.append(thaw(freeze(self.LARGE)))
            return "read"

        register_snapshot(Kind, handler)
        self.packers(monkeypatch)
        assert thaw(freeze([[Kind()], "x" * 300])) == [["read"], "x" * 300]
        assert inside == [[*self.LARGE]]


class TestDepth:
    @pytest.mark.parametrize("guarded", [True, False], ids=["guarded by Python", "looked at"])
    @pytest.mark.parametrize("depth", [10, 63, 64, 65, 200, 50_000])
    @pytest.mark.parametrize("first", [0, 200], ids=["alone", "behind many"])
    @pytest.mark.parametrize(
        "around",
        [
            lambda value: [value],
            lambda value: {"a": value},
            lambda value: (1, value),
            lambda value: [{1: value}],
        ],
        ids=range(4),
    )
    def test_that_is_packed_is_bounded_wherever_it_lies(self, guarded, depth, first, around, monkeypatch):
        if not guarded:  # as on those versions of Python whose own limit needs too much stack
            monkeypatch.setattr(freeze_module, "_GUARDED_LEVELS", 0)
        value = "leaf"
        for _ in range(depth):
            value = around(value)
        value = [*([n] for n in range(first)), value]
        frozen = freeze(value)
        if depth == 10 or depth > 10_000:
            assert frozen.form == ("packed" if depth == 10 else "plain")
        assert thaw(frozen) == snapshot(value)[0]

    def test_of_shared_parts_ends(self, monkeypatch):
        monkeypatch.setattr(freeze_module, "_GUARDED_LEVELS", 0)
        value = ["x"]
        for _ in range(40):
            value = [value, value]
        assert isinstance(freeze(value), Frozen)


class TestBounds:
    @pytest.mark.parametrize(
        "value",
        [
            "é" * 10_000_000,
            ["x" * 10_000_000],
            {"a": ["x" * 10_000_000]},
            ["x" * 300] * 100_000,
            {"a": {str(n): n for n in range(200_000)}},
            [b"x" * 10_000_000],
            [10**3_000] * 1_000,
        ],
        ids=range(7),
    )
    def test_hold_for_what_waits_and_for_what_is_kept(self, value):
        """Scenarios 9 and 10."""
        frozen = freeze(value)
        assert isinstance(frozen, Frozen)
        held = frozen.content if isinstance(frozen.content, bytes) else pickle.dumps(frozen.content)
        assert len(held) <= 2 * 2 * RECORDED.value
        assert len(str(thaw(frozen))) < 3 * RECORDED.value

    @pytest.mark.parametrize(
        "huge", ["x" * 200_000, "é" * 200_000, 1 << 200_000, -(1 << 200_000)], ids=range(4)
    )
    @pytest.mark.parametrize(
        "around",
        [
            lambda huge: {"a": {"b": huge}},
            lambda huge: [1, {"a": (2, [huge])}],
            lambda huge: {"a": [{"b": 1, huge: 2}]},
            lambda huge: {"a": {(1, huge): 1}},
            lambda huge: [[n] for n in range(20)] + [[{"a": {huge}}]],
            lambda huge: [[frozenset([huge])]],
        ],
        ids=range(6),
    )
    def test_hold_before_anything_huge_is_packed_at_any_depth(self, around, huge, monkeypatch):
        """Packing one would copy it as a whole, on the caller's time. Told by the first of each level."""
        packed = []
        monkeypatch.setattr(freeze_module, "pack", lambda *packing: packed.append(packing))
        frozen = freeze(around(huge))
        assert not packed
        assert frozen.form == "plain"
        assert frozen.content == snapshot(around(huge))[0]

    def test_hold_for_the_time_that_very_many_small_items_take(self, monkeypatch):
        """What is shared is packed once; of what is not, no more is packed than its limit."""
        shared = [["x"] * 100] * 100
        # Where Python does not guard the stack itself, many containers are walked, within a bound.
        most = 1_000 if sys.version_info < (3, 12) or sys.version_info >= (3, 14) else RECORDED.value // 2
        assert freeze([shared] * 100).size < most
        written = []

        class Writer(packing._BoundedWriter):
            def write(self, chunk):
                written.append(len(chunk))
                super().write(chunk)

        monkeypatch.setattr(packing, "_BoundedWriter", Writer)
        monkeypatch.setattr(packing, "_packers", [])
        assert freeze({str(n): [0] * 100_000 for n in range(100)}).size < RECORDED.value
        assert written
        assert sum(written) < 3 * RECORDED.value

    def test_hold_for_the_time_that_a_vast_table_takes(self, monkeypatch):
        """It is walked at once, not packed first until the writer stops it; what is kept is the same."""
        tables = [[[0] * 2_000 for _ in range(200)], ([0.5] * 10_000, *([n] * 3_000 for n in range(90)))]
        monkeypatch.setattr(freeze_module, "_are_vast", lambda rows, most: False)
        contents = [freeze(table).content for table in tables]
        monkeypatch.undo()
        packed = []
        monkeypatch.setattr(freeze_module, "pack", lambda *packing: packed.append(packing))
        assert [freeze(table).content for table in tables] == contents
        assert not packed

    def test_take_no_row_for_many_that_is_there_once(self):
        row = [*range(1_000)]
        for table in ([row] * 400, [[1, 2], *([[]] * 400), row]):
            assert freeze(table).form == "packed"
            assert thaw(freeze(table)) == first_snapshot(table)[0]

    def test_leave_room_for_a_huge_text_in_what_is_too_large(self):
        """It alone made the value too large, so that the walk is short, and more of it may be kept."""
        for around in (
            lambda text: [*range(20), text, *range(20)],
            lambda text: [[n] for n in range(300)] + [[text, 1, 2, 3]],
            lambda text: {"rows": [[n, text if n == 50 else "", n, n] for n in range(100)]},
        ):
            assert len(repr(thaw(freeze(around("x" * 300_000))))) > 100_000

    @pytest.mark.parametrize("depth", [100, 5_000, 100_000])
    def test_hold_for_depth(self, depth):
        """Scenario 6."""
        value = []
        for _ in range(depth):
            value = [value]
        assert str(thaw(freeze(value))).count("[") == 20

    @pytest.mark.usefixtures("without_collection")
    def test_a_value_frozen_where_no_stack_is_left_is_not_an_error(self):
        def dive(n):
            try:
                results.append(freeze({"a": [{"b": [n]}]}))
            except RecursionError:
                return
            dive(n + 1)

        results, limit = [], sys.getrecursionlimit()
        try:
            sys.setrecursionlimit(200)
            dive(0)
        finally:
            sys.setrecursionlimit(limit)
        assert results


def test_bytes_that_are_not_ours_are_never_loaded():
    """Scenario 25."""
    hostile = pickle.dumps(print)
    assert thaw(Frozen(hostile, len(hostile), "packed")) == {"$type": "unreadable"}


@pytest.mark.parametrize("kind", [list, tuple])
def test_long_texts_in_a_short_list_travel_by_reference_and_are_weighed(kind):
    texts = ["a" * 5_000, "short", "b" * (RECORDED.value + 9), 7, None]
    frozen = freeze(kind(texts))
    assert type(frozen) is Frozen
    assert frozen.content[0].content is texts[0]
    assert 5_000 + RECORDED.value <= frozen.size < 5_100 + RECORDED.value
    thawed = thaw(frozen)
    assert thawed[:2] == texts[:2]
    assert len(thawed[2]) < RECORDED.value + 100


def test_a_short_list_of_long_texts_is_a_copy():
    texts = ["a" * 5_000]
    frozen = freeze(texts)
    texts.append("later")
    assert thaw(frozen) == ["a" * 5_000]


class TestObjectsThatNeverChange:
    VALUES = (
        datetime.date(2025, 6, 1),
        datetime.datetime(2025, 6, 1, 12, tzinfo=datetime.UTC),
        datetime.time(12),
        datetime.timedelta(days=2),
        decimal.Decimal("1.50"),
        uuid.UUID(int=7),
        pathlib.PurePosixPath("/a/b"),
    )

    @pytest.mark.parametrize("value", VALUES, ids=lambda value: type(value).__name__)
    @pytest.mark.parametrize(
        "container", [lambda v: ["a", v, 1], lambda v: ("a", v), lambda v: {"a": 1, "$type": v, "day": v}]
    )
    def test_travel_by_reference_in_short_flat_lists_and_mappings(self, value, container):
        whole = container(value)
        frozen = freeze(whole)
        assert frozen.form == "whole"
        assert thaw(frozen) == first_snapshot(whole)[0]
        assert thaw(frozen) == thaw(freeze([whole]))[0]  # which is packed

    def test_stand_beside_long_texts(self):
        whole = ["x" * 300, datetime.date(2025, 6, 1)]
        assert thaw(freeze(whole)) == first_snapshot(whole)[0]

    def test_what_the_list_holds_later_is_not_recorded(self):
        values = [datetime.date(2025, 6, 1)]
        frozen = freeze(values)
        values[0] = "other"
        assert thaw(frozen) == ["2025-06-01"]

    def test_what_the_mapping_holds_later_is_not_recorded(self):
        values = {"day": datetime.date(2025, 6, 1), "at": Point(1, [])}
        small = {"day": datetime.date(2025, 6, 1), "color": Color.RED}
        frozen = freeze(values), freeze(small)
        values["day"] = small["day"] = "other"
        assert [thaw(one)["day"] for one in frozen] == ["2025-06-01", "2025-06-01"]

    def test_mappings_with_other_keys_or_long_texts_are_packed(self):
        day = datetime.date(2025, 6, 1)
        for value in ({1: day}, {"a": day, "b": "x" * 300}, {"a": day, "b": [1]}):
            assert freeze(value).form == "packed"
            assert thaw(freeze(value)) == first_snapshot(value)[0]

    def test_a_handler_of_the_users_reads_them_on_the_callers_thread(self, monkeypatch):
        read = []
        monkeypatch.setattr(handlers._handlers, "_entries", {**handlers._handlers._entries})
        handlers.register_snapshot(datetime.date, lambda value: read.append(value) or "a date")
        frozen = freeze([datetime.date(2025, 6, 1)])
        assert read
        assert thaw(frozen) == ["a date"]

    def test_a_class_of_the_users_is_read_on_the_callers_thread_by_a_function_that_we_use_too(
        self, monkeypatch
    ):
        class Mutable:
            text = "before"

            def __str__(self):
                return self.text

        monkeypatch.setattr(handlers._handlers, "_entries", {**handlers._handlers._entries})
        handlers.register_snapshot(Mutable, str)
        value = Mutable()
        frozen = freeze([value])
        value.text = "after"
        assert thaw(frozen) == ["before"]

    def test_a_subclass_is_not_taken_for_one(self):
        class Day(datetime.date):
            pass

        assert freeze([Day(2025, 6, 1)]).form == "packed"
