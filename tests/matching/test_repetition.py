"""A repeated group is found as often as the run has it, whatever alternatives and options are inside."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import permutations
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agenttrace.core.errors import ExpectationError
from agenttrace.core.trace import Trace
from agenttrace.expectations import any_of, many, opt, seq
from agenttrace.expectations.expectation import Mode
from agenttrace.expectations.pattern import AnyOf, Call, Many, Pattern, Seq, as_pattern
from agenttrace.matching import compare

NAMES = st.sampled_from("abc")
PATTERNS: st.SearchStrategy[Any] = st.recursive(
    NAMES,
    lambda inner: st.one_of(
        st.lists(inner, min_size=1, max_size=3).map(lambda items: seq(*items)),
        st.lists(inner, min_size=2, max_size=2, unique_by=repr).map(lambda items: any_of(*items)),
        inner.map(opt),
        st.tuples(inner, st.integers(0, 2)).map(lambda pair: many(*pair)),
        st.tuples(inner, st.integers(0, 2), st.integers(0, 2)).map(
            lambda t: many(t[0], t[1], max(t[1] + t[2], 1))
        ),
    ),
    max_leaves=4,
)
RUNS = st.lists(NAMES, max_size=5).map("".join)


def holds(expected: object, run: Sequence[str], mode: Mode = "exact") -> bool:
    return compare(expected, Trace.from_calls(list(run)), mode=mode).holds


def regex(pattern: Pattern, letter: str = "{}") -> str:
    """The pattern as a regular expression over names of one letter, each written as `letter` says."""
    if isinstance(pattern, Call):
        return letter.format(pattern.name)
    if isinstance(pattern, Many):
        most = "" if pattern.most is None else pattern.most
        return f"(?:{regex(pattern.part, letter)}){{{pattern.least},{most}}}"
    assert isinstance(pattern, Seq | AnyOf)
    parts = [regex(part, letter) for part in pattern.parts]
    return f"(?:{('|' if isinstance(pattern, AnyOf) else '').join(parts)})"


def should_hold(pattern: Pattern, run: str, mode: Mode) -> bool:
    """The same by brute force."""
    if mode == "exact":
        return re.fullmatch(regex(pattern), run) is not None
    if mode == "in_order":
        return re.fullmatch(regex(pattern, "[abc]*{}") + "[abc]*", run) is not None
    words = re.compile(regex(pattern, "{}?" if mode == "only" else "{}"))
    return any(words.fullmatch("".join(order)) for order in permutations(run))


@settings(max_examples=300, deadline=None)
@given(PATTERNS, RUNS, st.sampled_from(["exact", "in_order", "any_order", "only"]))
def test_a_run_holds_exactly_where_brute_force_finds_a_way(item: Any, run: str, mode: Mode) -> None:
    pattern = as_pattern(item)
    if re.fullmatch(regex(pattern), "") and not run:
        return  # whether nothing at all was expected is decided by the path, and tested elsewhere
    try:
        result = holds(pattern, run, mode)
    except ExpectationError as error:  # beyond the limit it is an error, never another verdict
        if "multiply to more than" not in str(error):
            raise
        return
    assert result == should_hold(pattern, run, mode)


@pytest.mark.parametrize(
    ("expected", "run"),
    [
        (many(seq("search", opt("open"))), ["search"] * 3),
        (many(any_of("a", seq("b", "c"))), list("bcbc")),
        (many(any_of(seq("a", "b"), seq("c", "d"))), list("abab")),
        (many(seq("a", many("b", 0))), list("aaa")),
        (many(any_of(seq("a", "b"), seq("c", "d"))), list("abcdcdababcdcdab")),
        (many(seq("search", opt("open"))), ["search", "open", "search"] * 20),
    ],
)
def test_a_repeated_group_may_leave_out_what_is_optional_in_it(expected: object, run: list[str]) -> None:
    assert holds(expected, run)
    assert holds(expected, run, "any_order")
    assert compare(expected, Trace.from_calls(run), mode="exact").precision == 1.0
    assert not holds(expected, [*run, "other"])


def test_mode_only_allows_a_part_of_an_optional_group() -> None:
    for group in (opt(["hold", "pay"]), many(["hold", "pay"], 0), ["hold", "pay"]):
        assert holds(group, ["hold"], "only")
        assert holds(group, ["pay"], "only")
        assert not holds(group, ["hold", "ship"], "only")
    assert not holds(opt(["hold", "pay"]), ["hold", "hold"], "only")
    assert holds(many(["hold", "pay"], 0), ["hold", "hold"], "only")
