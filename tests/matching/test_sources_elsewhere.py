"""A value may come from any earlier call of the run; `turn=`, `agent=`, `tools=` choose what is compared."""

from __future__ import annotations

from dataclasses import replace
from random import Random
from typing import Any

import pytest

from agenttrace.core.example import Example
from agenttrace.core.span import Span
from agenttrace.core.trace import Trace
from agenttrace.expectations import call, expect, not_, ref
from agenttrace.expectations.pattern import Call
from agenttrace.matching import compare
from agenttrace.matching.selection import Selection
from agenttrace.scorers import ToolOrderScorer, TurnsScorer
from tests.matching.test_parallel import overlapping

REFUND = call("refund", id=ref("find.output.id"))


def find(value: int = 3, **more: Any) -> dict[str, Any]:
    return {"name": "find", "arguments": {}, "output": {"id": value}, **more}


def refund(value: int = 3, **more: Any) -> dict[str, Any]:
    return {"name": "refund", "arguments": {"id": value}, **more}


def trace(*calls: dict[str, Any]) -> Trace:
    return Trace.from_calls(list(calls))


def test_a_value_may_come_from_an_earlier_turn() -> None:
    run = trace(find(turn=1), refund(turn=2))
    for expected in (expect([REFUND], turn=2), [call("refund", id=ref("find.output.id"), turn=2)]):
        assert compare(expected, run).holds
    turns = [{"expected_tools": ["find"]}, {"expected_tools": [REFUND]}]
    assert TurnsScorer().score(Example(turns=turns), run).value == 1.0
    assert TurnsScorer().score(Example(turns=turns), trace(find(4, turn=1), refund(turn=2))).value == 0.5


def test_a_value_does_not_come_from_a_later_turn_or_a_failed_call() -> None:
    assert not compare(expect([REFUND], turn=1), trace(refund(turn=1), find(turn=2))).holds
    assert not compare(expect([REFUND], turn=2), trace(find(turn=1, error="no"), refund(turn=2))).holds


def test_a_value_may_come_from_a_call_of_another_agent() -> None:
    run = trace(find(agent="search"), refund(agent="pay"))
    assert compare(expect([REFUND], agent="pay"), run).holds
    negated = expect([call("refund", id=not_(ref("find.output.id")))], agent="pay")
    assert not compare(negated, run).holds


def test_a_value_may_come_from_a_tool_that_is_not_compared() -> None:
    scorer = ToolOrderScorer(tools="refund")
    for expected in (["find", REFUND], [call("find", as_="f"), call("refund", id=ref("f.output.id"))]):
        assert scorer.score(Example(expected_tools=expected), trace(find(), refund())).value == 1.0
        for wrong in (trace(find(4), refund()), trace(refund(), find())):
            assert scorer.score(Example(expected_tools=expected), wrong).value == 0.0


def test_the_label_of_a_call_that_is_not_compared_stands_for_any_that_fits_it() -> None:
    scorer = ToolOrderScorer(tools="refund")
    source = call("find", order=7, as_="f")
    for user, values in ((ref("f.output.id"), (1.0, 0.0)), (not_(ref("f.output.id")), (0.0, 1.0))):
        expected = [source, call("refund", id=user)]
        for order, value in zip((7, 8), values, strict=True):
            run = trace(find(arguments={"order": order}), refund())
            assert scorer.score(Example(expected_tools=expected), run).value == value


def test_other_names_of_sources_are_known() -> None:
    selection = Selection.of(names={"lookup": "find"}, tools="refund")
    run = trace({**find(), "name": "lookup"}, refund())
    assert compare([REFUND], run, selection=selection).holds
    assert compare([call("refund", id=ref("lookup.output.id"))], run, selection=selection).holds


def test_the_reason_says_so_where_no_call_of_the_run_is_the_source() -> None:
    score = ToolOrderScorer(tools="refund").score(Example(expected_tools=[REFUND]), trace(find(4), refund()))
    assert "(not in the result of the earlier call)" in str(score.diff)
    score = ToolOrderScorer(tools="refund").score(Example(expected_tools=[REFUND]), trace(refund(), find()))
    assert "(no earlier call of find)" in str(score.diff)


@pytest.mark.parametrize(("start", "holds"), [(2, True), (9, False)])
def test_a_value_may_come_from_a_call_that_overlaps_and_is_not_compared(start: int, holds: bool) -> None:
    run = overlapping(("refund", 0, 9, {"id": 3}, None), ("find", start, start + 2, {}, {"id": 3}))
    assert compare([REFUND], run, selection=Selection.of(tools="refund")).holds == holds


def test_one_order_has_the_compared_calls_and_those_elsewhere() -> None:
    """The source began once `check` had ended, and so `refund` is after both."""
    run = overlapping(
        ("refund", 0, 9, {"id": 3}, None), ("check", 1, 2, {}, None), ("find", 3, 5, {}, {"id": 3})
    )
    selection = Selection.of(tools=["refund", "check"])
    assert compare(["check", REFUND], run, selection=selection).holds
    assert not compare([REFUND, "check"], run, selection=selection).holds


@pytest.mark.parametrize(("end", "holds"), [(9, True), (3, False)])
def test_a_value_need_not_come_from_a_call_that_overlaps_and_is_not_compared(end: int, holds: bool) -> None:
    run = overlapping(("find", 0, end, {}, {"id": 3}), ("refund", 3, 9, {"id": 3}, None))
    negated = [call("refund", id=not_(ref("find.output.id")))]
    assert compare(negated, run, selection=Selection.of(tools="refund")).holds == holds


@pytest.mark.hypothesis
def test_what_is_compared_by_agent_is_as_if_each_call_said_the_agent() -> None:
    for number in range(600):
        random = Random(number)
        starts = sorted(random.sample(range(10), random.randint(2, 5)))
        made = [
            (
                random.choice("aab"),
                at,
                at + random.randint(1, 7),
                {"v": random.randint(0, 1)},
                random.randint(0, 1),
            )
            for at in starts
        ]
        agents = [random.choice("pq") for _ in made]
        path = [drawn_call(random) for _ in range(random.randint(1, 3))]
        path = [call("a", as_="y"), *path]
        by_each = [replace(one, agent="p") for one in path]
        run = with_agents(made, agents)
        for mode in ("in_order", "contains"):
            one, other = compare(expect(path, mode=mode, agent="p"), run), compare(by_each, run, mode=mode)
            assert (one.coverage, one.holds) == (other.coverage, other.holds), (path, made, agents, mode)


def drawn_call(random: Random) -> Call:
    sources = ["a.output", "b.output", "y.output"]
    value = random.choice([*map(ref, sources), *(not_(ref(source)) for source in sources), 1])
    return call(random.choice("ab"), v=value, as_=random.choice([None, None, "y"]))


def with_agents(made: list[Any], agents: list[str]) -> Trace:
    """The calls of `overlapping`, each inside a span of its agent."""
    root, *tools = overlapping(*made).spans
    keys = {agent: 100 + number for number, agent in enumerate("pq")}
    for agent, key in keys.items():
        tools.append(
            Span(trace_key=1, span_key=key, parent_key=1, name=agent, span_type="agent", end_ns=1000)
        )
    for tool, agent in zip(tools, agents, strict=False):
        tool.parent_key = keys[agent]
    return Trace([root, *tools])
