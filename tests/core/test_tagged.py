"""Values that JSON has no word for, in their recorded form and back."""

import json
import math
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agenttrace.core.jsonable import jsonable, to_json
from agenttrace.core.snapshot import first_snapshot, snapshot
from agenttrace.core.tagged import opened_throughout
from agenttrace.tracing.freeze import freeze, thaw

ODD_KEYS = st.sampled_from(
    ["a", "$float", "$$float", "$type", "$bytes", "size", "$truncated", "$ref", "$", "$int"]
)
SCALARS = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.integers(10**700, 10**700 + 5)
    | st.floats()
    | st.decimals(allow_nan=False, allow_infinity=False)
    | st.binary(max_size=40)
    | st.text(max_size=8)
    | st.sampled_from(["NaN", "0x1f", "1.10", "YQ=="])
)
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(ODD_KEYS, inner, max_size=2),
    max_leaves=12,
)


def through_json(data):
    return json.loads(to_json(data))


@given(VALUES)
def test_what_was_passed_comes_back_from_the_record(value):
    for recorded in (first_snapshot(value)[0], thaw(freeze(value))):
        assert repr(opened_throughout(through_json(jsonable(recorded)))) == repr(value)


@given(VALUES)
def test_what_is_recorded_already_is_recorded_the_same_again(value):
    recorded = jsonable(first_snapshot(value)[0])
    assert jsonable(recorded) == recorded


@pytest.mark.parametrize(
    ("value", "data"),
    [
        (math.nan, {"$float": "NaN"}),
        (-math.inf, {"$float": "-Infinity"}),
        (Decimal("1.10"), {"$decimal": "1.10"}),
        (Decimal("-Infinity"), {"$decimal": "-Infinity"}),
        (b"abc", {"$bytes": "YWJj", "size": 3}),
        (1 << 3_000, {"$int": hex(1 << 3_000)}),
        (1 << 60, 1 << 60),
    ],
)
def test_each_has_one_form(value, data):
    assert jsonable(value) == data
    assert jsonable({"deep": [value]}) == {"deep": [data]}


@pytest.mark.parametrize(
    "value", [{"$type": "x"}, {"$float": "NaN"}, {"$$float": "NaN"}, {"$truncated": 3, "a": 1}]
)
def test_a_mapping_of_the_users_that_looks_like_ours_is_told_apart(value):
    (recorded, _), again = first_snapshot(value), snapshot(value)[0]
    assert recorded != value == again
    assert opened_throughout(recorded) == value


@pytest.mark.parametrize(
    "value", [{"$ref": "#/x"}, {"$type": "post", "text": "hi"}, {"$schema": "s", "a": 1}]
)
def test_other_mappings_with_dollars_stay_as_they_are(value):
    assert first_snapshot(value)[0] == value == opened_throughout(value)
