"""The Tool Order scorer."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable

import pytest

from agenttrace.core.errors import ExpectationError, ScorerError
from agenttrace.core.example import Example
from agenttrace.core.protocols import Scorer
from agenttrace.core.score import Score
from agenttrace.core.tool import Parameter, ToolDefinition
from agenttrace.core.trace import Trace
from agenttrace.expectations import approx, call, expect, opt, par, semantic
from agenttrace.scorers import ToolOrderScorer

PARIS = {"tool_name": "get_attractions", "parameters": {"destination": "Paris"}}
RUN = Trace.from_calls(
    [
        {"name": "get_attractions", "arguments": {"destination": "Paris"}},
        {"name": "search", "arguments": {"q": "x"}},
        {"name": "get_weather", "arguments": {"destination": "Paris"}},
    ]
)


def scored(expected: object, trace: Trace | None = RUN, **options: object) -> Score:
    score = ToolOrderScorer(**options).score(Example(expected_tools=expected), trace)  # type: ignore[arg-type]
    assert isinstance(score, Score)
    return score


def test_it_is_a_scorer() -> None:
    scorer = ToolOrderScorer()
    assert isinstance(scorer, Scorer)
    assert (scorer.name, scorer.threshold) == ("Tool Order", 1.0)


def test_other_calls_may_stand_between() -> None:
    score = scored(["get_attractions", "get_weather"])
    assert (score.value, score.outcome) == (1.0, "passed")
    assert score.reason == "2 of 2 expected calls aligned (in_order)"
    assert score.diff is None


def test_exact_match_wants_each_call_in_its_position() -> None:
    score = scored(["get_attractions", "get_weather"], exact_match=True)
    assert (score.value, score.outcome, score.strict) == (0.0, "failed", True)
    assert score.reason == "2 of 2 expected calls aligned (exact), 1 call beside them"
    assert scored(["get_attractions", "search", "get_weather"], exact_match=True).value == 1.0


def test_the_wrong_order_fails_and_the_diff_says_why() -> None:
    score = scored(["get_weather", "get_attractions"])
    assert score.value == 0.0
    assert score.reason == "1 of 2 expected calls aligned (in_order)"
    assert score.diff is not None
    assert "out of order" in score.diff


def test_parameters_are_checked_only_where_they_are_stated() -> None:
    assert scored([PARIS, "get_weather"]).value == 1.0
    rome = {"tool_name": "get_attractions", "parameters": {"destination": "Rome"}}
    assert scored([rome, "get_weather"]).value == 0.0
    assert scored([rome, "get_weather"], parameters="ignore").value == 1.0


def test_parameters_may_be_listed_only() -> None:
    run = Trace.from_calls([{"name": "f", "arguments": {"x": 1, "y": 2}}])
    expected = [{"tool_name": "f", "parameters": {"x": 1}}]
    assert scored(expected, run).value == 0.0
    assert scored(expected, run, parameters="listed").value == 1.0


def test_an_early_call_with_other_parameters_does_not_steal_the_match() -> None:
    run = Trace.from_calls([{"name": "f", "arguments": {"x": 0}}, {"name": "f", "arguments": {"x": 1}}])
    assert scored([{"tool_name": "f", "parameters": {"x": 1}}], run).value == 1.0


def test_nothing_expected_is_one_only_where_nothing_was_called() -> None:
    assert scored([], Trace.from_calls([])).value == 1.0
    score = scored([])
    assert score.value == 0.0
    assert "no calls expected, 3 made: get_attractions, search, get_weather" in score.reason


def test_any_expectation_is_taken_and_its_own_mode_goes_first() -> None:
    assert scored(call("get_attractions") >> opt("search") >> par("get_weather")).value == 1.0
    assert scored(expect(["get_weather", "search", "get_attractions"], mode="any_order")).value == 1.0
    assert scored({"path": ["search"], "mode": "contains"}).value == 1.0
    assert scored([call("search", q=lambda q: q == "x")]).value == 1.0
    assert scored(expect(["get_weather", "nothing"], mode="lcs"), threshold=0.5).value == 0.5


def test_a_broken_constraint_is_zero_and_named() -> None:
    score = scored(expect(["get_attractions"], never="search"))
    assert score.value == 0.0
    assert score.reason.endswith("never search: called search (call 2)")
    assert score.details["checks"][0]["held"] is False
    warned = scored(expect(["get_attractions"], never="search", severity="warn"))
    assert warned.value == 1.0
    assert warned.diff is not None
    assert "never" in warned.diff


def test_the_details_hold_the_facts() -> None:
    details = scored(["get_attractions", "nothing"]).details
    assert details["matched"] == 1
    assert details["required"] == 2
    assert details["missing"] == [1]
    assert details["actual"] == ["get_attractions", "search", "get_weather"]


def test_expected_arguments_are_bound_through_the_signature() -> None:
    tool = ToolDefinition(name="f", parameters=(Parameter("x"), Parameter("y", default=2)))
    run = Trace(Trace.from_calls([{"name": "f", "arguments": {"x": 1, "y": 2}}]).spans, tools={"f": tool})
    assert scored([call("f", x=1)], run).value == 1.0
    with pytest.raises(ExpectationError, match="no parameter 'z'"):
        scored([call("f", z=1)], run)
    with pytest.raises(ExpectationError, match="did you mean 'f'"):
        scored(["ff"], run)


def test_the_calls_of_a_recorded_example_are_scored_without_a_trace() -> None:
    example = Example(tools_called=["a", {"name": "b"}], expected_tools=["a", "b"])
    score = ToolOrderScorer().score(example, None)
    assert isinstance(score, Score)
    assert score.value == 1.0


def test_options_choose_agent_attempts_names_and_tools() -> None:
    run = Trace.from_calls(
        [
            {"name": "read", "agent": "x", "error": "boom"},
            {"name": "read", "agent": "x", "kind": "read"},
            {"name": "writeIt", "agent": "y", "kind": "write"},
        ]
    )
    assert scored(["read"], run, exact_match=True, agent="x", attempts="collapse").value == 1.0
    assert (
        scored(
            ["read", "write"], run, exact_match=True, attempts="successes", names={"writeIt": "write"}
        ).value
        == 1.0
    )
    assert scored(["read", "writeIt"], run, exact_match=True, tools="tag:write").value == 1.0
    assert scored([call("read", x=1)], run, comparators={"read": lambda wanted, got: True}).value == 1.0


def test_what_is_missing_is_an_error_that_names_it() -> None:
    with pytest.raises(ScorerError, match="needs the example's expected_tools"):
        ToolOrderScorer().score(Example(), RUN)
    with pytest.raises(ScorerError, match="no trace"):
        ToolOrderScorer().score(Example(expected_tools=["a"]), None)
    with pytest.raises(ScorerError, match="expected_tools"):
        ToolOrderScorer().check(Example())
    with pytest.raises(ExpectationError, match="did you mean 'par'"):
        ToolOrderScorer().check(Example(expected_tools=[["a", {"pra": ["b"]}]]))


@pytest.mark.parametrize(
    "options",
    [{"threshold": 2}, {"threshold": True}, {"threshold": "1"}, {"parameters": "exatc"}, {"attempts": "all"}],
)
def test_a_wrong_option_is_an_error_when_the_scorer_is_made(options: dict[str, object]) -> None:
    with pytest.raises(ScorerError):
        ToolOrderScorer(**options)  # type: ignore[arg-type]


def test_a_judge_decides_semantic_and_the_score_is_awaited() -> None:
    expected = [call("search", q=semantic("a letter"))]
    with pytest.raises(ScorerError, match="needs a judge"):
        scored(expected)

    async def ask(text: str, value: object) -> bool:
        return (text, value) == ("a letter", "x")

    score = ToolOrderScorer(ask=ask).score(Example(expected_tools=expected), RUN)
    assert isinstance(score, Awaitable)

    async def wait() -> Score:
        return await score

    assert asyncio.run(wait()).value == 1.0


def test_with_a_judge_a_score_is_awaited_whatever_is_expected() -> None:
    score = ToolOrderScorer(ask=lambda text, value: True).score(Example(expected_tools=["search"]), RUN)

    async def wait() -> Score:
        return await score

    assert asyncio.run(wait()).value == 1.0


def test_the_calls_may_stand_in_the_example_alone() -> None:
    example = Example(expected_tools=["a"], tools_called=["a", "b"])
    assert ToolOrderScorer().score(example).value == 1.0


def test_values_are_compared_as_json() -> None:
    run = Trace.from_calls([{"name": "f", "arguments": {"x": [1, 2], "flag": 1, "d": "2025-06-01"}}])
    assert scored([call("f", x=(1, 2.0), flag=1, d=approx(1))], run).value == 0.0
    assert scored([call("f", x=(1, 2.0), flag=1, d="2025-06-01")], run).value == 1.0
    assert scored([call("f", x=(1, 2.0), flag=True, d="2025-06-01")], run).value == 0.0
