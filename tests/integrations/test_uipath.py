"""UiPath's evaluators on OpenTelemetry's own spans."""

import asyncio
from types import MappingProxyType

import pytest
from opentelemetry.sdk.trace import ReadableSpan
from opentelemetry.trace.status import Status, StatusCode

from agenttrace.core.errors import ConfigError, JudgeError, ScorerError
from agenttrace.integrations.uipath import (
    AgentExecution,
    LLMJudgeTrajectoryEvaluator,
    ToolCallArgsEvaluator,
    ToolCallCountEvaluator,
    ToolCallOrderEvaluator,
    ToolCallOutputEvaluator,
)
from agenttrace.integrations.uipath_shapes import trace_of_spans
from agenttrace.judges.models.fake import FakeChatModel


def span(name, start=0, **attributes):
    told = {"tool.name": name, **{key.replace("_", "."): value for key, value in attributes.items()}}
    return ReadableSpan(name=name, start_time=start, end_time=start + 1, attributes=told)


def evaluate(evaluator, spans, criteria=None, **more):
    execution = AgentExecution(
        agent_input={"task": "t"}, agent_output={"ok": True}, agent_trace=spans, **more
    )
    return asyncio.run(
        evaluator.validate_and_evaluate_criteria(agent_execution=execution, evaluation_criteria=criteria)
    )


class TestSpans:
    def test_calls_are_ordered_by_start_not_by_place(self):
        trace = trace_of_spans([span("inner", 5), span("outer", 1)])
        assert [call.name for call in trace.tool_calls] == ["outer", "inner"]

    def test_spans_that_start_together_keep_their_places(self):
        trace = trace_of_spans([span("b"), span("a")])
        assert [call.name for call in trace.tool_calls] == ["b", "a"]

    def test_only_tool_spans_that_were_not_synthesized_are_calls(self):
        other = ReadableSpan(
            name="llm", start_time=0, end_time=1, attributes={"openinference.span.kind": "LLM"}
        )
        trace = trace_of_spans(
            [other, span("box", tool_synthesized=True), span("a"), ReadableSpan(name="bare")]
        )
        assert [call.name for call in trace.tool_calls] == ["a"]

    @pytest.mark.parametrize("text", ['{"x": true, "y": null}', "{'x': True, 'y': None}"])
    def test_arguments_are_json_or_a_python_literal(self, text):
        (call,) = trace_of_spans([span("t", input_value=text)]).tool_calls
        assert call.arguments == {"x": True, "y": None}

    @pytest.mark.parametrize("text", ["not json", "[1]", '"hello"', "{'x': open('f')}", "[" * 100_000])
    def test_arguments_that_cannot_be_read_are_told(self, text):
        (call,) = trace_of_spans([span("t", input_value=text)]).tool_calls
        assert call.arguments == {}
        assert "arguments are not" in call.arguments_error

    @pytest.mark.parametrize(
        ("value", "output"),
        [
            ('{"status": "ok"}', {"status": "ok"}),
            ('"ok"', "ok"),
            ("ok", "ok"),
            ("", ""),
            ('{"content": "done", "tool_call_id": "7"}', "done"),
            ('{"content": "{\\"n\\": 1}"}', {"n": 1}),
            ('{"content": "done", "pages": 3}', {"content": "done", "pages": 3}),
            (12345, 12345),
        ],
    )
    def test_outputs_are_values_and_a_message_is_its_content(self, value, output):
        (call,) = trace_of_spans([span("t", output_value=value)]).tool_calls
        assert call.output == output

    def test_a_failed_span_is_a_failed_call(self):
        failed = ReadableSpan(
            name="t", start_time=0, attributes={"tool.name": "t"}, status=Status(StatusCode.ERROR, "boom")
        )
        good = ReadableSpan(
            name="t", start_time=1, attributes={"tool.name": "t"}, status=Status(StatusCode.OK)
        )
        assert [call.failed for call in trace_of_spans([failed, good]).tool_calls] == [True, False]

    def test_what_is_no_span_is_refused(self):
        with pytest.raises(ConfigError, match="ReadableSpans"):
            trace_of_spans([{"tool.name": "t"}])


