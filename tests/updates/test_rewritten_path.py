"""An expectation is changed so that its path says what ran, in as few places as possible."""

import copy

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agenttrace import Trace
from agenttrace.expectations.expectation import MODES
from agenttrace.matching.compare import compare
from agenttrace.updates.rewritten_call import CannotRewrite
from agenttrace.updates.rewritten_path import rewritten


def call(name, **arguments):
    return {"name": name, "arguments": arguments}


def after(expected, *calls, **how):
    return rewritten(expected, Trace.from_calls(list(calls)), **how).data


LOOK_AND_REFUND = ["look", {"refund": {"id": 7, "amount": {"$gte": 5}}}, "notify"]


@pytest.mark.parametrize(
    ("expected", "calls", "wanted"),
    [
        # what holds stays as it is
        (["a", "b"], ["a", "x", "b"], ["a", "b"]),
        ([], [], []),
        # values
        ([{"r": {"id": 7}}], [call("r", id=8)], [{"r": {"id": 8}}]),
        ([{"tool_name": "r", "parameters": {"id": 7}}], [call("r", id=8)],
         [{"tool_name": "r", "parameters": {"id": 8}}]),
        ([{"call": "r", "args": {"id": 7}, "as": "x"}], [call("r", id=8)],
         [{"call": "r", "args": {"id": 8}, "as": "x"}]),
        ([{"r": {"id": {"$gte": 5}, "x": 1}}], [call("r", id=8, x=2)], [{"r": {"id": {"$gte": 5}, "x": 2}}]),
        ([{"r": {"id": {"$gte": 5}}}], [call("r", id=3)], [{"r": {"id": 3}}]),
        ([{"r": {"a": {"b": [1, {"$gt": 0}]}}}], [call("r", a={"b": [2, 5], "c": 1})],
         [{"r": {"a": {"b": [2, {"$gt": 0}], "c": 1}}}]),
        ([{"r": {"id": 7, "note": "x"}}], [call("r", id=7, why="y")], [{"r": {"id": 7, "why": "y"}}]),
        ([{"r": {"id": 7, "note": {"$default": "x"}}}], [call("r", id=8)],
         [{"r": {"id": 8, "note": {"$default": "x"}}}]),
        ([{"tool_name": "r", "parameters": {"id": 7}, "match": "listed"}], [call("r", id=8, x=1)],
         [{"tool_name": "r", "parameters": {"id": 8}, "match": "listed"}]),
        ([{"tool_name": "r", "output": "old"}], [{"name": "r", "output": "new"}],
         [{"tool_name": "r", "output": "new"}]),
        # calls
        (["a", "b"], ["a"], ["a"]),
        (["a", "b", "c"], ["a", "x", "y", "c"], ["a", "x", "y", "c"]),
        (["a", "b"], ["b", "a"], ["b", "a"]),
        (["a", {"r": {"id": 7}}], ["a", call("s", id=1)], ["a", {"s": {"id": 1}}]),
        ([{"tool_name": "r", "parameters": {}}], [call("s", id=1)],
         [{"tool_name": "s", "parameters": {"id": 1}}]),
        (["a"], ["b"], ["b"]),
        # around patterns
        (["a", {"par": ["b", {"c": {"x": 1}}]}], ["a", call("c", x=2), "b"],
         ["a", {"par": ["b", {"c": {"x": 2}}]}]),
        (["a", {"par": ["b", "c"]}], ["a", "c"], ["a", {"par": ["c"]}]),
        (["a", {"opt": "b"}, "c"], ["a", "b", "d"], ["a", {"opt": "b"}, "d"]),
        (["a", {"any_of": ["b", "c"]}], ["a", "d"], ["a", "d"]),
        ([{"any_of": [{"b": {"x": 1}}, "z"]}], [call("b", x=2)], [{"any_of": [{"b": {"x": 2}}, "z"]}]),
        ([{"many": {"b": {"x": 1}}}], [call("b", x=2)], [{"many": {"b": {"x": 2}}}]),
        # a path with constraints
        ({"path": ["a"], "never": ["x"]}, ["b"], {"path": ["b"], "never": ["x"]}),
        ({"path": "a", "max_calls": 3}, ["b"], {"path": "b", "max_calls": 3}),
        ({"refund": {"id": 1}}, [call("refund", id=2)], {"refund": {"id": 2}}),
    ],
)  # fmt: skip
def test_only_what_differs_is_changed(expected, calls, wanted):
    assert after(expected, *calls) == wanted


@pytest.mark.parametrize(
    ("expected", "calls", "wanted", "how"),
    [
        (["a", "b"], ["a", "x", "b", "y"], ["a", "x", "b", "y"], {"mode": "exact"}),
        (["a", "b"], ["x", "a", "b"], ["x", "a", "b"], {"mode": "exact"}),
        (
            ["a", {"par": ["b", "c"]}],
            ["a", "c", "b", "d"],
            ["a", {"par": ["b", "c"]}, "d"],
            {"mode": "exact"},
        ),
        (["a", "b"], ["c", "b"], ["c", "b"], {"mode": "any_order"}),
        (["a"], ["b", "a"], ["b", "a"], {"mode": "any_order"}),
        (["a"], ["a", "b"], ["a", "b"], {"mode": "only"}),
        ([{"r": {"id": 7}}], [call("r", id=8, x=1)], [{"r": {"id": 8}}], {"match": "listed"}),
        ([], ["a"], [{"a": {}}], {"mode": "exact"}),
    ],
)
def test_the_mode_says_what_is_to_be_added(expected, calls, wanted, how):
    assert after(expected, *calls, **how) == wanted


