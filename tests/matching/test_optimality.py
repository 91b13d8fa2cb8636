"""Up to seven expected and seven actual calls: no pairing is better than the one that is chosen."""

from __future__ import annotations

from functools import cache

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agenttrace.expectations import call, expect, par, seq
from agenttrace.expectations.assign import Assignment
from agenttrace.matching import compare
from tests.expectations.strategies import trace_of

Drawn = tuple[str, int, int]
CALLS = st.lists(st.tuples(st.sampled_from("ab"), st.integers(0, 1), st.integers(0, 1)), max_size=7)


def agreement(expected: Drawn, actual: Drawn) -> float:
    """What the engine promises: none between two names, else the share of arguments that agree."""
    if expected[0] != actual[0]:
        return 0.0
    return ((expected[1] == actual[1]) + (expected[2] == actual[2])) / 2


def best_in_order(expected: list[Drawn], actual: list[Drawn]) -> float:
    """The greatest total over every way to pair the calls without crossing."""

    @cache
    def best(e: int, a: int) -> float:
        if e == len(expected) or a == len(actual):
            return 0.0
        paired = agreement(expected[e], actual[a]) + best(e + 1, a + 1)
        return max(paired, best(e + 1, a), best(e, a + 1))

    return best(0, 0)


def best_in_any_order(weights: list[list[float]]) -> float:
    """The greatest total over every one-to-one pairing of rows with columns."""

    @cache
    def best(row: int, taken: int) -> float:
        if row == len(weights):
            return 0.0
        found = best(row + 1, taken)
        for column, weight in enumerate(weights[row]):
            if not taken >> column & 1:
                found = max(found, weight + best(row + 1, taken | 1 << column))
        return found

    return best(0, 0)


def written(drawn: list[Drawn]) -> list[object]:
    return [call(name, {"x": x, "y": y}) for name, x, y in drawn]


def call_data(drawn: list[Drawn]) -> list[dict[str, object]]:
    return [{"name": name, "arguments": {"x": x, "y": y}} for name, x, y in drawn]


@given(CALLS.filter(bool), CALLS)
def test_a_sequence_is_paired_as_well_as_can_be(expected: list[Drawn], actual: list[Drawn]) -> None:
    comparison = compare(expect(seq(*written(expected))), trace_of(call_data(actual)))
    assert comparison.coverage * len(expected) == pytest.approx(best_in_order(expected, actual))


@given(CALLS.filter(bool), CALLS)
def test_an_unordered_group_is_paired_as_well_as_can_be(expected: list[Drawn], actual: list[Drawn]) -> None:
    comparison = compare(expect(par(*written(expected))), trace_of(call_data(actual)))
    weights = [[agreement(e, a) for a in actual] for e in expected]
    assert comparison.coverage * len(expected) == pytest.approx(best_in_any_order(weights))


@given(CALLS)
def test_a_run_compared_with_itself_agrees_wholly(drawn: list[Drawn]) -> None:
    for expected in (written(drawn), expect(par(*written(drawn))) if drawn else []):
        comparison = compare(expected, trace_of(call_data(drawn)))
        assert comparison.holds
        assert comparison.coverage == comparison.precision == comparison.arguments == 1.0


@given(
    st.integers(1, 7).flatmap(
        lambda places: st.lists(
            st.dictionaries(st.integers(0, places - 1), st.integers(1, 9), max_size=places), max_size=7
        ).map(lambda calls: (places, calls))
    )
)
def test_seven_places_are_filled_as_well_as_can_be(table: tuple[int, list[dict[int, int]]]) -> None:
    places, calls = table
    assignment = Assignment(places)
    for number, weights in enumerate(calls):
        assignment.add(number, weights)
    rows = [[float(weights.get(place, 0)) for place in range(places)] for weights in calls]
    assert assignment.total == best_in_any_order(rows)
