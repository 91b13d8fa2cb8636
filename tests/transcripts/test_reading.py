"""Transcripts of agents become traces, whole, cut, or with anything in them."""

import copy
import json

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from agenttrace import Example, call, traces_from_transcript
from agenttrace.core.errors import ConfigError, DatasetError
from agenttrace.scorers import ToolOrderScorer, ToolPermissionScorer
from agenttrace.transcripts import format_of
from tests.transcripts.conftest import ATIF, CLAUDE, CODEX, CODEX_ID, claude, codex, result, said, use, write


def only(source, **options):
    (trace,) = traces_from_transcript(source, **options)
    return trace


def rows(trace):
    return [(one.name, one.status, one.agent) for one in trace.tool_calls]


CLAUDE_ROWS = [
    ("skill:refunds", "ok", "claude-code"),
    ("Bash", "error", "claude-code"),
    ("Task", "ok", "claude-code"),
    ("Grep", "ok", "claude-code/Explore"),
]


def test_a_session_of_claude_code_is_one_trace(claude_file):
    trace = only(claude_file)
    assert rows(trace) == CLAUDE_ROWS
    assert (trace.name, trace.session_id, trace.input, trace.output) == (
        "claude-code",
        "session-1",
        {"input": "Refund order 7"},
        "Refunded.",
    )
    assert trace.metadata["version"] == "2.1.0"
    assert trace.turns == {1}


def test_a_message_on_several_lines_is_one_answer_whose_tokens_count_once(claude_file):
    models = [span for span in only(claude_file).spans if span.span_type == "llm"]
    first = models[0]
    assert len(models) == 5
    assert (first.output["text"], first.output["reasoning"], first.output["finish_reason"]) == (
        "I look it up.",
        "hm",
        "tool_use",
    )
    assert first.usage == {
        "input_tokens": 15,
        "output_tokens": 3,
        "cache_read_tokens": 5,
        "total_tokens": 18,
    }
    assert first.name == "chat claude-of-tomorrow"
    assert first.input["messages"] == [{"role": "user", "content": "Refund order 7"}]


def test_what_a_tool_gave_and_how_it_failed_is_kept(claude_file):
    bash = only(claude_file).tool_calls[1]
    assert bash.arguments == {"command": "cat order-7"}
    assert bash.error.message == "Exit code 1\nno such file"
    assert bash.end_ns - bash.start_ns == 2_000_000_000


def test_a_session_is_scored_like_a_recorded_run(claude_file):
    expected = [call("skill:refunds", skill="refunds"), call("Bash", command="cat order-7")]
    example = Example(expected_tools=expected)
    assert ToolOrderScorer().score(example, only(claude_file)).outcome == "passed"
    assert ToolPermissionScorer(deny=["Grep"]).score(Example(), only(claude_file)).outcome == "failed"


def test_a_sub_agent_in_a_file_of_its_own_is_found_beside_the_session(tmp_path):
    main = [line for line in CLAUDE if not line.get("isSidechain")]
    agent = [{**line, "agentId": "a1"} for line in CLAUDE if line.get("isSidechain")]
    path = write(tmp_path / "session-1.jsonl", main)
    (tmp_path / "session-1" / "subagents").mkdir(parents=True)
    write(tmp_path / "session-1" / "subagents" / "agent-a1.jsonl", agent)
    assert rows(only(path)) == CLAUDE_ROWS
    assert rows(only(main)) == CLAUDE_ROWS[:3]


def test_agents_inside_agents_are_found_and_one_that_names_itself_ends(tmp_path):
    def started(key, agent_id, second, **more):
        return [
            claude("assistant", [use(key, "Task", prompt=key, subagent_type=agent_id)], second, **more),
            claude("user", [result(key, "done")], second + 1, toolUseResult={"agentId": agent_id}, **more),
        ]

    path = write(tmp_path / "s.jsonl", [claude("user", "go", 1), *started("t1", "a1", 2)])
    write(tmp_path / "agent-a1.jsonl", [claude("user", "in", 3, sidechain=True), *started("t2", "a2", 4)])
    write(tmp_path / "agent-a2.jsonl", [claude("user", "in", 5, sidechain=True), *started("t3", "a2", 6)])
    assert [one.agent for one in only(path).tool_calls] == [
        "claude-code",
        "claude-code/a1",
        "claude-code/a1/a2",
    ]