@pytest.mark.parametrize(
    ("expected", "calls", "why"),
    [
        ([{"many": {"b": {"x": 1}}}], [call("b", x=2), call("b", x=3)], None),
        ([{"many": {"b": {"x": 1}}, }, {"many": "c", "times": [2, 3]}], [call("b", x=1), "c"], "only a part"),
        ([{"call": "b", "times": 2}], ["b"], "only a part"),
        ([{"any_of": [["a", "b"], ["c", "d"]]}], ["a"], "only a part"),
        ({"path": ["a"], "never": ["x*"]}, ["xy"], "never"),
        (["find", {"r": {"id": {"$ref": "find.output.id"}}}],
         [{"name": "find", "output": {"id": 1}}, call("r", id=2)], "not updated"),
        ([{"r": {"dry": {"$absent": True}}}], [call("r", dry=True)], "not updated"),
    ],
)  # fmt: skip
def test_what_cannot_be_written_in_its_place_says_why(expected, calls, why):
    if why is None:
        assert after(expected, *calls) == [{"many": {"b": {"x": 2}}}]
        return
    with pytest.raises(CannotRewrite, match=why):
        after(expected, *calls)


def test_guards_that_do_not_hold_are_named_and_left_as_they_are():
    expected = {"path": ["a"], "at_most": {"b": 1}}
    result = rewritten(expected, Trace.from_calls(["b", "b", "a"]))
    assert result.data == expected
    assert (
        result.notes == ("at_most: called twice (calls 1, 2); not updated",) or "at_most" in result.notes[0]
    )


@pytest.mark.parametrize(
    ("recorded", "cause"),
    [("[redacted]", "redacted"), ("abc…[+7 chars]", "cut"), ({"$type": "x.Y"}, "not opened")],
)
def test_what_was_not_recorded_whole_is_never_written_as_a_value(recorded, cause):
    kept = rewritten([{"r": {"key": "sesame", "n": 1}}], Trace.from_calls([call("r", key=recorded, n=2)]))
    assert kept.data in ([{"r": {"key": "sesame", "n": 2}}], [{"r": {"key": {"$any": True}, "n": 2}}])
    assert any(cause in note for note in kept.notes)
    added = rewritten([{"r": {"n": 1}}], Trace.from_calls([call("r", key=recorded, n=1)]))
    assert added.data == [{"r": {"n": 1, "key": {"$any": True}}}]
    assert any(cause in note for note in added.notes)


NAMES = st.sampled_from(["a", "b", "c"])
PLAIN = st.recursive(
    st.integers(0, 2) | st.sampled_from(["x", "y"]),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.sampled_from("pq"), inner, max_size=2),
    max_leaves=3,
)
EXPECTED_VALUES = PLAIN | st.sampled_from([{"$gte": 1}, {"$in": [1, "x"]}, {"$any": True}, {"$default": 1}])
ARGUMENTS = st.dictionaries(st.sampled_from("uv"), PLAIN, max_size=2)
EXPECTED = st.dictionaries(st.sampled_from("uv"), EXPECTED_VALUES, max_size=2)
CALLS = (
    NAMES
    | st.builds(lambda name, values: {name: values}, NAMES, EXPECTED)
    | st.builds(lambda name, values: {"tool_name": name, "parameters": values}, NAMES, EXPECTED)
)
ITEMS = st.recursive(
    CALLS,
    lambda inner: (
        st.builds(lambda items: {"par": items}, st.lists(inner, min_size=1, max_size=3))
        | st.builds(lambda item: {"opt": item}, inner)
        | st.lists(inner, max_size=3)
        | st.builds(lambda item: {"many": item}, inner)
    ),
    max_leaves=4,
)
RUNS = st.lists(
    st.builds(lambda name, values: {"name": name, "arguments": values}, NAMES, ARGUMENTS), max_size=5
)


@given(st.lists(ITEMS, max_size=4), RUNS, st.sampled_from(MODES), st.sampled_from(["exact", "listed"]))
def test_whatever_is_written_holds_for_the_run_and_is_not_written_twice(expected, calls, mode, match):
    run, before = Trace.from_calls(calls), copy.deepcopy(expected)
    try:
        new = rewritten(expected, run, mode=mode, match=match).data
    except CannotRewrite:
        return
    assert expected == before
    assert compare(new, run, mode=mode, match=match, credit="full").value == 1.0
    assert rewritten(new, run, mode=mode, match=match).data == new


@given(st.lists(CALLS, max_size=4), RUNS, st.sampled_from(["in_order", "exact", "any_order", "contains"]))
def test_plain_lists_of_calls_can_always_be_written(expected, calls, mode):
    new = rewritten(expected, Trace.from_calls(calls), mode=mode).data
    assert compare(new, Trace.from_calls(calls), mode=mode, credit="full").value == 1.0
