"""Labels among calls that overlap: every order that the record admits is compared, where there are few."""

from __future__ import annotations

from collections.abc import Iterator
from random import Random
from typing import Any

import pytest

from agenttrace.expectations import call, expect, not_, par, ref, seq
from agenttrace.expectations.pattern import Pattern
from agenttrace.matching import compare
from tests.matching.test_labels_everywhere import THOROUGH, drawn, drawn_call, drawn_made, outcomes
from tests.matching.test_parallel import admissible, overlapping

CASES = 4_000 if THOROUGH else 200
SMALLEST = [call("s", as_="z"), call("s", v=ref("z.output"))]


class TestLabelsAmongOverlappingCalls:
    @pytest.mark.parametrize("mode", ["exact", "in_order", "lcs", "any_order", "contains"])
    def test_the_order_is_searched_in_which_the_label_stands_for_the_source(self, mode: Any) -> None:
        trace = overlapping(("s", 0, 10, {"v": 2}, 0), ("s", 2, 4, {"v": 2}, 2))
        assert compare(SMALLEST, trace, mode=mode).holds

    def test_of_two_threads_the_other_one_may_be_the_labelled_call(self) -> None:
        trace = overlapping(
            ("fetch", 0, 9, {"page": 1}, {"next": 9}), ("fetch", 2, 5, {"page": 5}, {"next": 1})
        )
        labelled = [call("fetch", as_="f"), call("fetch", page=ref("f.output.next"))]
        assert compare(labelled, trace).holds
        negated = [call("fetch", as_="f"), call("fetch", page=not_(ref("f.output.next")))]
        assert compare(negated, trace).holds

    def test_calls_that_end_before_the_others_begin_stay_before_them(self) -> None:
        trace = overlapping(("s", 0, 1, {"v": 2}, 0), ("s", 2, 4, {"v": 2}, 2))
        assert not compare(SMALLEST, trace).holds

    def test_many_calls_at_once_are_answered_in_time(self) -> None:
        made = [("s", at, 100 + at, {"v": at}, at + 1) for at in range(40)]
        assert compare(SMALLEST, overlapping(*made)).value <= 1.0

    @pytest.mark.hypothesis
    @pytest.mark.parametrize("part", range(4))
    def test_no_order_and_no_pairing_is_better(self, part: int) -> None:
        for number in range(CASES // 4):
            drawing = Random(f"{part}/{number}")
            pattern = drawn(drawing, drawing.choice([1, 2, 2]))
            while not 2 <= len(list(pattern.calls())) <= 4:
                pattern = drawn(drawing, drawing.choice([1, 2, 2]))
            pattern = drawing.choice([seq, par])(pattern, drawn_call(drawing, "open"))
            calls = [drawn_made(drawing) for _ in range(drawing.randint(2, 4))]
            starts = sorted(drawing.sample(range(9), len(calls)))
            timed = [
                (one["name"], at, at + drawing.randint(1, 6)) for one, at in zip(calls, starts, strict=True)
            ]
            trace = overlapping(
                *((*when, one["arguments"], one["output"]) for when, one in zip(timed, calls, strict=True))
            )
            runs = [[calls[at] for at in order] for order in admissible(timed)]
            for mode in ("exact", "in_order", "any_order", "contains"):
                in_each = [outcome for one in runs for outcome in outcomes_in(pattern, one, mode)]
                got = compare(expect(pattern), trace, mode=mode)
                best = float(max((coverage for coverage, _ in in_each), default=0))
                holds = any(is_whole for _, is_whole in in_each)
                assert (got.coverage, got.holds) == (pytest.approx(best), holds), (
                    pattern,
                    calls,
                    timed,
                    mode,
                )


def outcomes_in(pattern: Pattern, calls: list[dict[str, Any]], mode: str) -> Iterator[tuple[float, bool]]:
    """The coverage of every alignment with calls in one order, and whether the path holds."""
    is_free = mode in ("in_order", "contains")
    for coverage, agreeing in outcomes(pattern, calls, ordered=mode in ("exact", "in_order")):
        yield float(coverage), coverage == 1 and (is_free or agreeing == len(calls))