def test_the_output_of_stream_json_reads_too_with_the_tools_that_were_offered():
    lines = [
        {"type": "system", "subtype": "init", "session_id": "s", "tools": ["Bash", "Read"], "model": "m"},
        {
            "type": "assistant",
            "session_id": "s",
            "parent_tool_use_id": None,
            "message": {"id": "m1", "model": "m", "content": [use("t1", "Task", prompt="look")]},
        },
        {
            "type": "assistant",
            "session_id": "s",
            "parent_tool_use_id": "t1",
            "message": {"id": "m2", "model": "m", "content": [use("t2", "Bash", command="ls")]},
        },
        {
            "type": "user",
            "session_id": "s",
            "parent_tool_use_id": "t1",
            "message": {"content": [result("t2", "a")]},
        },
        {
            "type": "user",
            "session_id": "s",
            "parent_tool_use_id": None,
            "message": {"content": [result("t1", "ok")]},
        },
        {"type": "result", "session_id": "s", "subtype": "success", "total_cost_usd": 0.5},
    ]
    trace = only(lines)
    assert rows(trace) == [("Task", "ok", "claude-code"), ("Bash", "ok", "claude-code/sub-agent")]
    assert trace.offered_tools == {"Bash", "Read"}
    assert trace.metadata["result"] == {"subtype": "success", "total_cost_usd": 0.5}


@pytest.mark.parametrize(
    ("answer", "status", "failed"),
    [
        (result("t", "Launching skill: refunds"), "ok", False),
        (
            result("t", "<tool_use_error>Unknown skill: refunds</tool_use_error>", is_error=True),
            "attempted",
            True,
        ),
        (None, "requested", None),
    ],
    ids=["loaded", "refused", "nothing is known"],
)
def test_a_skill_that_was_loaded_is_told_from_one_that_was_asked_for(answer, status, failed):
    lines = [claude("user", "go", 1), claude("assistant", [use("t", "Skill", skill="refunds")], 2)]
    (one,) = only([*lines, *([] if answer is None else [claude("user", [answer], 3)])]).tool_calls
    assert (one.name, one.status, one.failed) == ("skill:refunds", status, failed)


def test_a_call_that_the_user_rejected_was_not_executed():
    refused = "The user doesn't want to proceed with this tool use. The tool use was rejected."
    lines = [
        claude("user", "go", 1),
        claude("assistant", [use("t", "Bash", command="rm -r x")], 2),
        claude("user", [result("t", refused, is_error=True)], 3, toolUseResult="User rejected tool use"),
        claude("user", [{"type": "text", "text": "[Request interrupted by user for tool use]"}], 4),
    ]
    trace = only(lines)
    (one,) = trace.tool_calls
    assert (one.status, one.failed) == ("attempted", True)
    assert one.remark == f"attempted, not executed ({refused})"
    assert trace.root.status == "cancelled"


def test_lines_that_stand_twice_count_once_and_an_error_of_the_api_is_one():
    failed = claude("assistant", [{"type": "text", "text": "API Error: 529"}], 3, isApiErrorMessage=True)
    trace = only(
        [claude("user", "go", 1), *[claude("assistant", [use("t", "Read", path="a")], 2)] * 2, failed]
    )
    assert [one.name for one in trace.tool_calls] == ["Read"]
    assert [span.error.message for span in trace.spans if span.error] == ["API Error: 529"]


def test_each_user_message_begins_a_turn_and_the_program_s_own_words_begin_none():
    lines = [
        claude("user", "<command-name>/clear</command-name>", 1),
        claude("user", "one", 2),
        claude("assistant", [use("t", "Read", path="a")], 3),
        claude("user", [result("t", "x")], 4),
        claude("user", "two", 5),
        claude("assistant", [use("u", "Read", path="b")], 6),
    ]
    trace = only(lines)
    assert [one.turn for one in trace.tool_calls] == [1, 2]
    assert trace.input == {"input": "one"}


