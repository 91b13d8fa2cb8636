"""Which calls are compared."""

from __future__ import annotations

import re

import pytest

from agenttrace.core.errors import ScorerError
from agenttrace.core.example import Example
from agenttrace.core.tool import ToolDefinition
from agenttrace.core.trace import Trace
from agenttrace.expectations import call, expect
from agenttrace.matching import Selection, compare
from agenttrace.matching.selection import actual_calls, agent_matches
from agenttrace.scorers import ToolOrderScorer
from tests.expectations.strategies import trace_of


def names(selection: Selection, calls: list[object]) -> list[str]:
    trace = trace_of(calls)  # type: ignore[arg-type]
    counted, _ = selection.counted(selection.calls(trace.tool_calls))
    return [one.name for one in counted]


@pytest.mark.parametrize(
    ("wanted", "path", "matches"),
    [
        ("booking", "booking", True), ("booking", "planner/booking", True), ("booking", "booking/pay", False),
        ("planner/booking", "planner/booking", True), ("*booking*", "booking/pay", True),
        ("booking", "", False),
        ("book", "booking", False), ("", "", True),
    ],
)  # fmt: skip
def test_an_agent_is_matched_by_the_end_of_its_path(wanted: str, path: str, matches: bool) -> None:
    assert agent_matches(wanted, path) is matches


def test_agent_and_turn_choose_calls() -> None:
    calls = [{"name": "a", "agent": "x", "turn": 1}, {"name": "b", "agent": "y", "turn": 2}, "c"]
    assert names(Selection(agent="x"), calls) == ["a"]
    assert names(Selection(turn=2), calls) == ["b"]
    assert names(Selection(), calls) == ["a", "b", "c"]


def test_tools_are_chosen_by_name_glob_and_tag() -> None:
    calls = ["get_user", "get_order", {"name": "refund", "kind": "write"}]
    assert names(Selection.of(tools="get_*"), calls) == ["get_user", "get_order"]
    assert names(Selection.of(tools=["get_user", "refund"]), calls) == ["get_user", "refund"]
    assert names(Selection.of(tools="tag:write"), calls) == ["refund"]
    assert names(Selection.of(tools="tag:wr*"), calls) == ["refund"]
    assert names(Selection.of(tools="tag:r*"), calls) == []
    assert names(Selection.of(tools=[]), calls) == []


FAILED = {"name": "a", "error": "boom"}


@pytest.mark.parametrize(
    ("attempts", "calls", "kept"),
    [
        ("count", [FAILED, "a"], ["a", "a"]),
        ("successes", [FAILED, "b", FAILED], ["b"]),
        ("collapse", [FAILED, FAILED, "b", "a"], ["b", "a"]),
        ("collapse", ["a", FAILED], ["a", "a"]),
        ("collapse", [FAILED, {"name": "b", "error": "x"}, "a"], ["b", "a"]),
    ],
)
def test_what_failed_attempts_count_for(attempts: str, calls: list[object], kept: list[str]) -> None:
    assert names(Selection.of(attempts=attempts), calls) == kept  # type: ignore[arg-type]


def test_collapsed_attempts_are_counted_and_shown() -> None:
    comparison = compare(["a"], trace_of([FAILED, FAILED, "a"]), selection=Selection(attempts="collapse"))
    assert comparison.attempts == {2: 3}
    assert comparison.rows[0].note == "3 attempts"


def test_aliases_apply_to_calls_and_expectations_alike() -> None:
    selection = Selection.of(names={"lookupOrder": "lookup_order"})
    for expected in ("lookup_order", "lookupOrder"):
        for actual in ("lookup_order", "lookupOrder"):
            comparison = compare([expected], trace_of([actual]), selection=selection)
            assert comparison.holds
            assert comparison.facts()["names"] == {"lookupOrder": "lookup_order"}


GET_USER = {"name": "get_user", "kind": "read"}


def test_a_subset_of_tools_is_taken_from_both_sides() -> None:
    selection = Selection.of(tools="tag:write")
    run = ["get_user", {"name": "refund", "kind": "write"}]
    assert compare(
        expect(["lookup", "refund"], mode="exact"), trace_of([*run, "lookup"]), selection=selection
    ).holds
    assert compare(["get_user"], trace_of([GET_USER]), selection=selection).value == 1.0
    assert compare(["get_user"], trace_of(run), selection=selection).value == 0.0


def test_a_comparison_counts_an_expected_tool_of_which_no_tag_is_known() -> None:
    unknown = compare(["refund"], trace_of([GET_USER]), selection=Selection.of(tools="tag:write"))
    assert (unknown.required, unknown.holds) == (1, False)
    tools = {
        "refund": ToolDefinition(name="refund", tags=("write",)),
        "get_user": ToolDefinition(name="get_user"),
    }
    known = compare(
        ["refund"], trace_of(["get_user"]), selection=Selection.of(tools="tag:write"), tools=tools
    )
    assert known.required == 1
    assert not known.holds


def test_the_expectation_can_choose_its_own_agent_and_turn() -> None:
    run = [{"name": "a", "agent": "x", "turn": 1}, {"name": "b", "agent": "y", "turn": 2}]
    assert compare(expect(["b"], agent="y", mode="exact"), trace_of(run)).holds
    assert compare(expect(["b"], turn=2, mode="exact"), trace_of(run)).holds
    assert not compare([call("b", agent="x")], trace_of(run)).holds
    assert compare([call("b", agent="y", turn=2)], trace_of(run)).holds


@pytest.mark.parametrize("wrong", [{"attempts": "succeses"}, {"tools": [1]}])
def test_a_wrong_option_is_an_error(wrong: dict[str, object]) -> None:
    with pytest.raises(ScorerError):
        Selection.of(**wrong)  # type: ignore[arg-type]


def test_the_calls_of_an_example_stand_in_for_a_missing_trace() -> None:
    example = Example(tools_called=["a", {"name": "b"}])
    assert [one.name for one in actual_calls(example, None).tool_calls] == ["a", "b"]
    assert [one.name for one in actual_calls(example, Trace()).tool_calls] == ["a", "b"]
    assert actual_calls(example, trace_of(["c"])).tool_calls[0].name == "c"
    with pytest.raises(ScorerError, match="no trace"):
        actual_calls(Example(), None)


@pytest.mark.parametrize(
    ("option", "value", "wanted"),
    [
        ("agent", 4, "agent is the name of an agent, got 4"),
        ("tools", 3, "tools are names, globs or 'tag:…', got 3"),
        ("tools", [3], "tools are names, globs or 'tag:…', got"),
        ("names", ["refnd"], "names maps a tool's other name"),
        ("names", {"refnd": None}, "names maps a tool's other name"),
    ],
)
def test_an_option_of_another_type_is_refused_when_the_scorer_is_made(
    option: str, value: object, wanted: str
) -> None:
    with pytest.raises(ScorerError, match=re.escape(wanted)):
        ToolOrderScorer(**{option: value})  # type: ignore[call-overload]


def test_a_scorer_that_would_compare_no_tool_is_refused() -> None:
    with pytest.raises(ScorerError, match="tools is empty"):
        ToolOrderScorer(tools=[])