class TestOrder:
    def test_the_details_hold_both_orders_and_the_lcs(self):
        result = evaluate(
            ToolCallOrderEvaluator(id="o", config={"name": "Order", "strict": False}),
            [span("search", 0), span("filter", 1), span("display", 2)],
            {"tool_calls_order": ["search", "filter", "sort", "display"]},
        )
        assert result.score == 0.75
        assert result.details.lcs == ["search", "filter", "display"]
        assert result.details.actual_tool_calls_order == ["search", "filter", "display"]
        assert result.details.expected_tool_calls_order == ["search", "filter", "sort", "display"]
        assert result.reason == "LCS 3 of 4 expected: search, filter, display"

    def test_strict_is_all_or_nothing(self):
        evaluator = ToolCallOrderEvaluator(id="o", config={"strict": True})
        assert evaluate(evaluator, [span("a"), span("x")], {"tool_calls_order": ["a"]}).score == 0.0
        assert evaluate(evaluator, [span("a")], {"tool_calls_order": ["a"]}).score == 1.0

    def test_no_calls_at_all_score_zero(self):
        assert evaluate(ToolCallOrderEvaluator(id="o"), [], {"tool_calls_order": ["a"]}).score == 0.0

    def test_default_criteria_are_used_without_criteria_and_only_then(self):
        evaluator = ToolCallOrderEvaluator(
            id="o", config={"default_evaluation_criteria": {"tool_calls_order": ["a"]}}
        )
        assert evaluate(evaluator, [span("a")]).score == 1.0
        assert evaluate(evaluator, [span("a")], {"tool_calls_order": ["b"]}).score == 0.0
        with pytest.raises(ScorerError, match="tool_calls_order"):
            evaluate(evaluator, [span("a")], {})

    def test_camel_case_is_read_as_in_uipath_s_files(self):
        evaluator = ToolCallOrderEvaluator(
            id="o", config={"defaultEvaluationCriteria": {"toolCallsOrder": ["a"]}}
        )
        assert evaluate(evaluator, [span("a")]).score == 1.0


@pytest.mark.parametrize(
    ("kind", "config", "said"),
    [
        (ToolCallOrderEvaluator, {"strct": True}, "did you mean 'strict'"),
        (ToolCallOrderEvaluator, {"strict": "yes"}, "strict.*got 'yes'"),
        (ToolCallOrderEvaluator, {"subset": True}, "has no 'subset'"),
        (ToolCallOrderEvaluator, [], "mapping"),
        (LLMJudgeTrajectoryEvaluator, {"temperature": 0.5}, "has no 'temperature'"),
    ],
)
def test_a_config_that_cannot_be_understood_says_why(kind, config, said):
    with pytest.raises(ConfigError, match=said):
        kind(id="x", config=config or "nothing")


@pytest.mark.parametrize(
    ("kind", "criteria", "said"),
    [
        (ToolCallOrderEvaluator, None, "needs evaluation_criteria"),
        (
            ToolCallOrderEvaluator,
            {"tool_call_order": ["a"]},
            "did you mean 'tool_calls_order'|tool_calls_order",
        ),
        (ToolCallOrderEvaluator, {"tool_calls_order": "a"}, "list"),
        (ToolCallOrderEvaluator, {"tool_calls_order": []}, "empty"),
        (ToolCallCountEvaluator, {"tool_calls_count": {"a": ["~", 1]}}, "unknown operator '~'"),
        (ToolCallCountEvaluator, {"tool_calls_count": {"a": ["=", -1]}}, "whole number"),
        (ToolCallCountEvaluator, {"tool_calls_count": {"a": ["=", 1.5]}}, "whole number"),
        (ToolCallCountEvaluator, {"tool_calls_count": {"a": 1}}, "operator, number"),
        (ToolCallCountEvaluator, {"tool_calls_count": {}}, "counts maps"),
        (ToolCallArgsEvaluator, {"tool_calls": [{"name": "a"}]}, "args"),
        (ToolCallArgsEvaluator, {"tool_calls": [{"name": "a", "args": {}, "id": "7"}]}, "id"),
        (ToolCallOutputEvaluator, {"tool_outputs": [{"name": "a"}]}, "output"),
    ],
)
def test_criteria_that_cannot_be_understood_raise(kind, criteria, said):
    with pytest.raises(ScorerError, match=said):
        evaluate(kind(id="x"), [span("a")], criteria)


def test_bad_default_criteria_are_refused_when_built():
    with pytest.raises(ScorerError, match="unknown operator"):
        ToolCallCountEvaluator(
            id="x", config={"default_evaluation_criteria": {"tool_calls_count": {"a": ["=>", 1]}}}
        )


def test_counts_hold_on_a_run_without_calls():
    result = evaluate(
        ToolCallCountEvaluator(id="c"), [], {"tool_calls_count": {"a": ["=", 0], "b": [">=", 1]}}
    )
    assert result.score == 0.5
    assert result.details.explained_tool_calls_count["a"] == {
        "actual": 0, "operator": "=", "expected": 0, "held": True,
    }  # fmt: skip


