"""Calls that a model asked for and whose execution was not recorded: what counts, and what cannot be told."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agenttrace import ANY, Example, Score, Trace, call, expect, not_, re_, ref
from agenttrace.core.errors import ScorerError
from agenttrace.core.span import Span
from agenttrace.matching import compare, explain
from agenttrace.scorers import (
    BudgetScorer,
    ExecutionOrderScorer,
    FunctionCallCoverageScorer,
    LoopScorer,
    ToolCallCountScorer,
    ToolCallOrderScorer,
    ToolCallOutputScorer,
    ToolDependencyScorer,
    ToolOrderScorer,
    ToolPermissionScorer,
    TrajectoryScorer,
)


def made(*calls: str | Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """Calls as ``"find"``, ``"find requested"``, or mappings."""
    entries = [call.partition(" ") if isinstance(call, str) else call for call in calls]
    return [
        entry
        if isinstance(entry, Mapping)
        else {"name": entry[0], **({"status": entry[2]} if entry[2] else {})}
        for entry in entries
    ]


def score(
    scorer: Any, calls: Sequence[str | Mapping[str, Any]], expected: Any = None, **fields: Any
) -> Score:
    result = scorer.score(Example(expected_tools=expected, **fields), Trace.from_calls(made(*calls)))
    assert isinstance(result, Score)
    return result


def outcome(expected: Any, calls: Sequence[str | Mapping[str, Any]]) -> str:
    return score(TrajectoryScorer(expected=expected, metric="holds"), calls).outcome


class TestWhichCount:
    """What each value of `attempts` makes of the statuses; docs/expectations.md has the table."""

    @pytest.mark.parametrize("status", ["answered", "requested", "attempted"])
    def test_count_counts_whatever_was_asked_for(self, status: str) -> None:
        assert outcome(expect(["pay"], mode="exact", attempts="count"), [f"pay {status}"]) == "passed"

    @pytest.mark.parametrize(
        ("status", "counted"), [("answered", "errored"), ("requested", "errored"), ("attempted", "failed")]
    )
    def test_successes_leave_out_what_was_not_executed(self, status: str, counted: str) -> None:
        assert outcome(expect(["pay"], attempts="successes"), [f"pay {status}"]) == counted

    def test_collapse_leaves_out_an_attempt_that_a_later_success_made_up_for(self) -> None:
        expected = expect(["pay"], mode="exact", attempts="collapse")
        assert outcome(expected, ["pay attempted", "pay"]) == "passed"
        assert outcome(expected, ["pay attempted"]) == "passed"
        assert outcome(expected, ["pay attempted", "pay attempted"]) == "failed"
        assert outcome(expected, ["pay", "pay requested"]) == "failed"
        assert outcome(expected, ["pay requested", "pay"]) == "errored"
        assert outcome(expected, ["pay answered", "pay answered"]) == "errored"

    @pytest.mark.parametrize("status", ["answered", "requested", "attempted"])
    @pytest.mark.parametrize("attempts", ["count", "collapse", "successes"])
    def test_guards_look_at_whatever_was_asked_for(self, status: str, attempts: Any) -> None:
        calls = ["find", f"delete_all {status}"]
        assert outcome(expect(never="delete_*", attempts=attempts), calls) == "failed"
        assert outcome(expect(only="find", attempts=attempts), calls) == "failed"

    @pytest.mark.parametrize("status", ["answered", "requested", "attempted"])
    def test_limits_count_what_attempts_counts(self, status: str) -> None:
        calls = ["pay", f"pay {status}"]
        assert outcome(expect(at_most={"pay": 1}), calls) == "failed"
        assert outcome(expect(max_calls=1), calls) == "failed"
        assert outcome(expect(at_least={"pay": 2}), calls) == "passed"
        assert score(BudgetScorer(calls=1), calls).outcome == "failed"
        left = "passed" if status == "attempted" else "errored"
        assert outcome(expect(at_most={"pay": 1}, attempts="successes"), calls) == left
        assert score(BudgetScorer(calls=1, attempts="successes"), calls).outcome == left

    def test_an_attempt_is_an_error_of_a_tool_and_of_the_others_it_cannot_be_told(self) -> None:
        for status, told in (("attempted", "failed"), ("requested", "errored"), ("answered", "errored")):
            assert outcome(expect(tool_errors=0), ["find", f"pay {status}"]) == told
        assert outcome(expect(tool_errors=1), ["find", "pay requested"]) == "passed"
        assert outcome(expect(tool_errors=0), [{"name": "pay", "error": True}, "pay requested"]) == "failed"

    def test_permission_and_counts_and_orders_see_them(self) -> None:
        calls = ["find", "fnd attempted", "pay requested"]
        assert score(ToolPermissionScorer(allow=["find", "pay"]), calls).value == 2 / 3
        assert score(ToolPermissionScorer(deny="pay"), calls).outcome == "failed"
        assert score(ToolCallCountScorer({"pay": ("=", 1), "fnd": (">", 0)}), calls).outcome == "passed"
        assert score(ToolCallOrderScorer(["find", "pay"]), calls).outcome == "passed"
        assert score(FunctionCallCoverageScorer(["fnd"]), calls).outcome == "passed"
        assert (
            score(ExecutionOrderScorer(), calls, expected_output=["find", "fnd", "pay"]).outcome == "passed"
        )

    def test_a_repeated_call_is_redundant_unless_the_first_one_failed(self) -> None:
        assert score(LoopScorer(), ["pay", "pay requested"]).outcome == "failed"
        assert score(LoopScorer(), ["pay attempted", "pay"]).outcome == "passed"
        assert score(LoopScorer(), ["pay requested", "pay"]).outcome == "errored"
        assert (
            score(LoopScorer(), ["pay requested", "find answered", "find2"]).details.get("cannot_be_told")
            is None
        )


class TestOutputs:
    def test_the_output_of_a_requested_call_cannot_be_told(self) -> None:
        result = score(ToolCallOutputScorer([{"name": "pay", "output": 7}]), ["pay requested"])
        assert result.outcome == "errored"
        assert "output of pay (call 1) was not recorded" in result.reason
        assert "observe the tool with span_type='tool'" in result.reason
        assert outcome([call("pay", output=not_(7))], ["pay requested"]) == "errored"
        assert outcome([call("pay", output=re_("x"))], ["pay requested"]) == "errored"
        assert outcome([call("pay", output=None)], ["pay requested"]) == "errored"

    def test_it_is_told_where_both_readings_agree(self) -> None:
        assert outcome([call("pay", output=ANY)], ["pay requested"]) == "passed"
        assert outcome([call("pay", output=7), call("tell")], ["pay requested"]) == "failed"
        assert outcome([call("pay", output=7)], ["pay requested", {"name": "pay", "output": 7}]) == "passed"

    def test_what_was_not_executed_has_no_output(self) -> None:
        assert (
            score(ToolCallOutputScorer([{"name": "pay", "output": 7}]), ["pay attempted"]).outcome == "failed"
        )

    def test_a_value_that_may_come_from_it_cannot_be_told(self) -> None:
        expected = [call("find"), call("pay", id=ref("find.output.id"))]
        pay = {"name": "pay", "arguments": {"id": 7}}
        assert outcome(expected, ["find requested", pay]) == "errored"
        assert outcome(expected, ["find attempted", pay]) == "failed"
        answered = {"name": "find", "status": "answered", "output": '{"id": 7}'}
        assert outcome(expected, [answered, pay]) == "errored"  # a failed call is no source
        assert outcome(expected, [{**answered, "output": '{"id": 8}'}, pay]) == "failed"

    def test_a_dependency_on_it_cannot_be_told(self) -> None:
        expected = [{"tool_name": "pay", "result_dependencies": ["find"]}]
        pay = {"name": "pay", "arguments": {"id": 712}}
        scorer = ToolDependencyScorer()
        assert score(scorer, ["find requested", pay], expected).outcome == "errored"
        assert score(scorer, ["find attempted", pay], expected).outcome == "failed"
        told = {"name": "find", "status": "answered", "output": '{"id": 712}'}
        assert score(scorer, [told, pay], expected).outcome == "passed"

    @pytest.mark.parametrize(
        ("expected", "told", "outcome_of_it"),
        [
            ("sunny", "sunny", "passed"),
            ("sunny", "rainy", "failed"),
            ("7", "7", "passed"),
            ("7", "8", "failed"),
            ('{"id": 7}', '{"id": 7}', "passed"),
            ('{"id": 7}', '{"id": 8}', "failed"),
            (re_('"id"'), '{"id": 7}', "passed"),
            (not_("rainy"), "sunny", "passed"),
            (not_({"id": 8}), '{"id": 7}', "passed"),
            ({"id": 7}, '{"id": 8}', "failed"),
            (7, "8", "failed"),
            ({"id": 7}, "sunny", "failed"),
            # the tool may have given this text, or the value that it spells
            ({"id": 7}, '{"id": 7}', "errored"),
            ({"id": 7}, "{'id': 7}", "errored"),
            ([1, 2], "[1, 2]", "errored"),
            (7, "7", "errored"),
            (None, "null", "errored"),
            (True, "True", "errored"),
            ("sunny", '"sunny"', "errored"),
            ('{"id":7}', '{"id": 7}', "errored"),
            (not_({"id": 7}), '{"id": 7}', "errored"),
            (lambda output: isinstance(output, dict), '{"id": 7}', "errored"),
            (lambda output: bool(output), '{"id": 7}', "passed"),
        ],
    )
    def test_an_answer_may_be_the_text_or_the_value_that_it_spells(
        self, expected: Any, told: str, outcome_of_it: str
    ) -> None:
        answered = {"name": "find", "status": "answered", "output": told, "from_answer": True}
        assert outcome([call("find", output=expected)], [answered]) == outcome_of_it
        if outcome_of_it == "errored":
            reason = score(TrajectoryScorer(expected=[call("find", output=expected)]), [answered]).reason
            assert "the value of the output of find (call 1) was not recorded" in reason

    @pytest.mark.parametrize(
        ("expected", "returned", "passes"),
        [
            ({"id": 7}, '{"id": 7}', False),
            ({"id": 7}, {"id": 7}, True),
            ('{"id": 7}', {"id": 7}, True),
            ('{"id":7}', {"id": 7}, True),
            ('{"id": 8}', {"id": 7}, False),
            ("null", None, True),
            ("7", 7, True),
        ],
    )
    def test_an_expected_text_also_stands_for_the_data_that_it_spells(
        self, expected: Any, returned: Any, passes: bool
    ) -> None:
        assert (
            outcome([call("find", output=expected)], [{"name": "find", "output": returned}]) == "passed"
        ) is passes

    @pytest.mark.parametrize(
        ("told", "used", "outcome_of_it"),
        [
            ("712", "712", "errored"),
            ("712", 712, "errored"),
            ("712", 713, "failed"),
            ("abc", "abc", "errored"),
            ("abc", "abd", "failed"),
        ],
    )
    def test_what_comes_from_an_answer_is_told_by_text_and_value(
        self, told: str, used: Any, outcome_of_it: str
    ) -> None:
        """Of *answered* it is not even known whether it failed, so none of them passes."""
        answered = {"name": "find", "status": "answered", "output": told, "from_answer": True}
        expected = [call("find"), call("pay", id=ref("find.output"))]
        assert outcome(expected, [answered, {"name": "pay", "arguments": {"id": used}}]) == outcome_of_it


class TestDiff:
    def test_rows_say_what_each_call_is(self) -> None:
        trace = Trace.from_calls(made("find", "pay attempted", "tell requested"))
        comparison = compare(expect(["find", "tell"], never="pay"), trace)
        assert explain(comparison).splitlines() == [
            "    ✓ 1  find()",
            "    !    pay()    forbidden: never pay; attempted, not executed (no such tool)",
            "    ✓ 2  tell()   requested, execution not recorded",
            "    ! never: wanted never pay, called pay (call 2, attempted)",
        ]
        assert comparison.facts()["statuses"] == {"1": "attempted", "2": "requested"}
        assert [row.to_dict()["actual"]["status"] for row in comparison.rows] == [
            "ok",
            "attempted",
            "requested",
        ]

    def test_unreadable_arguments_say_so(self) -> None:
        messages = [
            {
                "role": "assistant",
                "tool_calls": [{"id": "1", "function": {"name": "pay", "arguments": '{"x": '}}],
            }
        ]
        comparison = compare([call("pay", x=1)], Trace.from_messages(messages))
        assert "attempted, not executed (unreadable arguments)" in explain(comparison)


class TestCutAnswers:
    def test_a_run_whose_model_may_have_asked_for_more_is_not_scored(self) -> None:
        cut = Span(
            trace_key=1, span_key=5, name="chat x", span_type="llm", output={"$truncated": "memory"},
            attributes={"gen_ai.operation.name": "chat"},
        )  # fmt: skip
        with pytest.raises(ScorerError, match=r"the answer of 'chat x' .* was cut"):
            ToolPermissionScorer(deny="pay").score(Example(), Trace([cut]))


class TestTurns:
    def test_an_expectation_about_a_turn_is_an_error_on_a_run_without_turns(self) -> None:
        trace = Trace.from_calls(["find"])
        for expected in (expect(["find"], turn=2), [call("find", turn=1)]):
            with pytest.raises(ScorerError, match=r"about turn \d, and the run has no turns.*tracer\.turn"):
                compare(expected, trace)
            with pytest.raises(ScorerError, match="no turns"):
                compare(expected, trace.tool_calls)

    def test_it_is_missing_where_the_run_has_other_turns(self) -> None:
        trace = Trace.from_calls([{"name": "find", "turn": 1}])
        assert TrajectoryScorer(expected=expect(["find"], turn=2)).score(Example(), trace).outcome == "failed"
        assert TrajectoryScorer(expected=expect(["find"], turn=1)).score(Example(), trace).outcome == "passed"

    def test_a_turn_without_calls_counts_as_recorded(self) -> None:
        chat = Trace.from_messages(
            [{"role": "user", "content": "hi"}, {"role": "assistant", "content": "hello"}]
        )
        assert TrajectoryScorer(expected=expect(["find"], turn=1)).score(Example(), chat).outcome == "failed"


# Against brute force: what cannot be told is told where every way in which it may have been gives the same.

NAMES = st.sampled_from(["a", "b"])
CALLS = st.lists(
    st.builds(
        lambda name, x, status: {
            "name": name,
            "arguments": {"x": x},
            **({"status": status} if status else {}),
        },
        NAMES,
        st.integers(0, 1),
        st.sampled_from([None, "answered", "answered", "attempted"]),
    ),
    max_size=5,
)
PATHS = st.lists(NAMES, max_size=3)
MODES = st.sampled_from(["exact", "in_order", "any_order", "contains", "only", "lcs"])


def resolved(calls: Sequence[Mapping[str, Any]]) -> list[list[dict[str, Any]]]:
    """Every run that this may have been."""
    ways = [
        [{**call, "status": None, "error": error} for error in (None, True)]
        if call.get("status") == "answered"
        else [dict(call)]
        for call in calls
    ]
    return [list(way) for way in itertools.product(*ways)]


def check_against_brute_force(scorer: Any, example: Example, calls: Sequence[Mapping[str, Any]]) -> None:
    told = scorer.score(example, Trace.from_calls(calls)).outcome
    outcomes = {scorer.score(example, Trace.from_calls(way)).outcome for way in resolved(calls)}
    assert told == (outcomes.pop() if len(outcomes) == 1 else "errored")


@given(CALLS, PATHS, MODES, st.sampled_from(["count", "collapse", "successes"]))
def test_paths_are_told_as_by_brute_force(calls: Any, path: Any, mode: Any, attempts: Any) -> None:
    scorer = TrajectoryScorer(expected=expect(path, mode=mode, attempts=attempts), metric="holds")
    check_against_brute_force(scorer, Example(), calls)


@given(CALLS, st.sampled_from(["count", "collapse", "successes"]), st.integers(0, 2))
def test_constraints_are_told_as_by_brute_force(calls: Any, attempts: Any, number: int) -> None:
    for constraint in (
        {"tool_errors": number},
        {"at_most": {"a": number}},
        {"at_least": {"a": number}},
        {"before": [("a", "b")]},
        {"no_repeats": True},
        {"never": "b"},
    ):
        scorer = TrajectoryScorer(expected=expect(attempts=attempts, **constraint))
        check_against_brute_force(scorer, Example(), calls)


@given(CALLS, st.sampled_from(["count", "collapse", "successes"]), st.integers(0, 2))
def test_the_other_scorers_are_told_as_by_brute_force(calls: Any, attempts: Any, number: int) -> None:
    options: dict[str, Any] = {"attempts": attempts}
    example = Example(
        expected_tools=[{"tool_name": "b", "action_dependencies": ["a"]}], expected_output=["a", "b"]
    )
    for scorer in (
        ToolCallCountScorer({"a": ("=", number)}, **options),
        ToolCallOrderScorer(["a", "b"], strict=True, **options),
        FunctionCallCoverageScorer(["a", "a"], **options),
        ToolDependencyScorer(**options),
        ToolPermissionScorer(deny="b", **options),
        LoopScorer(**options),
        BudgetScorer(calls=number, **options),
        ExecutionOrderScorer(**options),
        ToolOrderScorer(parameters="ignore", **options),
    ):
        check_against_brute_force(scorer, example, calls)


def test_more_unknown_outcomes_than_can_be_read_are_errored_and_say_so() -> None:
    calls = [{"name": "find", "arguments": {"x": n}, "status": "answered"} for n in range(12)]
    scorer = ToolOrderScorer(attempts="collapse", parameters="ignore")
    result = score(scorer, calls, ["find"])
    assert result.outcome == "errored"
    assert "the outcome of find (call 1) was not recorded" in result.reason
    assert score(ToolOrderScorer(parameters="ignore"), calls, ["find"]).outcome == "passed"
