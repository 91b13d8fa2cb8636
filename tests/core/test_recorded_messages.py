from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest

from agenttrace.core.errors import DatasetError
from agenttrace.core.marks import not_read
from agenttrace.core.trace import Trace

SHARED = Path(__file__).resolve().parents[2].parent / "shared" / "data"


def _openai_call(name: str, arguments: str, key: str) -> dict[str, Any]:
    return {"id": key, "type": "function", "function": {"name": name, "arguments": arguments}}


OPENAI = [
    {"role": "system", "content": "Be brief."},
    {"role": "user", "content": "Weather in Paris and Rome?"},
    {
        "role": "assistant",
        "content": None,
        "tool_calls": [
            _openai_call("weather", '{"city": "Paris"}', "c1"),
            _openai_call("weather", '{"city": "Rome"}', "c2"),
        ],
    },
    {"role": "tool", "tool_call_id": "c2", "content": "sun"},
    {"role": "tool", "tool_call_id": "c1", "content": "rain"},
    {"role": "assistant", "content": "Rain in Paris, sun in Rome."},
]
ANTHROPIC = [
    {"role": "user", "content": "Weather in Paris and Rome?"},
    {
        "role": "assistant",
        "content": [
            {"type": "thinking", "thinking": "two calls"},
            {"type": "text", "text": "Let me look."},
            {"type": "tool_use", "id": "c1", "name": "weather", "input": {"city": "Paris"}},
            {"type": "tool_use", "id": "c2", "name": "weather", "input": {"city": "Rome"}},
        ],
    },
    {
        "role": "user",
        "content": [
            {"type": "tool_result", "tool_use_id": "c2", "content": "sun"},
            {"type": "tool_result", "tool_use_id": "c1", "content": [{"type": "text", "text": "rain"}]},
        ],
    },
    {"role": "assistant", "content": [{"type": "text", "text": "Rain in Paris, sun in Rome."}]},
]
RESPONSES = [
    {"role": "user", "content": [{"type": "input_text", "text": "Weather in Paris and Rome?"}]},
    {"type": "reasoning", "summary": []},
    {"type": "function_call", "call_id": "c1", "name": "weather", "arguments": '{"city": "Paris"}'},
    {"type": "function_call", "call_id": "c2", "name": "weather", "arguments": '{"city": "Rome"}'},
    {"type": "function_call_output", "call_id": "c2", "output": "sun"},
    {"type": "function_call_output", "call_id": "c1", "output": "rain"},
    {
        "type": "message",
        "role": "assistant",
        "content": [{"type": "output_text", "text": "Rain in Paris, sun in Rome."}],
    },
]
LANGCHAIN = [
    {"type": "human", "content": "Weather in Paris and Rome?"},
    {
        "type": "ai",
        "content": "",
        "tool_calls": [
            {"name": "weather", "args": {"city": "Paris"}, "id": "c1", "type": "tool_call"},
            {"name": "weather", "args": {"city": "Rome"}, "id": "c2", "type": "tool_call"},
        ],
    },
    {"type": "tool", "tool_call_id": "c2", "content": "sun", "status": "success"},
    {"type": "tool", "tool_call_id": "c1", "content": "rain", "status": "success"},
    {"type": "ai", "content": "Rain in Paris, sun in Rome."},
]
LANGCHAIN_DUMPED = [{"type": message["type"], "data": dict(message)} for message in LANGCHAIN]


@pytest.mark.parametrize(
    "messages",
    [OPENAI, ANTHROPIC, RESPONSES, LANGCHAIN, LANGCHAIN_DUMPED],
    ids=["openai", "anthropic", "responses", "langchain", "langchain dumped"],
)
def test_the_same_run_reads_the_same_in_every_dialect(messages: list[dict[str, Any]]) -> None:
    trace = Trace.from_messages(messages)
    assert [(call.name, call.arguments, call.output, call.turn) for call in trace.tool_calls] == [
        ("weather", {"city": "Paris"}, "rain", 1),
        ("weather", {"city": "Rome"}, "sun", 1),
    ]
    assert [call.metadata["id"] for call in trace.tool_calls] == ["c1", "c2"]
    assert trace.input == {"input": "Weather in Paris and Rome?"}
    assert trace.output == "Rain in Paris, sun in Rome."