class TestArgs:
    spans = (span("t", 0, input_value='{"x": 1, "y": 2}'), span("t", 1, input_value='{"x": 1}'))

    def test_the_pairing_is_optimal_and_not_greedy(self):
        criteria = {"tool_calls": [{"name": "t", "args": {"x": 1}}, {"name": "t", "args": {"x": 1, "y": 2}}]}
        for config in ({}, {"subset": True}):
            assert evaluate(ToolCallArgsEvaluator(id="a", config=config), self.spans, criteria).score == 1.0

    def test_without_subset_no_other_arguments_may_be_there(self):
        criteria = {"tool_calls": [{"name": "t", "args": {"y": 2}}]}
        assert evaluate(ToolCallArgsEvaluator(id="a"), self.spans, criteria).score == 0.0
        assert (
            evaluate(ToolCallArgsEvaluator(id="a", config={"subset": True}), self.spans, criteria).score
            == 1.0
        )

    def test_each_expected_call_is_explained(self):
        criteria = {"tool_calls": [{"name": "t", "args": {"x": 1}}, {"name": "t", "args": {"x": 9, "y": 2}}]}
        explained = evaluate(ToolCallArgsEvaluator(id="a"), self.spans, criteria).details
        assert list(explained.explained_tool_calls_args) == ["t_0", "t_1"]
        assert explained.explained_tool_calls_args["t_0"]["matched"]
        differs = explained.explained_tool_calls_args["t_1"]
        assert not differs["matched"]
        assert differs["call"]["arguments"] == {"x": 1, "y": 2}
        assert [d["path"] for d in differs["differences"]] == ["x"]

    def test_strict_is_all_or_nothing(self):
        criteria = {"tool_calls": [{"name": "t", "args": {"x": 1}}, {"name": "u", "args": {}}]}
        assert evaluate(ToolCallArgsEvaluator(id="a"), self.spans, criteria).score == 0.5
        assert (
            evaluate(ToolCallArgsEvaluator(id="a", config={"strict": True}), self.spans, criteria).score
            == 0.0
        )


class TestOutputs:
    def test_structured_outputs_are_compared_as_values(self):
        spans = [span("t", output_value='{"a": 1, "b": [true, null]}')]
        for expected in ({"b": [True, None], "a": 1.0}, '{"b": [true, null], "a": 1}'):
            criteria = {"tool_outputs": [{"name": "t", "output": expected}]}
            assert evaluate(ToolCallOutputEvaluator(id="o"), spans, criteria).score == 1.0

    def test_strict_finds_a_later_call_that_matches(self):
        spans = [span("t", 0, output_value="x"), span("t", 1, output_value="y")]
        criteria = {"tool_outputs": [{"name": "t", "output": "y"}]}
        result = evaluate(ToolCallOutputEvaluator(id="o", config={"strict": True}), spans, criteria)
        assert result.score == 1.0
        assert result.details.explained_tool_calls_outputs["t_0"]["call"]["index"] == 1

    def test_an_expected_null_is_a_value(self):
        criteria = {"tool_outputs": [{"name": "t", "output": None}]}
        assert (
            evaluate(ToolCallOutputEvaluator(id="o"), [span("t", output_value="null")], criteria).score == 1.0
        )
        assert evaluate(ToolCallOutputEvaluator(id="o"), [span("t", output_value="7")], criteria).score == 0.0


class TestJudge:
    criteria = MappingProxyType({"expected_agent_behavior": "It looks before it leaps."})

    def test_the_judge_is_told_the_behaviour_and_the_calls(self):
        model = FakeChatModel([{"reason": "It did.", "rating": 5}])
        evaluator = LLMJudgeTrajectoryEvaluator(id="j", config={"model": model})
        result = evaluate(evaluator, [span("look"), span("leap", 1)], self.criteria)
        assert result.score == 1.0
        assert "It did." in result.details.justification
        asked = str(model.requests)
        assert "It looks before it leaps." in asked
        assert "leap" in asked

    def test_the_execution_s_own_behaviour_stands_for_criteria(self):
        model = FakeChatModel([{"reason": "So so.", "rating": 3}])
        evaluator = LLMJudgeTrajectoryEvaluator(id="j", config={"model": model})
        assert evaluate(evaluator, [span("look")], expected_agent_behavior="Look.").score == 0.5

    def test_a_judge_that_cannot_be_read_is_an_error_and_no_score(self):
        model = FakeChatModel(["nonsense", "nonsense"])
        evaluator = LLMJudgeTrajectoryEvaluator(id="j", config={"model": model})
        with pytest.raises(JudgeError):
            evaluate(evaluator, [span("look")], self.criteria)
