"""A run that is as expected but for one call is aligned without a search, just as the search aligns it."""

from unittest.mock import patch

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agenttrace.core.trace import Trace
from agenttrace.expectations import call, gt
from agenttrace.matching import align as aligning
from agenttrace.matching import compare
from agenttrace.matching.one_off import pairs_but_one

CALLS = st.lists(st.tuples(st.sampled_from("ab"), st.integers(0, 2), st.integers(0, 1)), max_size=6)
AGENTS = st.sampled_from([None, "x"])


def run_of(calls, failed=()):
    return Trace.from_calls(
        [
            {"name": name, "arguments": {"n": n, "m": m}, **({"error": "no"} if at in failed else {})}
            for at, (name, n, m) in enumerate(calls)
        ]
    )


def expected_of(calls, agent=None):
    return [
        call(name, {"n": gt(0) if n == 2 else n, "m": m}, agent=agent) if (n, m) != (0, 0) else call(name)
        for name, n, m in calls
    ]


def numbers(comparison):
    return (
        comparison.alignment.pairs,
        comparison.value,
        comparison.matched,
        comparison.extra,
        comparison.missing,
    )


def both_ways(expected, run, **options):
    quick = compare(expected, run, **options)
    with patch.object(aligning, "pairs_but_one", lambda *_: None):
        searched = compare(expected, run, **options)
    return quick, searched


@st.composite
def one_call_off(draw):
    """Expected calls with a run that is that, but for one call at most."""
    expected = draw(CALLS)
    run = list(expected)
    at = draw(st.integers(0, len(run)))
    change = draw(st.sampled_from(["none", "change", "drop", "add"]))
    another = (draw(st.sampled_from("ab")), draw(st.integers(0, 2)), draw(st.integers(0, 1)))
    if change == "add":
        run.insert(at, another)
    elif change != "none" and at < len(run):
        run[at : at + 1] = [another] if change == "change" else []
    return expected, run


@given(
    one_call_off() | st.tuples(CALLS, CALLS),
    st.sampled_from(["exact", "in_order", "lcs"]),
    st.sampled_from(["partial", "full"]),
    st.sets(st.integers(0, 5), max_size=1) | st.just(set()),
    AGENTS,
)
def test_it_gives_the_pairs_that_the_search_gives(case, mode, credit, failed, agent):
    expected, run = case
    run = run_of(run, failed)
    quick, searched = both_ways(expected_of(expected, agent), run, mode=mode, credit=credit)
    assert numbers(quick) == numbers(searched)
    assert quick.rows == searched.rows


FIVE = [("a", 1, 1), ("b", 1, 1), ("a", 1, 1), ("b", 1, 1), ("a", 1, 1)]


@pytest.mark.parametrize(
    "run",
    [
        [*FIVE[:2], ("a", 0, 1), *FIVE[3:]],
        [*FIVE[:2], *FIVE[3:]],
        [*FIVE[:2], ("b", 0, 0), *FIVE[2:]],
        [*FIVE[:4], ("a", 0, 0)],
        [("a", 0, 0), *FIVE[1:]],
    ],
    ids=["changed", "missing", "added", "last", "first"],
)
def test_one_call_amiss_needs_no_search(run):
    found = []
    with (
        patch.object(aligning, "Chain", side_effect=AssertionError("searched")),
        patch.object(
            aligning, "pairs_but_one", lambda *args: found.append(pairs_but_one(*args)) or found[-1]
        ),
    ):
        compare(expected_of(FIVE), run_of(run))
    assert len(found) == 1
