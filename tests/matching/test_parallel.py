"""Calls that overlap count as unordered: some order that the record admits is compared, and the best one."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from itertools import permutations
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agenttrace.core.example import Example
from agenttrace.core.span import Span, SpanError
from agenttrace.core.trace import Trace
from agenttrace.expectations import call, expect, many, opt, par, ref, seq
from agenttrace.expectations.pattern import Pattern
from agenttrace.matching import compare
from agenttrace.scorers import (
    ExecutionOrderScorer,
    FunctionCallCoverageScorer,
    ToolCallOrderScorer,
    ToolDependencyScorer,
    ToolOrderScorer,
    TrajectoryScorer,
)
from tests.expectations.strategies import ordered_terms

Timed = tuple[str, int, int]
"""A call by its name, its start and its end."""


def run(
    *timed: Timed,
    arguments: Sequence[dict[str, Any]] | None = None,
    failed: Sequence[int] = (),
    outputs: Sequence[Any] | None = None,
) -> Trace:
    root = Span(trace_key=1, span_key=1, name="agent", span_type="agent", start_ns=0, end_ns=1000)
    return Trace(
        [
            root,
            *(
                Span(
                    trace_key=1,
                    span_key=number + 2,
                    parent_key=1,
                    index=number + 1,
                    name=name,
                    span_type="tool",
                    start_ns=start,
                    end_ns=end,
                    input={} if arguments is None else arguments[number],
                    output=None if outputs is None else outputs[number],
                    error=SpanError("E", "") if number in failed else None,
                )
                for number, (name, start, end) in enumerate(timed)
            ),
        ]
    )


def score(expected: Any, trace: Trace, **options: Any) -> Any:
    return ToolOrderScorer(**options).score(Example(expected_tools=expected), trace)


def admissible(timed: Sequence[Timed]) -> Iterator[list[int]]:
    """Every order in which no call stands before one that had ended before it began."""
    for order in permutations(range(len(timed))):
        if not any(
            timed[later][2] <= timed[earlier][1]
            for at, earlier in enumerate(order)
            for later in order[at + 1 :]
        ):
            yield list(order)


@st.composite
def timed_runs(draw: Any, most: int = 5) -> list[Timed]:
    pairs = st.tuples(st.integers(0, 8), st.integers(1, 6))
    times = draw(st.lists(pairs, max_size=most, unique=True))
    calls = [(draw(st.sampled_from("abc")), start, start + length) for start, length in times]
    return sorted(calls, key=lambda one: one[1])


class TestAStrictOrder:
    def test_is_fulfilled_by_calls_that_overlap_whichever_began_first(self):
        for timed in ([("a", 0, 9), ("b", 5, 7)], [("b", 0, 9), ("a", 5, 7)]):
            for expected in (["a", "b"], ["b", "a"]):
                assert score(expected, run(*timed)).value == 1.0
                assert score(expected, run(*timed), exact_match=True).value == 1.0

    def test_is_broken_by_calls_that_do_not_overlap(self):
        trace = run(("b", 0, 5), ("a", 5, 7))
        assert score(["a", "b"], trace).value == 0.0
        assert "parallel" not in score(["a", "b"], trace).details

    def test_holds_among_calls_during_a_long_one(self):
        trace = run(("long", 0, 100), ("a", 10, 20), ("b", 20, 30))
        for right in (["long", "a", "b"], ["a", "long", "b"], ["a", "b", "long"]):
            assert score(right, trace, exact_match=True).value == 1.0
        for wrong in (["b", "a"], ["long", "b", "a"], ["b", "long", "a"]):
            assert score(wrong, trace).value == 0.0

    def test_holds_between_a_call_and_those_inside_it(self):
        outer = Span(trace_key=1, span_key=1, name="outer", span_type="tool", start_ns=0, end_ns=9, index=1)
        inner = Span(
            trace_key=1,
            span_key=2,
            parent_key=1,
            name="inner",
            span_type="tool",
            start_ns=2,
            end_ns=4,
            index=2,
        )
        assert score(["outer", "inner"], Trace([outer, inner])).value == 1.0
        assert score(["inner", "outer"], Trace([outer, inner])).value == 0.0
        assert "parallel" not in score(["outer", "inner"], Trace([outer, inner])).details

    def test_holds_among_calls_that_a_coarse_clock_cannot_tell_apart(self):
        for times in (
            [(5, 6), (5, 6)],
            [(5, 5), (5, 5)],
            [(0, 0), (0, 0)],
            [(4, 5), (5, 5)],
            [(5, 5), (5, 9)],
        ):
            trace = run(*((name, *time) for name, time in zip("ab", times, strict=True)))
            assert score(["a", "b"], trace).value == 1.0
            assert score(["b", "a"], trace).value == 0.0

    def test_tells_calls_of_one_tool_apart_by_their_arguments(self):
        trace = run(("get", 0, 9), ("get", 1, 8), arguments=[{"n": 2}, {"n": 1}])
        assert score([call("get", n=1), call("get", n=2)], trace, exact_match=True).value == 1.0
        assert score([call("get", n=1), call("get", n=3)], trace).value == 0.0

    def test_keeps_the_diff_in_the_order_that_was_compared(self):
        scored = score(["a", "b", "c"], run(("b", 0, 9), ("a", 5, 7)))
        assert scored.details["actual"] == ["a", "b"]
        assert scored.details["indexes"] == [1, 0]
        assert scored.details["pairs"] == [[0, 0, 1.0], [1, 1, 1.0]]
        assert scored.details["missing"] == [2]

    def test_takes_a_source_of_a_value_that_stands_later_in_the_list(self):
        trace = run(("b", 0, 9), ("a", 5, 7))
        assert score(seq("a", par("b")), trace).value == 1.0

    def test_is_found_among_rounds_of_a_group(self):
        timed = [("b", 0, 5), ("a", 1, 4), ("b", 10, 15), ("a", 11, 14), ("b", 20, 25), ("a", 21, 24)]
        assert score(expect(many(seq("a", "b"), 1, 3), mode="exact"), run(*timed)).value == 1.0
        assert score(expect(many(seq("a", "b"), 1), mode="exact"), run(*timed)).value == 1.0
        assert (
            score(expect(seq(opt(seq("a", "b")), many(seq("a", "b"))), mode="exact"), run(*timed)).value
            == 1.0
        )

    def test_is_found_for_many_calls_at_once(self):
        names = [f"t{number}" for number in range(40)]
        shuffled = random.Random(7).sample(names, 40)
        trace = run(*((name, at, 100 + at) for at, name in enumerate(shuffled)))
        assert score(names, trace, exact_match=True).value == 1.0
        assert score([*names, "more"], trace).value == 0.0

    def test_is_found_for_thousands_of_pairs(self):
        names, timed = [], []
        for pair in range(3_000):
            first, second = f"a{pair % 7}", f"b{pair % 5}"
            names += [first, second]
            timed += [(second, 10 * pair, 10 * pair + 8), (first, 10 * pair + 1, 10 * pair + 7)]
        assert score(names, run(*timed), exact_match=True).value == 1.0
        assert ToolCallOrderScorer(names, strict=True).score(Example(), run(*timed)).value == 1.0


class TestAgainstEveryAdmissibleOrder:
    @given(timed_runs(), st.lists(st.sampled_from("abc"), min_size=1, max_size=4))
    def test_the_orders_of_names_have_the_best_value(self, timed: list[Timed], expected: list[str]) -> None:
        trace = run(*timed)
        runs = [Trace.from_calls([timed[at][0] for at in order]) for order in admissible(timed)]
        example = Example(expected_tools=expected, expected_output=expected)
        for scorer in (
            ToolOrderScorer(),
            ToolOrderScorer(exact_match=True),
            ToolCallOrderScorer(),
            ToolCallOrderScorer(strict=True),
            ExecutionOrderScorer(should_consider_ordering=True),
            ExecutionOrderScorer(should_exact_match=True),
            FunctionCallCoverageScorer(mode="in_order"),
            TrajectoryScorer(metric="order"),
            TrajectoryScorer(),
        ):
            best = max(float(scorer.score(example, one).value or 0) for one in runs)
            assert scorer.score(example, trace).value == pytest.approx(best), scorer.name

    @given(timed_runs(4), ordered_terms(4, arguments=False))
    def test_patterns_are_aligned_as_well_as_can_be(self, timed: list[Timed], term: Pattern) -> None:
        trace = run(*timed)
        runs = [Trace.from_calls([timed[at][0] for at in order]) for order in admissible(timed)]
        for mode in ("in_order", "exact", "lcs"):
            best = max(compare(expect(term, mode=mode), one).value for one in runs)
            assert compare(expect(term, mode=mode), trace).value == pytest.approx(best)

    @given(
        timed_runs(4),
        st.lists(st.tuples(st.sampled_from("abc"), st.integers(0, 1)), min_size=1, max_size=4),
        st.data(),
    )
    def test_partly_agreeing_arguments_count_as_well_as_can_be(
        self, timed: list[Timed], expected: list[tuple[str, int]], data: Any
    ) -> None:
        arguments = [{"x": data.draw(st.integers(0, 1)), "y": 0} for _ in timed]
        trace = run(*timed, arguments=arguments)
        runs = [
            Trace.from_calls([{"name": timed[at][0], "arguments": arguments[at]} for at in order])
            for order in admissible(timed)
        ]
        path = [call(name, x=x, y=0) for name, x in expected]
        best = max(compare(path, one).coverage for one in runs)
        assert compare(path, trace).coverage == pytest.approx(best)

    @given(timed_runs())
    def test_a_guard_of_the_order_holds_where_some_order_keeps_it(self, timed: list[Timed]) -> None:
        guard = expect(before=[("a", "b")])
        runs = [Trace.from_calls([timed[at][0] for at in order]) for order in admissible(timed)]
        holds = any(compare(guard, one).constraints_hold for one in runs)
        assert compare(guard, run(*timed)).constraints_hold == holds

    @given(timed_runs())
    def test_modes_without_an_order_do_not_care(self, timed: list[Timed]) -> None:
        plain = Trace.from_calls([name for name, _, _ in timed])
        for mode in ("any_order", "contains", "only"):
            expectation = expect(["a", "b", "a"], mode=mode)
            assert compare(expectation, run(*timed)).value == compare(expectation, plain).value


class TestOtherScorers:
    def test_a_dependency_holds_where_the_calls_overlap(self):
        depends = [{"tool_name": "pay", "action_dependencies": ["auth"]}]
        example = Example(expected_tools=depends)
        scorer = ToolDependencyScorer()
        assert scorer.score(example, run(("pay", 0, 9), ("auth", 1, 5))).value == 1.0
        assert scorer.score(example, run(("pay", 0, 9), ("auth", 9, 12))).value == 0.0

    def test_a_success_makes_up_for_a_failure_that_overlaps_it(self):
        for timed, failed in (([("get", 0, 9), ("get", 1, 5)], [0]), ([("get", 0, 9), ("get", 1, 5)], [1])):
            scored = score(expect(["get"], mode="exact", attempts="collapse"), run(*timed, failed=failed))
            assert scored.value == 1.0
        later = run(("get", 0, 9), ("get", 9, 12), failed=[1])
        assert score(expect(["get"], mode="exact", attempts="collapse"), later).value == 0.0

    def test_coverage_in_order_takes_overlapping_calls_in_any_order(self):
        scorer = FunctionCallCoverageScorer(["a", "b"], mode="in_order")
        assert scorer.score(Example(), run(("b", 0, 9), ("a", 1, 5))).value == 1.0
        assert scorer.score(Example(), run(("b", 0, 1), ("a", 1, 5))).value == 0.0


class TestDetails:
    def test_say_which_calls_count_as_unordered(self):
        trace = run(("x", 0, 1), ("b", 1, 9), ("a", 5, 7), ("y", 10, 11))
        groups = [{"calls": [1, 2], "order": "unordered"}]
        example = Example(expected_tools=["x", "a", "b", "y"], expected_output=["a", "b"])
        for scorer in (
            ToolOrderScorer(),
            TrajectoryScorer(),
            ToolCallOrderScorer(),
            ExecutionOrderScorer(should_consider_ordering=True),
            FunctionCallCoverageScorer(mode="in_order"),
        ):
            assert scorer.score(example, trace).details["parallel"] == groups, scorer.name

    def test_say_it_of_each_group(self):
        trace = run(("a", 0, 5), ("b", 1, 6), ("c", 10, 15), ("d", 11, 12), ("e", 13, 14), ("f", 20, 21))
        assert compare(["a"], trace).facts()["parallel"] == [
            {"calls": [0, 1], "order": "unordered"},
            {"calls": [2, 3, 4], "order": "unordered"},
        ]

    def test_say_nothing_where_all_calls_follow_each_other(self):
        assert "parallel" not in compare(["a"], run(("a", 0, 5), ("b", 5, 6))).facts()
        assert "parallel" not in compare(["a"], Trace.from_calls(["a", "b"])).facts()

    def test_count_positions_among_the_calls_that_are_compared(self):
        trace = run(("skip", 0, 1), ("b", 1, 9), ("skip", 2, 3), ("a", 5, 7))
        scored = score(["a", "b"], trace, tools=["a", "b"])
        assert scored.value == 1.0
        assert scored.details["parallel"] == [{"calls": [0, 1], "order": "unordered"}]


def test_alternatives_that_no_call_tells_apart_are_walked_again() -> None:
    """Where places without a call are equal, so are alternatives that differ in them alone."""
    from agenttrace.expectations import any_of, par, seq
    from agenttrace.matching import compare
    from tests.expectations.strategies import trace_of

    pattern = par(seq("b", "b"), any_of(par("a", "c"), par("a", "b")))
    for calls, aligned in ((["a"], 1), (["c"], 1), (["a", "b"], 2), (["b", "a", "b", "c"], 4), ([], 0)):
        comparison = compare(pattern, trace_of(calls))
        assert comparison.coverage == aligned / 4


def overlapping(*timed: tuple[str, int, int, dict[str, Any], Any]) -> Trace:
    """Calls with their start, end, arguments and result."""
    return run(
        *(one[:3] for one in timed),
        arguments=[one[3] for one in timed],
        outputs=[one[4] for one in timed],
    )


PAY = call("pay", id=ref("find.output.id"))


class TestValuesOfOverlappingCalls:
    inside = overlapping(("pay", 0, 9, {"id": 7}, None), ("find", 2, 5, {}, {"id": 7}))
    after = overlapping(("pay", 0, 2, {"id": 7}, None), ("find", 4, 5, {}, {"id": 7}))

    @pytest.mark.parametrize("mode", ["exact", "in_order", "any_order", "contains", "only"])
    def test_a_value_may_come_from_a_call_that_overlaps(self, mode: Any) -> None:
        labelled = [call("find", as_="f"), call("pay", id=ref("f.output.id"))]
        for path in (["find", PAY], labelled, par(PAY, "find"), par("find", PAY)):
            assert compare(path, self.inside, mode=mode).holds
            assert not compare(path, self.after, mode=mode).holds
        wrong = overlapping(("pay", 0, 9, {"id": 8}, None), ("find", 2, 5, {}, {"id": 7}))
        assert not compare(["find", PAY], wrong, mode=mode).holds

    def test_one_order_has_both_the_path_and_the_sources(self) -> None:
        assert not compare([PAY, "find"], self.inside, mode="in_order").holds
        each = [call("pay", id=ref("find.output.id")), call("find", id=ref("pay.output.id"))]
        circle = overlapping(("pay", 0, 9, {"id": 7}, {"id": 3}), ("find", 2, 5, {"id": 3}, {"id": 7}))
        assert not compare(par(*each), circle, mode="contains").holds
        labelled = [
            call("pay", as_="p", id=ref("f.output.id")), call("find", as_="f", id=ref("p.output.id")),
        ]  # fmt: skip
        assert not compare(par(*labelled), circle, mode="contains").holds

    @given(timed_runs(4), st.data())
    def test_some_admissible_order_is_compared(self, timed: list[Timed], data: Any) -> None:
        value = st.integers(1, 2)
        made = [(*one, {"x": data.draw(value)}, {"v": data.draw(value)}) for one in timed]
        path = data.draw(st.lists(st.sampled_from([
            call("a", as_="s"), call("a"), call("b", x=ref("s.output.v")), call("b", x=ref("a.output.v")),
            call("c", x=ref("b.output.v")), call("c", x=ref("s.output.v")),
        ]), min_size=1, max_size=3))  # fmt: skip
        if not any(one.label == "s" for one in path):
            path = [call("a", as_="s"), *path]
        wrapped = data.draw(st.sampled_from([seq, par]))(*path)
        trace = overlapping(*made)
        recorded = [{"name": one[0], "arguments": one[3], "output": one[4]} for one in made]
        runs = [Trace.from_calls([recorded[at] for at in order]) for order in admissible(timed)]
        for mode in ("exact", "in_order", "any_order", "contains"):
            holds = any(compare(wrapped, one, mode=mode).holds for one in runs)
            assert compare(wrapped, trace, mode=mode).holds == holds, (wrapped, made, mode)
