"""What models asked for is part of a live trace: joined with the tools' spans, else with its own status."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

import pytest

from agenttrace.core.model_requests import cut_answer, offered_tools
from agenttrace.core.span import Span
from agenttrace.core.tool import Parameter, ToolDefinition
from agenttrace.core.tool_call import ToolCall
from agenttrace.core.trace import Trace

OFFERED = [{"type": "function", "function": {"name": name}} for name in ("find", "refund")]


class Run:
    """A live run, span by span; the clock goes on by ten for each."""

    def __init__(self) -> None:
        self.spans: list[Span] = []
        self.messages: list[dict[str, Any]] = [{"role": "user", "content": "refund ann"}]

    def span(self, name: str, span_type: str, **fields: Any) -> Span:
        start = 10 * (len(self.spans) + 1)
        fields = {"start_ns": start, "end_ns": start + 5, **fields}
        span = Span(
            trace_key=1,
            span_key=len(self.spans) + 1,
            index=len(self.spans),
            name=name,
            span_type=span_type,
            **fields,
        )
        self.spans.append(span)
        return span

    def asks(self, *calls: Mapping[str, Any], tools: Any = OFFERED, **fields: Any) -> Span:
        """A model is asked with the messages so far, and its answer asks for these calls."""
        request = {"messages": list(self.messages), **({} if tools is None else {"tools": tools})}
        output = {"text": "", "tool_calls": list(calls), "finish_reason": "tool_calls"}
        self.messages.append({"role": "assistant", "tool_calls": list(calls)})
        return self.span("chat", "llm", **{"input": request, "output": output, **fields})

    def tells(self, key: str, content: Any, **marks: Any) -> None:
        """The answer to a call goes into the messages of the next request."""
        self.messages.append({"role": "tool", "tool_call_id": key, "content": content, **marks})

    def ends(self) -> Span:
        output = {"text": "done", "finish_reason": "stop"}
        return self.span(
            "chat", "llm", input={"messages": list(self.messages), "tools": OFFERED}, output=output
        )

    def runs(self, name: str, arguments: Mapping[str, Any], **fields: Any) -> Span:
        return self.span(name, "tool", input=arguments, output="ok", **fields)

    def calls(self, **options: Any) -> Sequence[ToolCall]:
        return Trace(self.spans, **options).tool_calls


def asked(name: str, arguments: Any, key: str | None = None) -> dict[str, Any]:
    return {"id": key, "name": name, "arguments": arguments}


def facts(calls: Sequence[ToolCall]) -> list[tuple[str, str, bool | None]]:
    return [(call.name, call.status, call.failed) for call in calls]


def test_a_call_that_a_tool_span_belongs_to_is_that_span_alone() -> None:
    run = Run()
    run.asks(asked("find", {"name": "ann"}, "1"))
    run.runs("find", {"name": "ann"})
    run.tells("1", "ok")
    run.ends()
    (call,) = run.calls()
    assert (call.name, call.status, call.output, call.from_answer) == ("find", "ok", "ok", False)


def test_a_tool_that_was_not_offered_was_attempted_and_not_executed() -> None:
    run = Run()
    run.asks(asked("fnd", {"name": "ann"}, "1"))
    run.tells("1", "no such tool")
    run.ends()
    (call,) = run.calls()
    assert (call.status, call.failed, call.arguments, call.output) == (
        "attempted", True, {"name": "ann"}, "no such tool",
    )  # fmt: skip
    assert call.remark == "attempted, not executed (no such tool)"


def test_arguments_that_cannot_be_read_were_attempted_and_not_executed() -> None:
    run = Run()
    run.asks(asked("refund", '{"id": 7, "amount": ', "1"))
    (call,) = run.calls()
    assert (call.status, call.failed, call.arguments) == ("attempted", True, {})
    assert '{"id": 7' in (call.arguments_error or "")
    assert call.remark == "attempted, not executed (unreadable arguments)"


def test_of_a_call_that_nothing_answers_execution_and_failure_are_not_known() -> None:
    run = Run()
    model = run.asks(asked("refund", {"id": 7}, "1"))
    (call,) = run.calls()
    assert (call.status, call.failed, call.output, call.arguments) == ("requested", None, None, {"id": 7})
    assert (call.remark, call.label) == ("requested, execution not recorded", "refund (call 1, requested)")
    assert (call.span_id, call.start_ns, call.metadata) == (model.span_id, model.end_ns, {"id": "1"})


@pytest.mark.parametrize(
    ("marks", "status", "failed"),
    [
        ({}, "answered", None),
        ({"is_error": False}, "ok", False),
        ({"is_error": True}, "error", True),
        ({"status": "success"}, "ok", False),
        ({"status": "error"}, "error", True),
    ],
)
def test_the_answer_in_the_next_request_is_the_output(marks: Any, status: str, failed: bool | None) -> None:
    run = Run()
    run.asks(asked("refund", {"id": 7}, "1"))
    run.tells("1", "refunded", **marks)
    run.ends()
    (call,) = run.calls()
    assert (call.status, call.failed, call.output, call.from_answer) == (status, failed, "refunded", True)
    assert str(call.error) == ("ToolError: refunded" if failed else "None")


def test_an_answer_in_blocks_is_no_failure_unless_it_says_so() -> None:
    for marks, status in (({}, "ok"), ({"is_error": True}, "error")):
        run = Run()
        run.asks(asked("refund", {"id": 7}, "1"))
        run.messages.append(
            {
                "role": "user",
                "content": [{"type": "tool_result", "tool_use_id": "1", "content": "x", **marks}],
            }
        )
        run.ends()
        assert [(call.status, call.output) for call in run.calls()] == [(status, "x")]


def test_items_of_responses_answer_too() -> None:
    run = Run()
    run.asks(asked("refund", {"id": 7}, "1"))
    items = [{"type": "function_call_output", "call_id": "1", "output": "x"}]
    run.span("chat", "llm", input={"input": items}, output={"text": "done", "finish_reason": "completed"})
    assert [(call.status, call.output) for call in run.calls()] == [("answered", "x")]


def test_the_older_function_call_is_answered_by_its_name() -> None:
    run = Run()
    run.asks(asked("find", {"name": "ann"}))
    run.messages.append({"role": "function", "name": "find", "content": "7"})
    run.ends()
    assert [(call.status, call.output) for call in run.calls()] == [("answered", "7")]


def test_an_id_that_another_conversation_uses_too_answers_only_its_own_tool() -> None:
    run = Run()
    run.asks(asked("refund", {"id": 7}, "call_1"))
    other = [
        {"role": "assistant", "tool_calls": [asked("find", {}, "call_1")]},
        {"role": "tool", "tool_call_id": "call_1", "content": "x"},
    ]
    run.span("chat", "llm", input={"messages": other}, output={"text": "", "finish_reason": "stop"})
    assert [call.status for call in run.calls()] == ["requested"]


def test_an_id_that_the_agent_changed_is_found_by_the_call() -> None:
    run = Run()
    run.asks(asked("find", {"n": 1}, "call_1"), asked("find", {"n": 2}, "call_2"))
    run.messages[-1] = {
        "role": "assistant",
        "tool_calls": [asked("find", {"n": n}, f"fc_{n}") for n in (1, 2)],
    }
    run.tells("fc_2", "second")
    run.ends()
    assert [call.output for call in run.calls()] == [None, "second"]


def test_an_id_that_is_used_twice_is_answered_in_order() -> None:
    run = Run()
    for content in ("first", "second"):
        run.asks(asked("find", {}, "same"))
        run.tells("same", content)
    run.ends()
    assert [call.output for call in run.calls()] == ["first", "second"]


def test_where_all_tools_that_ran_are_decorated_these_are_the_ones_that_were_offered() -> None:
    run = Run()
    run.asks(asked("find", {}, "1"), asked("fnd", {}, "2"), tools=None)
    run.runs("find", {}, tool=ToolDefinition("find"))
    assert facts(run.calls()) == [("find", "ok", False), ("fnd", "attempted", True)]


def test_where_nothing_tells_which_tools_were_offered_the_call_is_requested() -> None:
    run = Run()
    run.asks(asked("fnd", {}, "1"), tools=None)
    assert facts(run.calls(tools={"other": ToolDefinition("other")})) == [("fnd", "requested", None)]


def test_where_a_tool_without_a_definition_ran_not_all_tools_are_known() -> None:
    run = Run()
    run.asks(asked("find", {}, "1"), asked("fnd", {}, "2"), tools=None)
    run.runs("find", {})
    assert facts(run.calls()) == [("find", "ok", False), ("fnd", "requested", None)]


def test_where_the_list_of_offered_tools_was_cut_the_call_is_requested() -> None:
    run = Run()
    run.asks(asked("fnd", {}, "1"), tools=[*OFFERED, {"$truncated": 3}])
    assert facts(run.calls()) == [("fnd", "requested", None)]


@pytest.mark.parametrize(
    ("tools", "names", "complete"),
    [
        (OFFERED, {"find", "refund"}, True),
        ([{"name": "find", "input_schema": {}}], {"find"}, True),
        ([{"type": "function", "name": "find"}], {"find"}, True),
        ([{"type": "function", "name": "find"}, {"type": "mcp", "server_label": "x"}], {"find"}, False),
        ({"$truncated": "memory"}, set(), False),
        ([], set(), False),
        (None, set(), False),
    ],
)
def test_offered_tools_are_read_in_every_form(tools: Any, names: set[str], complete: bool) -> None:
    span = Span(trace_key=1, span_key=1, name="chat", span_type="llm", input={"tools": tools})
    assert offered_tools(span) == (frozenset(names), complete)
    legacy = Span(trace_key=1, span_key=1, name="chat", span_type="llm", input={"functions": [{"name": "f"}]})
    assert offered_tools(legacy) == (frozenset({"f"}), True)


class TestJoining:
    def test_by_the_id_of_the_call_whatever_the_arguments_became(self) -> None:
        run = Run()
        run.asks(asked("find", {"n": 1}, "a"), asked("find", {"n": 2}, "b"))
        run.runs("find", {"n": 0}, attributes={"gen_ai.tool.call.id": "b"})
        assert [(call.arguments, call.status) for call in run.calls()] == [
            ({"n": 1}, "requested"),
            ({"n": 0}, "ok"),
        ]

    def test_by_name_and_arguments_with_the_defaults_that_were_filled_in(self) -> None:
        run = Run()
        tool = ToolDefinition("find", (Parameter("name"), Parameter("limit", default=3)))
        run.asks(asked("find", {"name": "bob"}, "1"), asked("find", {"name": "ann"}, "2"))
        run.runs("find", {"limit": 3, "name": "ann"}, tool=tool)
        assert [(call.arguments, call.status) for call in run.calls()] == [
            ({"name": "bob", "limit": 3}, "requested"),
            ({"limit": 3, "name": "ann"}, "ok"),
        ]

    def test_by_name_where_the_agent_changed_the_arguments_before_it_asked_again(self) -> None:
        run = Run()
        run.asks(asked("refund", {"id": "7"}, "1"))
        run.runs("refund", {"id": 7, "user": "ann"})
        assert facts(run.calls()) == [("refund", "ok", False)]

    def test_not_by_name_alone_after_the_agent_asked_again(self) -> None:
        run = Run()
        run.asks(asked("refund", {"id": 7}, "1"))
        run.tells("1", "denied")
        run.ends()
        run.runs("refund", {"id": 8})
        assert facts(run.calls()) == [("refund", "answered", None), ("refund", "ok", False)]

    def test_broken_arguments_that_the_agent_repaired_were_executed(self) -> None:
        run = Run()
        run.asks(asked("refund", '{"id": 7', "1"))
        run.runs("refund", {"id": 7})
        assert facts(run.calls()) == [("refund", "ok", False)]

    def test_the_latest_answer_that_asked_for_it_was_executed(self) -> None:
        run = Run()
        run.asks(asked("refund", {"id": 7}, "1"))
        run.tells("1", "are you sure?")
        run.asks(asked("refund", {"id": 7}, "2"))
        run.runs("refund", {"id": 7})
        assert [(call.status, call.output) for call in run.calls()] == [
            ("answered", "are you sure?"),
            ("ok", "ok"),
        ]

    def test_a_tool_that_was_called_before_the_model_asked_is_not_the_one(self) -> None:
        run = Run()
        run.runs("find", {"name": "ann"})
        run.asks(asked("find", {"name": "ann"}, "1"))
        assert facts(run.calls()) == [("find", "ok", False), ("find", "requested", None)]

    def test_an_attempt_that_was_repeated_stays_two_calls(self) -> None:
        run = Run()
        run.asks(asked("find", {"name": "ann"}, "1"))
        run.runs("find", {"name": "ann"}, status="error")
        run.runs("find", {"name": "ann"})
        assert facts(run.calls()) == [("find", "error", True), ("find", "ok", False)]


class TestOrder:
    def test_a_call_stands_where_the_model_asked_for_it(self) -> None:
        run = Run()
        run.asks(asked("find", {"n": 1}, "1"), asked("fnd", {}, "2"), asked("find", {"n": 3}, "3"))
        run.runs("find", {"n": 1})
        run.runs("find", {"n": 3})
        calls = run.calls()
        assert [(call.name, call.index) for call in calls] == [("find", 0), ("fnd", 1), ("find", 2)]

    def test_the_first_one_of_an_answer_comes_before_what_was_executed(self) -> None:
        run = Run()
        run.asks(asked("fnd", {}, "1"), asked("find", {}, "2"))
        run.runs("find", {})
        assert [call.name for call in run.calls()] == ["fnd", "find"]


class TestPlace:
    def test_agent_path_and_turn_are_those_of_the_model(self) -> None:
        run = Run()
        turn = run.span("turn 2", "turn", attributes={"agenttrace.turn": 2}, end_ns=900)
        desk = run.span("desk", "agent", parent_key=turn.span_key, end_ns=900)
        run.asks(asked("refund", {}, "1"), parent_key=desk.span_key)
        (call,) = run.calls()
        assert (call.agent, call.path, call.turn, call.parent_id) == (
            "desk",
            ("turn 2", "desk"),
            2,
            desk.span_id,
        )

    def test_another_agent_that_asks_its_model_meanwhile_does_not_end_the_wait(self) -> None:
        run = Run()
        one = run.span("one", "agent", end_ns=900)
        two = run.span("two", "agent", end_ns=900)
        run.asks(asked("refund", {"id": "7"}, "1"), parent_key=one.span_key)
        run.asks(asked("find", {}, "1"), parent_key=two.span_key)
        run.runs("refund", {"id": 7}, parent_key=one.span_key)
        assert facts(run.calls()) == [("find", "requested", None), ("refund", "ok", False)]


class TestAnswersThatDoNotCount:
    def test_two_spans_of_one_answer_ask_once(self) -> None:
        run = Run()
        outer = run.asks(asked("refund", {"id": 7}, "1"), end_ns=500)
        run.asks(asked("refund", {"id": 7}, "1"), parent_key=outer.span_key)
        assert facts(run.calls()) == [("refund", "requested", None)]

    def test_two_answers_one_after_the_other_ask_twice_also_with_one_id(self) -> None:
        run = Run()
        run.asks(asked("refund", {"id": 7}, "1"))
        run.asks(asked("refund", {"id": 7}, "1"))
        assert len(run.calls()) == 2

    def test_of_several_answers_only_what_was_taken_up_was_asked_for(self) -> None:
        run = Run()
        answers = [
            {"text": "", "tool_calls": [asked(name, {}, name)], "finish_reason": "tool_calls"}
            for name in ("find", "refund")
        ]
        run.span("chat", "llm", input={"messages": [], "tools": OFFERED}, output=answers)
        assert run.calls() == ()
        run.messages = [{"role": "tool", "tool_call_id": "refund", "content": "x"}]
        run.ends()
        assert facts(run.calls()) == [("refund", "answered", None)]

    @pytest.mark.parametrize("status", ["error", "abandoned", "cancelled"])
    def test_an_answer_that_did_not_arrive_whole_asks_only_for_what_was_taken_up(self, status: Any) -> None:
        run = Run()
        run.asks(asked("refund", '{"id": ', "1"), status=status)
        assert run.calls() == ()
        run.runs("refund", {"id": 7})
        assert facts(run.calls()) == [("refund", "ok", False)]

    def test_a_text_that_looks_like_a_call_is_none(self) -> None:
        run = Run()
        run.span("ask", "llm", input={"question": "x"}, output='{"tool_calls": [{"name": "refund"}]}')
        assert run.calls() == ()


class TestForms:
    """What a function gives that is observed with span_type="llm"."""

    MESSAGE: Mapping[str, Any] = {
        "role": "assistant",
        "tool_calls": [
            {"id": "1", "type": "function", "function": {"name": "find", "arguments": '{"n": 1}'}}
        ],
    }

    @pytest.mark.parametrize(
        "output",
        [
            MESSAGE,
            {"message": MESSAGE},
            {"choices": [{"message": MESSAGE, "finish_reason": "tool_calls"}]},
            {"output": [{"type": "function_call", "call_id": "1", "name": "find", "arguments": '{"n": 1}'}]},
            {"content": [{"type": "tool_use", "id": "1", "name": "find", "input": {"n": 1}}]},
            [
                {"type": "text", "text": "x"},
                {"type": "tool_use", "id": "1", "name": "find", "input": {"n": 1}},
            ],
            {"type": "ai", "content": "", "tool_calls": [{"name": "find", "args": {"n": 1}, "id": "1"}]},
            {"role": "assistant", "function_call": {"name": "find", "arguments": '{"n": 1}'}},
        ],
    )
    def test_of_every_provider_are_read(self, output: Any) -> None:
        run = Run()
        run.span("ask", "llm", output=output)
        assert [(call.name, call.arguments, call.status) for call in run.calls()] == [
            ("find", {"n": 1}, "requested")
        ]

    @pytest.mark.parametrize(
        "output",
        [
            {"tool_calls": "x"},
            {"tool_calls": [3, None]},
            {"tool_calls": [{"id": "1"}]},
            {"choices": [None, {"message": 3}]},
            {"output": [None]},
            [None],
            3,
        ],
    )
    def test_of_something_else_are_passed_over(self, output: Any) -> None:
        run = Run()
        run.span("ask", "llm", output=output, input={"messages": [None, {"tool_calls": 3}]})
        run.ends()
        assert run.calls() == ()


class TestWhatWasCut:
    def test_arguments_whose_text_was_cut_are_unknown_and_not_unreadable(self) -> None:
        run = Run()
        run.asks(asked("refund", '{"id": 7, "note": "…[+9000 chars]', "1"))
        (call,) = run.calls()
        assert (call.status, call.arguments_error) == ("requested", None)

    def test_redacted_arguments_that_are_still_json_are_read(self) -> None:
        run = Run()
        run.asks(asked("refund", '{"token": "[redacted]"}', "1"))
        assert [call.arguments for call in run.calls()] == [{"token": "[redacted]"}]

    @pytest.mark.parametrize(
        "output",
        [
            {"$truncated": "memory"},
            {"text": "long", "$truncated": 2},
            {"text": "", "tool_calls": [asked("find", {}), {"$truncated": 4}]},
            {"text": "", "tool_calls": {"$truncated": "span"}},
        ],
    )
    def test_an_answer_that_may_have_asked_for_more_is_told(self, output: Any) -> None:
        def recorded(**attributes: Any) -> Span | None:
            about = {"gen_ai.operation.name": "chat", **attributes}
            span = Span(
                trace_key=1, span_key=1, name="chat", span_type="llm", output=output, attributes=about
            )
            return cut_answer([span])

        assert recorded() is not None
        assert recorded(**{"gen_ai.response.finish_reasons": ["tool_calls"]}) is not None
        assert recorded(**{"gen_ai.response.finish_reasons": ["stop"]}) is None

    def test_a_long_text_alone_asked_for_nothing(self) -> None:
        output = {"text": "abc…[+7 chars]", "finish_reason": "stop"}
        about = {"gen_ai.operation.name": "chat"}
        span = Span(trace_key=1, span_key=1, name="chat", span_type="llm", output=output, attributes=about)
        assert cut_answer([span]) is None


def test_a_run_of_plain_messages_asks_for_nothing_beside_its_calls() -> None:
    messages: list[Any] = [
        {"role": "assistant", "tool_calls": [{"id": "1", "function": {"name": "a", "arguments": "{}"}}]},
        {"role": "tool", "tool_call_id": "1", "content": json.dumps({"x": 1})},
    ]
    assert len(Trace.from_messages(messages).tool_calls) == 1


def test_many_calls_are_joined_and_answered_each_with_its_own() -> None:
    run = Run()
    for number in range(2_000):
        run.asks(asked("find", {"n": number}, f"a{number}"), asked("refund", {"n": number}, f"b{number}"))
        run.runs("find", {"n": -number})
        run.messages = [{"role": "tool", "tool_call_id": f"b{number}", "content": str(number)}] * (number % 2)
    run.ends()
    calls = run.calls()
    assert [call.arguments["n"] for call in calls if call.name == "find"] == [-n for n in range(2_000)]
    outputs = [call.output for call in calls if call.name == "refund"]
    assert outputs == [str(n) if n % 2 else None for n in range(2_000)]


def test_messages_in_parts_ask_and_answer_too() -> None:
    run = Run()
    part = {"type": "tool_call", "id": "1", "name": "find", "arguments": {"name": "ann"}}
    answer = {"type": "tool_call_response", "id": "1", "response": "none"}
    run.span("chat", "llm", input={"tools": OFFERED}, output=[{"role": "assistant", "parts": [part]}])
    run.messages.append({"role": "tool", "parts": [answer]})
    run.ends()
    (call,) = run.calls()
    assert (call.name, call.arguments, call.output) == ("find", {"name": "ann"}, "none")
