"""A label stands for the call that is paired with the expected one."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import combinations, product
from unittest.mock import patch

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agenttrace import Example, ToolOrderScorer
from agenttrace.core.errors import ExpectationError
from agenttrace.core.trace import Trace
from agenttrace.expectations import any_of, call, many, opt, par, ref, seq
from agenttrace.expectations.pattern import Pattern
from agenttrace.matching import compare, labels

TRIP = [
    call("search", as_="out"),
    call("book", id=ref("out.output.id")),
    call("search", as_="back"),
    call("book", id=ref("back.output.id")),
]


def run(*steps: int) -> Trace:
    """Searches that gave an id, written as negative numbers, and bookings of an id."""
    return Trace.from_calls(
        [
            {"name": "search", "output": {"id": -step}}
            if step < 0
            else {"name": "book", "arguments": {"id": step}}
            for step in steps
        ]
    )


@pytest.mark.parametrize("mode", ["exact", "in_order"])
def test_the_first_flight_booked_twice_is_not_there_and_back(mode: str) -> None:
    assert compare(TRIP, run(-1, 1, -2, 2), mode=mode).holds  # type: ignore[arg-type]
    twice = compare(TRIP, run(-1, 1, -2, 1), mode=mode)  # type: ignore[arg-type]
    assert (twice.holds, twice.coverage) == (False, 0.75)
    (row,) = [row for row in twice.rows if row.kind != "matched"]
    assert [one.note for one in row.differences] == ["not in the result of the earlier call"]


def test_the_scorer_says_so() -> None:
    calls = run(-1, 1, -2, 1).tool_calls
    score = ToolOrderScorer().score(Example(expected_tools=TRIP), Trace.from_calls(calls))
    assert (score.outcome, score.reason) == ("failed", "3 of 4 expected calls aligned (in_order)")


def test_the_call_is_chosen_so_that_the_values_fit() -> None:
    assert compare(TRIP, run(-9, -1, 1, -7, -2, -8, 2)).holds
    assert not compare(TRIP, run(-9, -1, 1, -7, -2, -8, 9)).holds


def test_of_one_that_is_repeated_any_may_be_the_source() -> None:
    expected = seq(many(call("search", as_="s"), 1, 5), call("book", id=ref("s.output.id")))
    assert compare(expected, run(-1, -2, -3, 3)).holds
    assert compare(expected, run(-1, -2, -3, 1)).holds
    assert not compare(expected, run(-1, -2, -3, 4)).holds


def test_alternatives_and_optional_calls_may_bear_labels() -> None:
    expected = seq(opt(call("search", as_="s")), any_of(call("book", id=ref("s.output.id")), "walk"))
    assert compare(expected, run(-1, 1), mode="exact").holds
    assert not compare(expected, run(1), mode="exact").holds
    assert compare(expected, Trace.from_calls(["walk"]), mode="exact").holds


def test_in_any_order_the_pairs_are_chosen_so_that_the_values_fit() -> None:
    expected = par(call("search", as_="a"), call("search", as_="b"), call("book", id=ref("b.output.id")))
    assert compare(expected, run(-1, -2, 1), mode="any_order").holds
    both = par(
        call("search", as_="a"),
        call("search", as_="b"),
        call("book", id=ref("b.output.id")),
        call("book", id=ref("a.output.id")),
    )
    assert compare(both, run(-1, -2, 1, 2), mode="any_order").holds
    assert not compare(both, run(-1, -2, 1, 1), mode="any_order").holds


def test_too_many_ways_are_an_error_and_one_that_fits_at_once_is_none() -> None:
    expected = [call("search", as_=f"s{n}") for n in range(4)]
    expected += [call("book", id=ref(f"s{n}.output.id")) for n in range(4)]
    with patch.object(labels, "MOST_WAYS", 3):
        assert compare(expected, run(*[-1] * 9, *[1] * 4)).holds
        with pytest.raises(ExpectationError, match="say more of the arguments"):
            compare(expected, run(*[-1, -2] * 5, 1, 2, 1, 1, 2, 2))


def pipelines(count: int) -> Pattern:
    """Calls, each with one that takes its result, in any order."""
    each = (seq(call("s", as_=f"l{n}"), call("u", v=ref(f"l{n}.output"))) for n in range(count))
    return par(*each)


def of_pipelines(values: Iterable[int]) -> Trace:
    made = [{"name": "u", "arguments": {"v": value}} for value in values]
    return Trace.from_calls([*({"name": "s", "output": n} for n in range(len(made))), *made])


def test_what_is_paired_is_searched_on_first() -> None:
    with patch.object(labels, "MOST_WAYS", 40):  # each pair doubled the ways
        assert compare(pipelines(8), of_pipelines(reversed(range(8)))).holds


def test_too_many_steps_are_an_error_that_names_the_labels() -> None:
    with (
        patch.object(labels, "MOST_STEPS", 1_000),
        pytest.raises(ExpectationError, match=r"l0, l1, .* steps"),
    ):
        compare(pipelines(6), of_pipelines([5, 4, 3, 2, 1, 0]))


EXPECTED = st.lists(st.sampled_from(["a", "b", "ref a", "ref b"]), min_size=1, max_size=5).filter(
    lambda steps: steps.count("a") < 2 and steps.count("b") < 2
)


@given(EXPECTED, st.lists(st.sampled_from([-1, -2, 1, 2]), max_size=6), st.sampled_from(["full", "partial"]))
@settings(deadline=None, max_examples=300)
def test_no_other_way_to_pair_them_is_better(steps: list[str], made: list[int], credit: str) -> None:
    known = [step for step in steps if not step.startswith("ref") or step[4:] in steps]
    expected = [
        call("book", id=ref(f"{step[4:]}.output.id")) if step.startswith("ref") else call("search", as_=step)
        for step in known
    ]
    if not expected:
        return
    got = compare(expected, run(*made), credit=credit)  # type: ignore[arg-type]
    best = max(agreeing(known, made, places, calls) for places, calls in pairings(len(known), len(made)))
    assert round(got.coverage * len(known), 9) == best


def pairings(places: int, calls: int) -> list[tuple[tuple[int, ...], tuple[int, ...]]]:
    return [
        chosen
        for count in range(min(places, calls) + 1)
        for chosen in product(combinations(range(places), count), combinations(range(calls), count))
    ]


def agreeing(steps: list[str], made: list[int], places: tuple[int, ...], calls: tuple[int, ...]) -> int:
    paired = {steps[place]: made[at] for place, at in zip(places, calls, strict=True) if made[at] < 0}
    count = 0
    for place, at in zip(places, calls, strict=True):
        step = steps[place]
        if not step.startswith("ref"):
            count += made[at] < 0
        elif made[at] > 0 and paired.get(step[4:]) == -made[at]:
            count += steps.index(step[4:]) < place
    return count
