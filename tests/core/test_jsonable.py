"""Any value as strict JSON."""

import json
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agenttrace.core.jsonable import clean, clean_text, jsonable, to_json
from agenttrace.core.limits import RECORDED


class Hostile:
    """Raises from everything that Python lets a class define."""

    def _raise(self, *_):
        raise SystemExit("code of the value's ran")

    __repr__ = __str__ = __len__ = __bool__ = __iter__ = __getitem__ = __reduce_ex__ = __format__ = _raise
    __eq__ = __index__ = __int__ = __float__ = __contains__ = __call__ = __getstate__ = _raise
    __hash__ = object.__hash__
    model_dump = to_dict = keys = items = property(_raise)

    def __getattr__(self, name):
        raise SystemExit(name)


class HostileList(list):
    __iter__ = __len__ = __getitem__ = __repr__ = Hostile._raise


class HostileDict(dict):
    __iter__ = __len__ = __getitem__ = __repr__ = items = keys = copy = Hostile._raise


def strictly_parsed(text):
    def refuse(constant):
        raise AssertionError(f"{constant} is not JSON")

    return json.loads(text, parse_constant=refuse)


LEAVES = {
    "hostile": Hostile,
    "hostile class": lambda: Hostile,
    "object": object,
    "iterator": lambda: iter([1]),
    "exception": lambda: ValueError("x"),
    "complex": lambda: 1j,
    "huge integer": lambda: 7**40_000,
    "long text": lambda: "é" * 100_000,
}
CONTAINERS = {
    "list": list,
    "tuple": tuple,
    "hostile list": HostileList,
    "dict": lambda items: {key_of(item): item for item in items},
    "hostile dict": lambda items: HostileDict((key_of(item), item) for item in items),
    "twice": lambda items: [items, items],
    "cycle": lambda items: with_itself(items),
}


def key_of(item):
    return (
        item
        if type(item) in (str, int, float, bool, bytes, Hostile, tuple) and hashable(item)
        else id(item) % 7
    )


def hashable(item):
    return type(item) is not tuple or (
        all(map(hashable, item)) and not any(isinstance(i, list | dict) for i in item)
    )


def with_itself(items):
    items.append(items)
    return items


def build(plan):
    """The value for a plan: hypothesis prints plans, so that no hostile value is ever shown."""
    if isinstance(plan, tuple):
        name, parts = plan
        return CONTAINERS[name]([build(part) for part in parts])
    if isinstance(plan, frozenset):
        return LEAVES[next(iter(plan))]()
    return plan


leaves = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.floats(),
    st.text(st.characters(categories=None), max_size=30),
    st.binary(max_size=30),
    st.sampled_from(sorted(LEAVES)).map(lambda name: frozenset([name])),
)
plans = st.recursive(
    leaves,
    lambda parts: st.tuples(st.sampled_from(sorted(CONTAINERS)), st.lists(parts, max_size=5)),
    max_leaves=30,
)


@given(plans)
def test_whatever_the_value_the_text_is_strict_json_within_the_limit(plan):
    """Scenario 24, the value alone."""
    text = to_json(jsonable(build(plan), limit=RECORDED.value))
    strictly_parsed(text)
    assert len(text) < 7 * RECORDED.value  # a control character is six characters of JSON


@given(plans)
def test_what_is_json_safe_already_is_not_changed_again(plan):
    once = jsonable(build(plan))
    assert clean(once) == once


class TestFloats:
    @pytest.mark.parametrize(
        ("value", "word"), [(math.nan, "NaN"), (math.inf, "Infinity"), (-math.inf, "-Infinity")]
    )
    def test_that_json_has_no_word_for_are_tagged(self, value, word):
        """Scenario 8."""
        assert jsonable({"a": [value]}) == {"a": [{"$float": word}]}

    @pytest.mark.parametrize("value", [0.0, -1.5, 1.7976931348623157e308, 5e-324])
    def test_others_stay(self, value):
        assert strictly_parsed(to_json(jsonable(value))) == value


class TestText:
    def test_lone_surrogates_are_replaced_their_neighbours_kept(self):
        """Scenario 7."""
        assert jsonable({"a\ud800b": ["c\udfffd", "é"]}) == {"a\ufffdb": ["c\ufffdd", "é"]}

    def test_surrogates_that_form_a_pair_are_joined(self):
        assert clean_text("\ud83d\ude00") == "\U0001f600"

    def test_sound_text_is_the_same_object(self):
        text = "naïve \U0001f600"
        assert clean_text(text) is text


def test_without_a_limit_long_texts_stay_whole():
    assert jsonable(["x" * 200_000]) == ["x" * 200_000]


def test_json_text_refuses_what_is_not_json():
    with pytest.raises(ValueError, match="Out of range"):
        to_json(math.nan)
