"""Small transcripts, written by hand after the formats."""

import json

import pytest


def claude(kind, content, second, **more):
    """One line of a session of Claude Code."""
    message = {"role": kind, "content": content}
    if kind == "assistant":
        message |= {
            "id": more.pop("id", f"msg_{second}"),
            "model": "claude-of-tomorrow",
            "type": "message",
            "stop_reason": more.pop("stop", None),
            "usage": {"input_tokens": 10, "cache_read_input_tokens": 5, "output_tokens": 3},
        }
    return {
        "type": kind,
        "uuid": more.pop("uuid", f"{kind}-{second}-{len(json.dumps(content))}"),
        "parentUuid": more.pop("parent", None),
        "sessionId": "session-1",
        "isSidechain": more.pop("sidechain", False),
        "timestamp": f"2026-01-02T03:04:{second:02d}.000Z",
        "cwd": "/home/me/shop",
        "version": "2.1.0",
        "message": message,
        **more,
    }


def use(key, name, **arguments):
    return {"type": "tool_use", "id": key, "name": name, "input": arguments}


def result(key, content, **more):
    return {"type": "tool_result", "tool_use_id": key, "content": content, **more}


CLAUDE = [
    {"type": "summary", "summary": "Refunds", "leafUuid": "x"},
    claude("user", "Refund order 7", 1),
    claude("assistant", [{"type": "thinking", "thinking": "hm", "signature": ""}], 2, id="m1"),
    claude("assistant", [{"type": "text", "text": "I look it up."}], 3, id="m1"),
    claude("assistant", [use("t1", "Skill", skill="refunds")], 4, id="m1"),
    claude("assistant", [use("t2", "Bash", command="cat order-7")], 5, id="m1", stop="tool_use"),
    claude(
        "user",
        [result("t1", "Launching skill: refunds")],
        6,
        toolUseResult={"success": True, "commandName": "refunds"},
    ),
    claude("user", [{"type": "text", "text": "Base directory for this skill: …"}], 6, isMeta=True),
    claude("user", [result("t2", "Exit code 1\nno such file", is_error=True)], 7),
    claude(
        "assistant",
        [use("t3", "Task", subagent_type="Explore", prompt="Find order 7", description="find")],
        8,
        stop="tool_use",
    ),
    claude("user", "Find order 7", 9, sidechain=True, uuid="s1"),
    claude("assistant", [use("t4", "Grep", pattern="7")], 10, sidechain=True, parent="s1", uuid="s2"),
    claude("user", [result("t4", "orders.csv")], 11, sidechain=True, parent="s2", uuid="s3"),
    claude("assistant", [{"type": "text", "text": "orders.csv"}], 12, sidechain=True, parent="s3", uuid="s4"),
    claude(
        "user", [result("t3", [{"type": "text", "text": "orders.csv"}])], 13, toolUseResult={"agentId": "a1"}
    ),
    claude("assistant", [{"type": "text", "text": "Refunded."}], 14, stop="end_turn"),
]


def codex(kind, second, **payload):
    return {"timestamp": f"2026-01-02T03:04:{second:02d}.000Z", "type": kind, "payload": payload}


def said(role, text, second):
    part = "output_text" if role == "assistant" else "input_text"
    return codex("response_item", second, type="message", role=role, content=[{"type": part, "text": text}])


def tokens(second, n):
    usage = {
        "input_tokens": 10 * n,
        "cached_input_tokens": 4,
        "output_tokens": 2,
        "reasoning_output_tokens": 1,
    }
    info = {"total_token_usage": {**usage, "n": n}, "last_token_usage": {**usage, "total_tokens": 10 * n + 2}}
    return codex("event_msg", second, type="token_count", info=info)