@pytest.mark.parametrize("messages", [OPENAI, ANTHROPIC, RESPONSES, LANGCHAIN])
def test_calls_of_one_message_are_parallel(messages: list[dict[str, Any]]) -> None:
    first, second = Trace.from_messages(messages).tool_calls
    assert first.parent_id == second.parent_id
    assert first.start_ns < second.end_ns
    assert second.start_ns < first.end_ns


def test_calls_of_two_messages_follow_each_other() -> None:
    steps = [
        {"role": "assistant", "tool_calls": [_openai_call("a", "{}", "1")]},
        {"role": "tool", "tool_call_id": "1", "content": "x"},
        {"role": "assistant", "tool_calls": [_openai_call("b", "{}", "2")]},
    ]
    first, second = Trace.from_messages(steps).tool_calls
    assert first.end_ns <= second.start_ns


def test_response_items_apart_follow_each_other() -> None:
    items = [
        {"type": "function_call", "call_id": "1", "name": "a", "arguments": "{}"},
        {"type": "function_call_output", "call_id": "1", "output": "x"},
        {"type": "function_call", "call_id": "2", "name": "b", "arguments": "{}"},
    ]
    first, second = Trace.from_messages(items).tool_calls
    assert first.end_ns <= second.start_ns


def test_the_answers_are_spans_that_tell_what_the_model_heard() -> None:
    answers = [span for span in Trace.from_messages(OPENAI).spans if span.span_type == "llm"]
    assert answers[0].input == {
        "messages": [
            {"role": "system", "content": "Be brief."},
            {"role": "user", "content": "Weather in Paris and Rome?"},
        ]
    }
    assert answers[1].output == "Rain in Paris, sun in Rome."


def test_turns_count_the_users_texts() -> None:
    def asks(text: str, key: str) -> list[dict[str, Any]]:
        return [
            {"role": "user", "content": text},
            {"role": "assistant", "tool_calls": [_openai_call("a", "{}", key)]},
            {"role": "tool", "tool_call_id": key, "content": "x"},
            {"role": "assistant", "content": "done"},
        ]

    trace = Trace.from_messages([*asks("one", "1"), *asks("two", "2")])
    assert [call.turn for call in trace.tool_calls] == [1, 2]


def test_the_older_function_call_is_answered_by_name() -> None:
    trace = Trace.from_messages(
        [
            {"role": "assistant", "content": None, "function_call": {"name": "f", "arguments": '{"x": 1}'}},
            {"role": "function", "name": "f", "content": "2"},
        ]
    )
    assert [(call.name, call.arguments, call.output) for call in trace.tool_calls] == [("f", {"x": 1}, "2")]


def test_an_id_used_twice_is_answered_in_order() -> None:
    trace = Trace.from_messages(
        [
            {"role": "assistant", "tool_calls": [_openai_call("a", "{}", "same")]},
            {"role": "tool", "tool_call_id": "same", "content": "first"},
            {"role": "assistant", "tool_calls": [_openai_call("a", "{}", "same")]},
            {"role": "tool", "tool_call_id": "same", "content": "second"},
        ]
    )
    assert [call.output for call in trace.tool_calls] == ["first", "second"]


def test_arguments_that_are_no_json_are_a_recorded_fact() -> None:
    trace = Trace.from_messages([{"role": "assistant", "tool_calls": [_openai_call("a", '{"x": ', "1")]}])
    (call,) = trace.tool_calls
    assert call.arguments == {}
    assert '{"x": ' in (call.arguments_error or "")


def test_langchains_invalid_calls_are_kept() -> None:
    broken = [{"name": "a", "args": '{"x": ', "id": "1", "error": "bad"}]
    (call,) = Trace.from_messages([{"type": "ai", "content": "", "invalid_tool_calls": broken}]).tool_calls
    assert call.arguments_error is not None