def test_two_sessions_in_one_file_are_two_traces():
    other = [{**line, "sessionId": "session-2"} for line in CLAUDE]
    assert [trace.session_id for trace in traces_from_transcript([*CLAUDE, *other])] == [
        "session-1",
        "session-2",
    ]


# Codex.

CODEX_ROWS = [
    ("skill:refunds", "ok", {}),
    ("shell", "error", {"command": ["cat", "order-7"]}),
    ("lookup", "answered", {"order": 7}),
    ("web_search", "ok", {"query": "q"}),
    ("apply_patch", "ok", {"input": "*** Begin Patch"}),
]


def test_a_session_of_codex_is_one_trace(codex_file):
    trace = only(codex_file)
    assert [(one.name, one.status, one.arguments) for one in trace.tool_calls] == CODEX_ROWS
    assert (trace.name, trace.session_id, trace.input, trace.output) == (
        "codex",
        CODEX_ID,
        {"input": "Refund order 7"},
        "Refunded.",
    )
    models = [span for span in trace.spans if span.span_type == "llm"]
    assert [span.usage["input_tokens"] for span in models] == [10, 20, 30]
    assert models[0].usage["cache_read_tokens"] == 4
    assert {span.attributes["gen_ai.response.model"] for span in models} == {"gpt-5-codex"}
    assert trace.turns == {1}


def test_a_sub_agent_s_thread_stands_inside_the_call_that_started_it(tmp_path):
    inner = "01900000-0000-7000-8000-000000000002"
    spawn = codex(
        "response_item", 3, type="function_call", name="spawn_agent", call_id="s1",
        arguments='{"message": "look", "agent_type": "explorer"}',
    )  # fmt: skip
    answer = codex(
        "response_item", 4, type="function_call_output", call_id="s1", output=json.dumps({"agent_id": inner})
    )
    path = write(tmp_path / f"rollout-1-{CODEX_ID}.jsonl", [CODEX[0], said("user", "go", 2), spawn, answer])
    meta = codex("session_meta", 4, id=inner, source={"subagent": "x"})
    write(tmp_path / f"rollout-2-{inner}.jsonl", [meta, *CODEX[1:]])
    trace = only(path)
    assert [(one.name, one.agent) for one in trace.tool_calls][:3] == [
        ("spawn_agent", "codex"),
        ("skill:refunds", "codex/explorer"),
        ("shell", "codex/explorer"),
    ]


def test_a_session_that_was_broken_off_is_cancelled_and_its_open_call_requested():
    lines = [*CODEX[:4], CODEX[7], codex("event_msg", 9, type="turn_aborted", reason="interrupted")]
    trace = only(lines)
    assert trace.root.status == "cancelled"
    assert [(one.name, one.status) for one in trace.tool_calls] == [("shell", "requested")]


@pytest.mark.parametrize(
    ("output", "event", "status"),
    [
        ("Exit code: 0\nOutput:\nok", None, "ok"),
        ("Wall time: 0.1 seconds\nProcess exited with code 2\nOutput:\nno", None, "error"),
        ({"content": "no", "success": False}, None, "error"),
        ({"content": "yes", "success": True}, None, "ok"),
        ("text", None, "answered"),
        ("text", {"type": "exec_command_end", "exit_code": 3}, "error"),
        ("text", {"type": "exec_command_end", "exit_code": 0}, "ok"),
        ("text", {"type": "mcp_tool_call_end", "result": {"Err": "no server"}}, "error"),
        ("text", {"type": "mcp_tool_call_end", "result": {"Ok": {"content": [], "isError": True}}}, "error"),
    ],
)
@pytest.mark.parametrize("event_first", [True, False])
def test_a_call_failed_where_its_exit_code_or_an_event_says_so(output, event, status, event_first):
    begun = codex("response_item", 3, type="function_call", name="exec", call_id="c", arguments="{}")
    ended = codex("response_item", 4, type="function_call_output", call_id="c", output=output)
    events = [] if event is None else [codex("event_msg", 4, call_id="c", **event)]
    ends = [*events, ended] if event_first else [ended, *events]
    (one,) = only([CODEX[0], said("user", "go", 1), begun, *ends]).tool_calls
    assert one.status == status