CODEX_ID = "01900000-0000-7000-8000-000000000001"
CODEX = [
    codex("session_meta", 0, id=CODEX_ID, cwd="/home/me/shop", cli_version="0.99.0", originator="codex_cli"),
    said("user", "<environment_context>\n  <cwd>/home/me/shop</cwd>\n</environment_context>", 1),
    codex("turn_context", 1, model="gpt-5-codex", cwd="/home/me/shop"),
    said("user", "Refund order 7", 1),
    codex("event_msg", 1, type="user_message", message="Refund order 7"),
    said("user", "<skill>\n<name>refunds</name>\n<path>/skills/refunds</path>\nHow to refund.</skill>", 1),
    codex("response_item", 2, type="reasoning", summary=[{"type": "summary_text", "text": "hm"}]),
    codex(
        "response_item",
        3,
        type="function_call",
        name="shell",
        call_id="c1",
        arguments='{"command": ["cat", "order-7"]}',
    ),
    codex("response_item", 3, type="function_call", name="lookup", call_id="c2", arguments='{"order": 7}'),
    tokens(3, 1),
    codex(
        "response_item",
        4,
        type="function_call_output",
        call_id="c1",
        output='{"output": "no such file", "metadata": {"exit_code": 1, "duration_seconds": 0.1}}',
    ),
    codex("response_item", 5, type="function_call_output", call_id="c2", output="found"),
    codex(
        "response_item",
        6,
        type="web_search_call",
        status="completed",
        action={"type": "search", "query": "q"},
    ),
    codex(
        "response_item",
        7,
        type="custom_tool_call",
        status="completed",
        name="apply_patch",
        call_id="c3",
        input="*** Begin Patch",
    ),
    tokens(7, 2),
    tokens(7, 2),
    codex("event_msg", 8, type="patch_apply_end", call_id="c3", success=True, stdout="", stderr=""),
    codex("response_item", 8, type="custom_tool_call_output", call_id="c3", output="Success."),
    said("assistant", "Refunded.", 9),
    codex("event_msg", 9, type="agent_message", message="Refunded."),
    tokens(9, 3),
]

ATIF = {
    "schema_version": "ATIF-v1.7",
    "session_id": "run-1",
    "agent": {
        "name": "shopper",
        "version": "1.0",
        "model_name": "gpt-5",
        "tool_definitions": [
            {
                "type": "function",
                "function": {
                    "name": "search",
                    "parameters": {
                        "type": "object",
                        "properties": {"city": {"type": "string"}, "days": {"type": "integer", "default": 3}},
                        "required": ["city"],
                    },
                },
            }
        ],
    },
    "steps": [
        {"step_id": 1, "source": "system", "message": "Be kind."},
        {"step_id": 2, "source": "user", "message": "Plan a trip", "timestamp": "2026-01-02T03:04:01Z"},
        {
            "step_id": 3,
            "timestamp": "2026-01-02T03:04:05Z",
            "source": "agent",
            "message": "I look.",
            "reasoning_content": "hm",
            "tool_calls": [
                {"tool_call_id": "c1", "function_name": "search", "arguments": {"city": "Oslo"}},
                {"tool_call_id": "c2", "function_name": "ask_expert", "arguments": {"about": "Oslo"}},
                {"tool_call_id": "c3", "function_name": "search", "arguments": {"city": "Rome"}},
            ],
            "observation": {
                "results": [
                    {"source_call_id": "c1", "content": "snow"},
                    {
                        "source_call_id": "c2",
                        "content": [{"type": "text", "text": "take a coat"}],
                        "subagent_trajectory_ref": [{"trajectory_id": "sub-1"}],
                    },
                ]
            },
            "metrics": {"prompt_tokens": 100, "completion_tokens": 10, "cached_tokens": 50, "cost_usd": 0.25},
        },
        {"step_id": 4, "source": "agent", "message": "Take a coat to Oslo."},
    ],
    "subagent_trajectories": [
        {
            "schema_version": "ATIF-v1.7",
            "trajectory_id": "sub-1",
            "agent": {"name": "expert", "version": "1.0"},
            "steps": [
                {"step_id": 1, "source": "user", "message": "Oslo?"},
                {
                    "step_id": 2,
                    "source": "agent",
                    "message": "",
                    "tool_calls": [{"tool_call_id": "e1", "function_name": "read", "arguments": {"page": 1}}],
                    "observation": {"results": [{"source_call_id": "e1", "content": "cold"}]},
                },
                {"step_id": 3, "source": "agent", "message": "take a coat"},
            ],
        }
    ],
}


def write(path, records):
    path.write_text("".join(f"{json.dumps(record)}\n" for record in records))
    return path


@pytest.fixture
def claude_file(tmp_path):
    return write(tmp_path / "session-1.jsonl", CLAUDE)


@pytest.fixture
def codex_file(tmp_path):
    return write(tmp_path / f"rollout-2026-01-02T03-04-00-{CODEX_ID}.jsonl", CODEX)


@pytest.fixture
def atif_file(tmp_path):
    path = tmp_path / "trajectory.json"
    path.write_text(json.dumps(ATIF, indent=2))
    return path
