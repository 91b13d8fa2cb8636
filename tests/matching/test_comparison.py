"""The numbers of a comparison."""

from __future__ import annotations

from itertools import permutations
from random import Random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agenttrace.core.trace import Trace
from agenttrace.expectations import any_of, call, many, opt, par, seq
from agenttrace.expectations.pattern import AnyOf, Many, Par, Pattern, Seq
from agenttrace.matching import compare
from agenttrace.matching.compared import Compare
from tests.expectations.strategies import trace_of
from tests.matching.recogniser import drawn_pattern, drawn_run


def test_coverage_precision_f1_order_and_arguments() -> None:
    run = trace_of(
        [{"name": "a", "arguments": {"x": 1}}, "c", {"name": "b", "arguments": {"y": 1, "z": 2}}, "q"]
    )
    comparison = compare([call("a", x=1), call("b", y=1, z=1), "c"], run, mode="lcs")
    assert comparison.coverage == pytest.approx(2 / 3)
    assert comparison.precision == pytest.approx(2 / 4)
    assert comparison.f1 == pytest.approx(2 * (2 / 3) * 0.5 / (2 / 3 + 0.5))
    assert comparison.order == pytest.approx(2 / 3)
    assert comparison.arguments == 1.0
    assert comparison.aligned == "2 of 3 expected calls aligned"


def test_full_credit_counts_calls_that_agree_fully() -> None:
    run = trace_of([{"name": "a", "arguments": {"x": 1, "y": 2}}, "b"])
    partial = compare([call("a", x=1, y=3), "b"], run)
    full = compare([call("a", x=1, y=3), "b"], run, credit="full")
    assert (partial.coverage, full.coverage) == (0.75, 0.5)
    assert (partial.precision, full.precision) == (0.75, 0.5)
    assert full.arguments == 0.75


def test_full_credit_does_not_trade_a_full_match_for_two_halves() -> None:
    run = trace_of(
        [{"name": "f", "arguments": a} for a in ({"x": 1, "y": 1, "z": 1}, {"x": 1, "y": 1, "q": 1})]
    )
    expected = [call("f", x=1, y=1, q=1), call("f", x=1, y=1, q=2)]
    assert compare(expected, run, mode="contains", credit="full").matched == 1


def test_empty_sides() -> None:
    nothing = compare([], trace_of([]))
    assert (nothing.coverage, nothing.precision, nothing.f1, nothing.order, nothing.arguments) == (
        1,
        1,
        1,
        1,
        1,
    )
    missed = compare(["a"], trace_of([]))
    assert (missed.coverage, missed.precision, missed.f1, missed.order, missed.arguments) == (0, 0, 0, 0, 0)
    uncalled = compare([], trace_of("a"))
    assert (uncalled.coverage, uncalled.precision, uncalled.f1) == (1, 0, 0)


def test_optional_calls_count_for_precision_and_not_for_coverage() -> None:
    comparison = compare(["a", opt("b")], trace_of("ab"))
    assert (comparison.required, comparison.coverage, comparison.precision) == (1, 1.0, 1.0)
    assert compare(["a", opt("b")], trace_of("a")).coverage == 1.0


def test_the_facts_name_pairs_missing_and_extra() -> None:
    facts = compare(["a", "b", "c"], trace_of("axc")).facts()
    assert facts["pairs"] == [[0, 0, 1.0], [2, 2, 1.0]]
    assert facts["missing"] == [1]
    assert facts["extra"] == [1]
    assert facts["actual"] == ["a", "x", "c"]
    assert facts["expected"] == ["a", "b", "c"]


def test_whether_a_threshold_is_met_does_not_depend_on_how_unordered_calls_are_listed() -> None:
    shares = {"a": 0.1, "b": 0.2, "c": 0.3}
    calls = [{"name": name, "arguments": {"x": 1}} for name in shares]

    def always(share: float) -> Compare:
        return lambda expected, actual: share

    comparators = {name: always(share) for name, share in shares.items()}
    values = {
        compare(
            [par(*(call(name, x=1) for name in order))], Trace.from_calls(calls), comparators=comparators
        ).coverage
        for order in permutations(shares)
    }
    assert len(values) == 1


@pytest.mark.parametrize(
    ("listings", "run", "order"),
    [
        ([many(par("c", "a"), 1, 2), many(par("a", "c"), 1, 2)], "cca", 1.0),
        ([["a", any_of(*ways), many("c", 2, 3)] for ways in permutations(["b", opt("a"), par("a", "c")])],
         "bacacc", 1.0),
        ([[any_of(*ways), "d"] for ways in permutations([["a", "b"], ["b", "c"]])], "dcbca", 2 / 3),
    ],
)  # fmt: skip
def test_the_share_in_order_does_not_depend_on_how_a_path_is_listed(
    listings: list[Any], run: str, order: float
) -> None:
    for mode in ("only", "contains", "any_order"):
        trace = Trace.from_calls(list(run))
        assert {compare(path, trace, mode=mode).order for path in listings} == {order}  # type: ignore[arg-type]


@given(st.integers(0, 10_000))
@settings(deadline=None)
def test_no_number_depends_on_the_listing_of_alternatives_and_unordered_parts(seed: int) -> None:
    random = Random(seed)
    pattern = drawn_pattern(random, 2, arguments=False)
    run = Trace.from_calls(drawn_run(random, pattern, 6))
    other = listed_otherwise(pattern)
    for mode in ("in_order", "exact", "only", "contains", "any_order"):
        one, same = (compare(path, run, mode=mode) for path in (pattern, other))  # type: ignore[arg-type]
        numbers = [(got.holds, got.coverage, got.precision, got.f1, got.order) for got in (one, same)]
        assert numbers[0] == numbers[1], (pattern, run, mode)


def listed_otherwise(pattern: Pattern) -> Pattern:
    """The same with what has no order listed the other way round."""
    if isinstance(pattern, Many):
        return many(listed_otherwise(pattern.part), pattern.least, pattern.most)
    if isinstance(pattern, Seq):
        return seq(*map(listed_otherwise, pattern.parts))
    if isinstance(pattern, Par | AnyOf):
        parts = [*map(listed_otherwise, reversed(pattern.parts))]
        return par(*parts) if isinstance(pattern, Par) else any_of(*parts)
    return pattern