def test_a_result_marked_as_error_fails_its_call() -> None:
    anthropic = Trace.from_messages(
        [
            {"role": "assistant", "content": [{"type": "tool_use", "id": "1", "name": "a", "input": {}}]},
            {
                "role": "user",
                "content": [{"type": "tool_result", "tool_use_id": "1", "content": "no", "is_error": True}],
            },
        ]
    )
    langchain = Trace.from_messages(
        [
            {"type": "ai", "content": "", "tool_calls": [{"name": "a", "args": {}, "id": "1"}]},
            {"type": "tool", "tool_call_id": "1", "content": "no", "status": "error"},
        ]
    )
    for trace in (anthropic, langchain):
        (call,) = trace.tool_calls
        assert (call.failed, str(call.error), call.output) == (True, "ToolError: no", "no")


@pytest.mark.parametrize(
    ("messages", "status", "failed"),
    [
        (OPENAI, "answered", None),
        (RESPONSES, "answered", None),
        (ANTHROPIC, "ok", False),
        (LANGCHAIN, "ok", False),
    ],
    ids=["openai", "responses", "anthropic", "langchain"],
)
def test_whether_a_call_failed_is_known_where_the_messages_can_say_it(
    messages: list[dict[str, Any]], status: str, failed: bool | None
) -> None:
    calls = Trace.from_messages(messages).tool_calls
    assert [(call.status, call.failed, call.from_answer) for call in calls] == [(status, failed, True)] * 2
    assert [call.remark for call in calls] == ["", ""]


def test_a_mark_of_the_programs_own_says_it_too() -> None:
    for mark, status in (({"is_error": False}, "ok"), ({"is_error": True}, "error")):
        marked = [{**message, **mark} if message["role"] == "tool" else message for message in OPENAI]
        assert [call.status for call in Trace.from_messages(marked).tool_calls] == [status] * 2


def test_a_call_that_nothing_answers_was_requested_and_unreadable_arguments_were_attempted() -> None:
    for messages in (OPENAI[:3], ANTHROPIC[:2], RESPONSES[:4], LANGCHAIN[:2]):
        calls = Trace.from_messages(messages).tool_calls
        assert [(call.status, call.failed, call.output) for call in calls] == [("requested", None, None)] * 2
    broken = [
        {"role": "assistant", "tool_calls": [_openai_call("a", '{"x": ', "1")]},
        {"role": "tool", "tool_call_id": "1", "content": "not JSON"},
    ]
    (call,) = Trace.from_messages(broken).tool_calls
    assert (call.status, call.failed, call.output) == ("attempted", True, "not JSON")


def test_calls_read_back_as_the_same_calls() -> None:
    for messages in (OPENAI, OPENAI[:3], ANTHROPIC):
        calls = Trace.from_messages(messages).tool_calls
        again = Trace.from_calls(calls).tool_calls
        for one, other in zip(calls, again, strict=True):
            assert (one.status, one.failed, one.output, one.from_answer, one.metadata) == (
                other.status, other.failed, other.output, other.from_answer, other.metadata,
            )  # fmt: skip


def test_a_status_of_the_callers_own_is_kept_beside_the_call() -> None:
    (call,) = Trace.from_calls([{"name": "a", "status": "completed"}]).tool_calls
    assert (call.status, call.metadata) == ("ok", {"status": "completed"})
    (call,) = Trace.from_calls([{"name": "a", "status": ["x"]}]).tool_calls
    assert call.metadata == {"status": ["x"]}


def test_a_run_that_ends_with_a_call_has_no_output() -> None:
    assert Trace.from_messages(ANTHROPIC[:2]).output is None
    assert Trace.from_messages(RESPONSES[:4]).output is None


def test_a_result_of_several_blocks_keeps_them_as_data() -> None:
    blocks = [{"type": "text", "text": "see"}, {"type": "image", "source": {"data": "aGk="}}]
    trace = Trace.from_messages(
        [
            {"role": "assistant", "content": [{"type": "tool_use", "id": "1", "name": "a", "input": {}}]},
            {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "1", "content": blocks}]},
        ]
    )
    assert trace.tool_calls[0].output == blocks


