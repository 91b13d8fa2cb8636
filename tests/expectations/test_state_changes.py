"""What changed between two states is found, and is enough to make the one of the other."""

from copy import deepcopy

from hypothesis import example as hypothesis_example
from hypothesis import given
from hypothesis import strategies as st

from agenttrace import Example, StateScorer, Trace
from agenttrace.core import semconv
from agenttrace.core.span import Span
from agenttrace.core.state import STATE
from agenttrace.expectations.expected_state import places_at, steps_of, without
from agenttrace.expectations.state_changes import NOWHERE, Changes, path_text, value_at

SCALARS = st.none() | st.booleans() | st.integers(0, 2) | st.sampled_from(["", "x", 0.5])
STATES = st.recursive(
    SCALARS,
    lambda inner: st.dictionaries(st.sampled_from("abc"), inner, max_size=3) | st.lists(inner, max_size=4),
    max_leaves=12,
)
MAPPINGS = st.recursive(
    SCALARS, lambda inner: st.dictionaries(st.sampled_from("abc"), inner, max_size=3), max_leaves=12
)
TOPS = st.dictionaries(st.sampled_from("abc"), MAPPINGS)


def same(one, other):
    """Equality of JSON data, the oracle: True is not 1."""
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(same(one[key], other[key]) for key in one)
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(same, one, other))
    return one == other and isinstance(one, bool) == isinstance(other, bool)


def trace_of(start, end):
    """A trace that read these states."""
    attributes = {
        semconv.STATE_CHANGED: [list(c.path) for c in Changes(start, end)],
        semconv.STATE_UNKNOWN: [],
    }
    fields = {"trace_key": 1, "span_key": 1, "name": "s", "span_type": STATE, "start_ns": 0}
    return Trace([Span(**fields, input={"start": start}, output=end, attributes=attributes)])


@given(STATES, STATES)
def test_there_are_changes_where_two_states_are_not_the_same_and_nowhere_else(start, end):
    changes = Changes(start, end)
    assert bool(changes) is not same(start, end)
    assert all(change.kind != "unknown" for change in changes)
    for change in changes:
        if change.kind in ("changed", "added"):
            assert same(value_at(end, change.path), change.after)
        if change.kind == "added":
            assert changes.before(change.path) is NOWHERE
        if change.kind == "changed":
            assert same(changes.before(change.path), change.before)
            assert not same(change.before, change.after)


@given(MAPPINGS, MAPPINGS)
def test_the_changes_made_at_the_start_give_the_end(start, end):
    state = deepcopy(start)
    for change in Changes(start, end):
        if not change.path:
            state = change.after
            continue
        holder = value_at(state, change.path[:-1])
        if change.kind == "removed":
            del holder[change.path[-1]]
        else:
            holder[change.path[-1]] = change.after
    assert same(state, end)


@given(TOPS, TOPS, MAPPINGS)
@hypothesis_example({"c": {"a": None, "c": {"a": None}}}, {"c": {"c": {}}}, {})
def test_an_expectation_of_all_changes_holds_for_these_and_for_no_others(start, end, other):
    expected = {"only": True, "changed": [], "added": [], "removed": []}
    for change in Changes(start, end):
        path = path_text(change.path)
        expected[change.kind].append(path if change.kind == "removed" else {path: change.after})
    expected = {word: places for word, places in expected.items() if places}
    example = Example(expected_state={"s": expected})
    assert StateScorer().score(example, trace_of(start, end)).value == 1.0
    different = {**end, "c": other}
    score = StateScorer().score(example, trace_of(start, different))
    assert score.passed is same(end, different), score.diff


@given(STATES, STATES)
def test_no_change_is_found_in_the_replayed_target_where_it_is_the_end(start, end):
    def tool(state):
        if isinstance(state, dict):
            state.clear()
            state.update(deepcopy(end))

    start = start if isinstance(start, dict) else {"a": start}
    end = end if isinstance(end, dict) else {"b": end}
    example = Example(expected_state={"s": {"state_from": ["tool"]}})
    assert StateScorer(replay={"tool": tool}).score(example, trace_of(start, end)).value == 1.0
    nothing = StateScorer(replay={"tool": lambda state: None}).score(example, trace_of(start, end))
    assert nothing.passed is same(start, end)


def test_a_path_is_read_with_dots_brackets_and_keys_that_have_dots():
    assert steps_of("orders.7.items[0].price") == ["orders", "7", "items", "0", "price"]
    state = {"orders": {"7": {"items": [{"price": 3}]}}, "a.b": {"c.d": 1}}
    assert list(places_at("orders.7.items[0].price", state)) == [("orders", "7", "items", 0, "price")]
    assert list(places_at("orders.*.items[*].price", state)) == [("orders", "7", "items", 0, "price")]
    assert list(places_at("a.b.c.d", state)) == [("a.b", "c.d")]
    assert list(places_at("orders.8.status", state)) == [("orders", "8", "status")]


def test_what_is_ignored_is_left_out_at_any_depth():
    state = {"a": {"at": 1, "b": [{"at": 2, "c": 3}]}, "at": 4}
    assert without(state, ["**.at"]) == {"a": {"b": [{"c": 3}]}}
    assert without(state, ["a.b[0].c", "at"]) == {"a": {"at": 1, "b": [{"at": 2}]}}
    assert without(state, ["*.at"]) == {"a": {"b": [{"at": 2, "c": 3}]}, "at": 4}
