from __future__ import annotations

import pytest

from agenttrace.core.errors import DatasetError
from agenttrace.core.trace import Trace


def test_names_and_mappings_become_calls_in_the_order_given() -> None:
    trace = Trace.from_calls(
        [
            "login",
            {"tool_name": "find", "parameters": {"q": "x"}, "output": [1]},
            {"name": "pay", "args": {"n": 2}},
        ]
    )
    assert [(call.name, dict(call.arguments), call.output) for call in trace.tool_calls] == [
        ("login", {}, None),
        ("find", {"q": "x"}, [1]),
        ("pay", {"n": 2}, None),
    ]
    assert [call.index for call in trace.tool_calls] == [0, 1, 2]


def test_calls_follow_each_other_and_do_not_overlap() -> None:
    first, second = Trace.from_calls(["a", "b"]).tool_calls
    assert first.start_ns < first.end_ns < second.start_ns


def test_the_output_is_the_one_given_and_not_a_tools() -> None:
    assert Trace.from_calls([{"name": "a", "output": 1}]).output is None
    assert Trace.from_calls([{"name": "a", "output": 1}], output={"done": True}).output == {"done": True}


def test_a_run_without_calls_is_a_root_alone() -> None:
    trace = Trace.from_calls([], output="nothing to do")
    assert trace.tool_calls == ()
    assert trace.root is not None
    assert trace.output == "nothing to do"


def test_arguments_may_be_json_text() -> None:
    (call,) = Trace.from_calls([{"name": "a", "arguments": '{"x": 1}'}]).tool_calls
    assert call.arguments == {"x": 1}
    assert call.arguments_error is None


@pytest.mark.parametrize("text", ['{"x": 1', "[1]", "nope", "[" * 100_000])
def test_arguments_that_cannot_be_read_are_a_recorded_fact(text: str) -> None:
    (call,) = Trace.from_calls([{"name": "a", "arguments": text}]).tool_calls
    assert call.arguments == {}
    assert call.arguments_error is not None
    assert text[:20] in call.arguments_error


@pytest.mark.parametrize(
    ("given", "shown"),
    [
        ("boom", "ToolError: boom"),
        ({"type": "ValueError", "message": "bad id"}, "ValueError: bad id"),
        (ValueError("bad id"), "ValueError: bad id"),
        (True, "ToolError"),
    ],
)
def test_an_error_marks_the_call_as_failed(given: object, shown: str) -> None:
    (call,) = Trace.from_calls([{"name": "a", "error": given}]).tool_calls
    assert call.failed
    assert str(call.error) == shown


@pytest.mark.parametrize("given", [None, False, ""])
def test_no_error_is_no_failure(given: object) -> None:
    (call,) = Trace.from_calls([{"name": "a", "error": given}]).tool_calls
    assert not call.failed


def test_agent_and_turn_are_told_and_other_keys_kept() -> None:
    (call,) = Trace.from_calls(
        [{"name": "a", "agent": "booking", "turn": 2, "kind": "write", "id": "c1"}]
    ).tool_calls
    assert (call.agent, call.turn) == ("booking", 2)
    assert call.metadata == {"kind": "write", "id": "c1"}


def test_later_changes_to_the_data_do_not_reach_the_trace() -> None:
    arguments = {"x": [1]}
    trace = Trace.from_calls([{"name": "a", "arguments": arguments}])
    arguments["x"].append(2)
    assert trace.tool_calls[0].arguments == {"x": [1]}


@pytest.mark.parametrize(
    ("calls", "text"),
    [
        ("abc", "calls: got str 'abc', wanted a list of tool calls"),
        ({"name": "a"}, "calls: got dict {'name': 'a'}, wanted a list"),
        (["a", 3], "calls[1]: got int 3, wanted a tool's name or a mapping with 'name'"),
        ([{}], "calls[0]: got dict {}, wanted a 'name' that is text"),
        ([""], "calls[0]: got dict {'name': ''}, wanted a 'name' that is text"),
        ([{"nam": "a"}], "did you mean 'name'?"),
        ([{"name": "a", "arguments": [1]}], "calls[0]: got list [1], wanted arguments by name"),
        ([{"name": "a", "args": {}, "parameters": {}}], "got both 'args' and 'parameters'"),
        ([{"name": "a", "turn": "2"}], "calls[0].turn: got str '2', wanted the turn's number"),
        ([{"name": "a", "agent": 2}], "calls[0].agent: got int 2, wanted the agent's name"),
    ],
)
def test_a_wrong_entry_names_position_got_and_wanted(calls: object, text: str) -> None:
    with pytest.raises(DatasetError) as caught:
        Trace.from_calls(calls)  # type: ignore[arg-type]
    assert text in str(caught.value)


@pytest.mark.parametrize(
    ("key", "meant"),
    [
        ("argumnts", "arguments"),
        ("argument", "arguments"),
        ("Arguments", "arguments"),
        ("paramters", "parameters"),
        ("arg", "args"),
        ("outputs", "output"),
        ("errors", "error"),
    ],
)
def test_a_misspelt_key_is_an_error_with_a_suggestion(key, meant):
    with pytest.raises(DatasetError, match=rf"calls\[1\]: unknown key '{key}'; did you mean '{meant}'"):
        Trace.from_calls(["a", {"name": "refund", key: {"x": 1}}])


def test_other_keys_are_metadata_also_beside_the_known_key_that_they_resemble():
    others = dict.fromkeys(["id", "kind", "type", "kwargs", "agent_id", "error_type", "return", "input"], 1)
    entry = {"name": "a", "arguments": {"x": 1}, "output": 2, "outputs": [2], "argument": 3, **others}
    (call,) = Trace.from_calls([entry]).tool_calls
    assert dict(call.metadata) == {"outputs": [2], "argument": 3, **others}
    assert dict(call.arguments) == {"x": 1}


def test_the_run_as_a_whole_has_a_name_an_input_tags_and_metadata() -> None:
    trace = Trace.from_calls(
        ["a"], name="task 1", input="Refund 7", output="Done.", tags=["x"], metadata={"reward": 1}
    )
    assert (trace.name, trace.input, trace.output) == ("task 1", {"input": "Refund 7"}, "Done.")
    assert (trace.tags, trace.metadata, trace.is_recorded_run) == (("x",), {"reward": 1}, True)
    assert Trace.from_calls([], input={"order": 7}).input == {"order": 7}


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"name": 7}, "name: got int 7, wanted a string"),
        ({"input": [7]}, r"input: got list \[7\], wanted a string, or a mapping"),
        ({"tags": "x"}, "tags: got str 'x', wanted a list of strings"),
        ({"metadata": "x"}, "metadata: got str 'x', wanted a mapping"),
    ],
)
def test_what_is_said_of_the_whole_run_has_a_type(options, message) -> None:
    with pytest.raises(DatasetError, match=message):
        Trace.from_calls([], **options)


def test_a_status_says_that_a_call_failed_where_nothing_else_does():
    from agenttrace import Trace

    calls = Trace.from_calls(
        [
            {"name": "pay", "status": "error"},
            {"name": "pay", "status": "ok"},
            {"name": "pay", "status": "shipped"},
            {"name": "pay", "status": "error", "error": "timeout"},
        ]
    ).tool_calls
    assert [call.failed for call in calls] == [True, False, False, True]
    assert [call.metadata for call in calls] == [{}, {}, {"status": "shipped"}, {}]