def test_tools_on_the_providers_side_are_calls_too() -> None:
    responses = Trace.from_messages(
        [
            {"type": "web_search_call", "id": "w", "status": "completed", "action": {"query": "x"}},
            {"type": "mcp_call", "id": "m", "name": "ask", "arguments": '{"q": 1}', "output": "y"},
            {"type": "custom_tool_call", "call_id": "p", "name": "run", "input": "print(1)"},
            {"type": "custom_tool_call_output", "call_id": "p", "output": "1"},
        ]
    )
    assert [(call.name, call.arguments, call.output) for call in responses.tool_calls] == [
        ("web_search", {"query": "x"}, not_read()),
        ("ask", {"q": 1}, "y"),
        ("run", {"input": "print(1)"}, "1"),
    ]
    anthropic = Trace.from_messages(
        [
            {
                "role": "assistant",
                "content": [
                    {"type": "server_tool_use", "id": "s", "name": "web_search", "input": {"query": "x"}},
                    {"type": "web_search_tool_result", "tool_use_id": "s", "content": [{"url": "u"}]},
                    {"type": "text", "text": "found"},
                ],
            }
        ]
    )
    assert anthropic.tool_calls[0].output == [{"url": "u"}]


def test_message_objects_are_read_through_their_dump() -> None:
    class Message:
        def model_dump(self) -> dict[str, Any]:
            return {"role": "assistant", "content": None, "tool_calls": [_openai_call("a", "{}", "1")]}

    trace = Trace.from_messages([Message()])  # type: ignore[list-item]
    assert [call.name for call in trace.tool_calls] == ["a"]


@pytest.mark.parametrize(
    ("messages", "text"),
    [
        ("hello", "messages: got str 'hello', wanted a list of messages"),
        ({"role": "user"}, "messages: got dict"),
        ([{"role": "user", "content": "a"}, 3], "messages[1]: got int 3, wanted a message"),
        ([{"content": "a"}], "messages[0]: got dict {'content': 'a'}, wanted a message: no 'role'"),
        ([{"role": "asistant"}], "unknown role 'asistant'; did you mean 'assistant'?"),
        ([{"type": "function_cal_output"}], "did you mean 'function_call_output'?"),
        ([{"role": "assistant", "tool_calls": [{"id": "1"}]}], "wanted a tool call with a 'name'"),
        ([{"role": "assistant", "tool_calls": "x"}], "messages[0].tool_calls: got str 'x', wanted a list"),
        ([{"role": "tool", "tool_call_id": "c9", "content": "x"}], "waits for one with the id 'c9'"),
    ],
)
def test_a_wrong_entry_names_position_got_and_wanted(messages: object, text: str) -> None:
    with pytest.raises(DatasetError) as caught:
        Trace.from_messages(messages)  # type: ignore[arg-type]
    assert text in str(caught.value)


@pytest.mark.shared
def test_the_messages_of_recorded_requests_read_without_an_error() -> None:
    path = SHARED / "cassettes" / "interactions.jsonl.gz"
    if not path.exists():
        pytest.skip(f"{path} is not here")
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        requests = [json.loads(line)["request"] for line in lines]
    lists = [found for r in requests if isinstance(r, dict) and isinstance(found := _messages(r), list)]
    traces = [Trace.from_messages(messages) for messages in lists]
    asked = sum(_count_calls(messages) for messages in lists)
    assert asked > 30
    assert sum(len(trace.tool_calls) for trace in traces) == asked


def _messages(request: dict[str, Any]) -> Any:
    return request.get("messages") or request.get("input")


def _count_calls(messages: list[dict[str, Any]]) -> int:
    text = json.dumps(messages)
    markers = ('"type": "function"', '"type": "function_call"', '"type": "tool_use"')
    return sum(text.count(marker) for marker in markers)
