"""When two values agree, and by how much."""

from __future__ import annotations

import dataclasses
import datetime
import enum
import uuid
from decimal import Decimal

import pydantic
import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from agenttrace.core.errors import ExpectationError
from agenttrace.core.snapshot import snapshot
from agenttrace.core.value_key import value_key
from agenttrace.expectations import reading
from agenttrace.expectations.values import Difference, agreement, differences, prepare

JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-3, 3) | st.sampled_from([0.5, 1.0]) | st.sampled_from("ab"),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from("xyz"), inner, max_size=3),
    max_leaves=6,
)


class Colour(enum.Enum):
    RED = "red"


@dataclasses.dataclass
class Point:
    x: int
    y: int = 2


class Person(pydantic.BaseModel):
    name: str


ID = uuid.UUID("12345678-1234-5678-1234-567812345678")


@pytest.mark.parametrize(
    ("expected", "actual"),
    [
        (1, 1.0), (1.0, 1), ((1, 2), [1, 2]), ([1, 2], (1, 2)),
        ({"a": 1, "b": 2}, {"b": 2, "a": 1}),
        (float("nan"), float("nan")), (float("inf"), float("inf")),
        ({1, 2, 3}, [3, 1, 2]), ([1, 2], {2, 1}), (frozenset("ab"), ["b", "a"]),
        (datetime.date(2025, 6, 1), "2025-06-01"),
        (datetime.datetime(2025, 6, 1, 12, tzinfo=datetime.UTC), "2025-06-01T12:00:00+00:00"),
        (Colour.RED, "red"), (ID, str(ID)), (Decimal("1.50"), "1.50"),
        (Point(1), {"x": 1, "y": 2}), (Person(name="Ann"), {"name": "Ann"}),
        (2**70, 2**70), (-(2**60), -(2**60)),
        ({1: "a"}, {"1": "a"}), (None, None), ([], ()), ({}, {}),
    ],
)  # fmt: skip
def test_values_that_say_the_same_agree(expected: object, actual: object) -> None:
    assert agreement(expected, actual) == 1.0
    assert differences(expected, actual) == []


@pytest.mark.parametrize(
    ("expected", "actual"),
    [
        (True, 1), (1, True), (False, 0), (0, False), (True, 1.0),
        ("1", 1), (1, "1"), (None, "None"), (None, 0), ("", None),
        ([1, 2], [2, 1]), ([1], 1), ({"a": 1}, [1]), ("a", "A"), ({1, 2}, [1, 1]),
        (float("nan"), 0.0), (2**70, str(2**70)), ([], {}), ({}, []), (2**70, 2**70 + 1),
    ],
)  # fmt: skip
def test_values_that_differ_do_not_agree(expected: object, actual: object) -> None:
    assert agreement(expected, actual) < 1.0
    assert differences(expected, actual)


def test_none_is_not_a_missing_key() -> None:
    assert differences({"a": None}, {}) == [Difference("a", None, None, "missing")]
    assert differences({}, {"a": None}) == [Difference("a", None, None, "unexpected")]


def test_a_date_that_yaml_reads_equals_its_text() -> None:
    assert agreement(yaml.safe_load("day: 2025-06-01"), {"day": "2025-06-01"}) == 1.0


def test_the_path_of_a_difference_leads_through_mappings_and_lists() -> None:
    found = differences(
        {"rooms": [{"beds": 2}, {"beds": 1}]}, {"rooms": [{"beds": 2}, {"beds": 3, "tv": True}]}
    )
    assert found == [
        Difference("rooms[1].beds", 1, 3),
        Difference("rooms[1].tv", None, True, "unexpected"),
    ]


def test_agreement_is_the_share_of_keys_of_either_side() -> None:
    assert agreement({"a": 1, "b": 2}, {"a": 1, "b": 3}) == 0.5
    assert agreement({"a": 1}, {"a": 1, "b": 2, "c": 3}) == pytest.approx(1 / 3)
    assert agreement([1, 2, 3], [1, 2]) == pytest.approx(2 / 3)
    assert agreement({"a": {"b": 1, "c": 2}}, {"a": {"b": 1, "c": 0}}) == 0.5


def test_listed_mode_leaves_other_keys_free_at_any_depth() -> None:
    assert agreement({"a": {"b": 1}}, {"a": {"b": 1, "c": 2}, "d": 3}, "listed") == 1.0
    assert agreement({"a": [{"b": 1}]}, {"a": [{"b": 1, "c": 2}]}, "listed") == 1.0
    assert agreement({"a": {"b": 1}}, {"a": {"c": 2}}, "listed") == 0.0
    assert agreement({"a": [1]}, {"a": [1, 2]}, "listed") == 0.5


def test_ignore_mode_compares_nothing() -> None:
    assert agreement({"a": 1}, {"b": 2}, "ignore") == 1.0
    assert differences({"a": 1}, {"b": 2}, "ignore") == []


def test_a_text_that_was_cut_when_recorded_differs_only_by_what_was_kept() -> None:
    text = "x" * 500 + "y" * 500
    cut, _ = snapshot(text, 600)
    assert cut.endswith("chars]")
    for expected, told in ((text, None), (text + "z", 0.0), ("z" + text[1:], 0.0), (7, 0.0)):
        for actual in (cut, {"a": cut}):
            value = expected if actual is cut else {"a": expected}
            assert both_readings(value, actual) == ([0.0, 1.0] if told is None else [told, told])


def test_of_a_list_that_was_cut_when_recorded_the_rest_cannot_be_told() -> None:
    items = list(range(1_500))
    cut, _ = snapshot(items)
    assert both_readings(items, cut) == [pytest.approx(1_000 / 1_500), 1.0]
    assert max(both_readings([*items, 1], cut)) < 1.0
    assert max(both_readings([7, *items[1:]], cut)) < 1.0


def both_readings(expected: object, actual: object) -> list[float]:
    """Agreement where what cannot be told is read against the verdict, and in its favour."""
    values = []
    for favourable in (False, True):
        with reading._read(favourable):
            values.append(agreement(expected, actual))
    return values


def test_a_predicate_is_told_in_the_difference_when_it_raises() -> None:
    assert agreement({"a": lambda value: value > 3}, {"a": 4}) == 1.0
    (found,) = differences({"a": lambda value: value > 3}, {"a": "x"})
    assert "TypeError" in found.note


def test_a_class_in_place_of_a_value_is_an_error() -> None:
    with pytest.raises(ExpectationError, match="type_"):
        prepare({"a": int})


def test_a_value_inside_itself_does_not_hang() -> None:
    loop: list[object] = []
    loop.append(loop)
    assert 0.0 <= agreement(loop, [[1]]) <= 1.0


@given(JSON, JSON, st.sampled_from(["exact", "listed"]))
def test_agreement_is_one_exactly_where_nothing_differs(expected, actual, mode) -> None:  # type: ignore[no-untyped-def]
    weight = agreement(expected, actual, mode)
    assert 0.0 <= weight <= 1.0
    assert (weight == 1.0) == (not differences(expected, actual, mode))


@given(JSON)
def test_every_value_agrees_with_its_own_snapshot(value) -> None:  # type: ignore[no-untyped-def]
    assert agreement(value, snapshot(value)[0]) == 1.0


@given(JSON, JSON)
def test_keys_are_equal_exactly_where_values_agree(one, other) -> None:  # type: ignore[no-untyped-def]
    assert (value_key(one) == value_key(other)) == (agreement(one, other) == 1.0)