def test_the_oldest_sessions_of_codex_have_bare_items():
    lines = [
        {"id": "s", "timestamp": "2025-05-01T00:00:00Z", "instructions": None},
        {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "go"}]},
        {"type": "function_call", "name": "shell", "call_id": "c", "arguments": '{"command": ["ls"]}'},
        {"type": "function_call_output", "call_id": "c", "output": "a"},
    ]
    trace = only(lines)
    assert [(one.name, one.output) for one in trace.tool_calls] == [("shell", "a")]
    assert trace.duration_ns < 1_000


def test_arguments_that_are_no_json_are_said_to_be_unreadable():
    begun = codex("response_item", 3, type="function_call", name="exec", call_id="c", arguments='{"a": ')
    ended = codex("response_item", 4, type="function_call_output", call_id="c", output="x")
    (one,) = only([CODEX[0], said("user", "go", 1), begun, ended]).tool_calls
    assert one.arguments_error is not None


# ATIF.


def test_a_trajectory_is_one_trace_with_its_sub_agents_inside_their_calls(atif_file):
    trace = only(atif_file)
    assert rows(trace) == [
        ("search", "answered", "shopper"),
        ("ask_expert", "answered", "shopper"),
        ("read", "answered", "shopper/expert"),
        ("search", "requested", "shopper"),
    ]
    assert trace.tool_calls[1].output == "take a coat"
    assert (trace.session_id, trace.output) == ("run-1", "Take a coat to Oslo.")
    first = next(span for span in trace.spans if span.span_type == "llm")
    assert first.usage == {
        "input_tokens": 100,
        "output_tokens": 10,
        "cache_read_tokens": 50,
        "total_tokens": 110,
        "cost": 0.25,
    }
    assert first.input["messages"][0] == {"role": "system", "content": "Be kind."}
    assert trace.duration_ns < 60_000_000_000


def test_the_tools_of_a_trajectory_are_known(atif_file):
    trace = only(atif_file)
    assert trace.offered_tools == {"search"}
    assert [parameter.name for parameter in trace.tools["search"].parameters] == ["city", "days"]


def test_steps_that_were_copied_are_context_and_count_as_such():
    trajectory = copy.deepcopy(ATIF)
    trajectory["steps"][2]["is_copied_context"] = True
    trace = only(trajectory)
    assert [one.name for one in trace.tool_calls] == []
    assert trace.metadata["copied_steps"] == 1


def test_a_sub_agent_in_another_file_is_read_from_the_same_folder_only(tmp_path):
    trajectory = copy.deepcopy(ATIF)
    (inner,) = trajectory.pop("subagent_trajectories")
    (tmp_path / "run").mkdir()
    for place in (tmp_path / "run" / "sub.json", tmp_path / "sub.json"):
        place.write_text(json.dumps(inner))
    names = {}
    for file in ("sub.json", "../sub.json", "missing.json"):
        ref = trajectory["steps"][2]["observation"]["results"][1]
        ref["subagent_trajectory_ref"] = [{"trajectory_path": file}]
        path = tmp_path / "run" / "t.json"
        path.write_text(json.dumps(trajectory))
        names[file] = [one.name for one in only(path).tool_calls]
    assert "read" in names["sub.json"]
    assert "read" not in names["../sub.json"] + names["missing.json"]


def test_trajectories_that_refer_to_each_other_end():
    trajectory = copy.deepcopy(ATIF)
    inner = trajectory["subagent_trajectories"][0]
    inner["steps"][1]["observation"]["results"][0]["subagent_trajectory_ref"] = [{"trajectory_id": "sub-1"}]
    assert len(only(trajectory).tool_calls) == 4


@pytest.mark.parametrize("steps", [None, "x", [1], [{"step_id": 1}, None]], ids=repr)
def test_steps_that_are_none_are_an_error_that_names_the_field(steps):
    with pytest.raises(DatasetError, match="steps"):
        traces_from_transcript({**ATIF, "steps": steps}, format="atif")


# Bad input.


def test_the_format_is_told_by_the_content(claude_file, codex_file, atif_file):
    assert [format_of(path) for path in (claude_file, codex_file, atif_file)] == [
        "claude_code",
        "codex",
        "atif",
    ]
    assert format_of([{"resourceSpans": []}]) is None
    assert format_of(claude_file.parent / "none.jsonl") is None


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", "empty"),
        ("\n\n", "empty"),
        ("hello\nworld", "no transcript"),
        ('{"a": 1}\n', "no transcript of ATIF, of Claude Code or of Codex"),
        ("[1, 2]", "empty"),
        (json.dumps(ATIF, indent=2)[:900], "cut"),
    ],
)
def test_what_is_no_transcript_is_an_error_that_names_the_file(tmp_path, content, message):
    path = tmp_path / "file.jsonl"
    path.write_text(content)
    with pytest.raises(DatasetError, match=message) as raised:
        traces_from_transcript(path)
    assert raised.value.path == str(path)


def test_a_file_that_is_none_a_format_that_is_none_and_the_wrong_one_are_errors(tmp_path, claude_file):
    with pytest.raises(DatasetError, match=r"none\.jsonl"):
        traces_from_transcript(tmp_path / "none.jsonl")
    with pytest.raises(DatasetError):
        traces_from_transcript(tmp_path)
    with pytest.raises(ConfigError, match="codex"):
        traces_from_transcript(claude_file, format="codx")
    with pytest.raises(DatasetError, match="codex"):
        traces_from_transcript(claude_file, format="codex")
    with pytest.raises(DatasetError, match="wanted a line"):
        traces_from_transcript([1])
    with pytest.raises(DatasetError, match="settings"):
        traces_from_transcript([CODEX[0]])


@pytest.mark.parametrize("lines", [CLAUDE, CODEX], ids=["claude_code", "codex"])
def test_a_session_that_was_cut_anywhere_loses_its_last_line_alone(lines, tmp_path):
    text = "".join(f"{json.dumps(line)}\n" for line in lines).encode()
    begins = sum(len(json.dumps(line)) + 1 for line in lines[:4])
    for size in range(begins, len(text), 37):
        part = text[:size]
        whole = part.count(b"\n")
        path = tmp_path / f"{size}.jsonl"
        path.write_bytes(part)
        trace = only(path)
        is_cut = bool(part.rpartition(b"\n")[2])
        expected = only(lines[: whole + (is_cut and json_is_whole(part))])
        assert [one.name for one in trace.tool_calls] == [one.name for one in expected.tool_calls]
        assert trace.metadata.get("unreadable_lines", 0) == int(is_cut and not json_is_whole(part))


def json_is_whole(text):
    try:
        json.loads(text.rpartition(b"\n")[2])
    except ValueError:
        return False
    return True


anything = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=6,
)


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(data=st.data(), which=st.sampled_from([CLAUDE, CODEX, [ATIF]]))
def test_wrong_values_anywhere_are_an_error_of_ours_or_a_trace(data, which):
    lines = copy.deepcopy(which)
    for _ in range(data.draw(st.integers(1, 3))):
        place = data.draw(st.sampled_from(lines))
        while True:
            key = data.draw(st.sampled_from(sorted(place) if isinstance(place, dict) else range(len(place))))
            inner = place[key]
            if isinstance(inner, dict | list) and inner and data.draw(st.booleans()):
                place = inner
            else:
                place[key] = data.draw(anything)
                break
    try:
        traces = traces_from_transcript(lines)
    except DatasetError:
        return
    for trace in traces:
        assert all(one.start_ns <= one.end_ns for one in trace.tool_calls)
        json.dumps(trace.to_dict())


@pytest.mark.parametrize("wrong", [[None], {"a": [1]}])
def test_a_block_whose_type_is_no_text_is_read_as_one_of_no_known_type(tmp_path, wrong):
    session = [
        claude("user", "go", 1),
        claude("assistant", [{"type": wrong}, {"type": "text", "text": "ok"}], 2),
    ]
    assert only(write(tmp_path / "session.jsonl", session)).output == "ok"
