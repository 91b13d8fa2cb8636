"""LangSmith: runs as its API answers them and its client exports them."""

import json

import pytest

from agenttrace import traces_from_otlp
from agenttrace.otlp_in.arrival import TelemetryError

ROOT = "aaaaaaaa-0000-4000-8000-000000000001"
CHILD = "aaaaaaaa-0000-4000-8000-000000000002"
TEN = 1_790_935_200_000_000_000
"""2026-10-02, ten o'clock UTC."""


def run(key, kind, name, inputs, outputs, parent=None, **fields):
    return {
        "id": key,
        "trace_id": ROOT,
        "parent_run_id": parent,
        "dotted_order": f"20261002T100000000000Z{ROOT}",
        "name": name,
        "run_type": kind,
        "inputs": inputs,
        "outputs": outputs,
        "error": None,
        "start_time": "2026-10-02T10:00:00.000000",
        "end_time": "2026-10-02T10:00:01.500000",
        **fields,
    }


AGENT = run(ROOT, "chain", "desk", {"question": "refund 7"}, {"output": "done"})
TOOL = run(CHILD, "tool", "refund", {"order": 7}, {"output": {"amount": 12.5}}, ROOT)


@pytest.mark.parametrize(
    "payload",
    [
        [AGENT, TOOL],
        {"runs": [TOOL, AGENT], "cursors": {}},
        AGENT | {"child_runs": [TOOL]},
        AGENT | {"child_runs": [TOOL | {"parent_run_id": None, "trace_id": None, "dotted_order": None}]},
        b"\n".join(json.dumps(one).encode() for one in (AGENT, TOOL)),
    ],
    ids=["list", "page", "tree", "tree without ids of parents", "lines"],
)
def test_runs_are_read_in_each_form_of_an_export(payload):
    (trace,) = traces_from_otlp(payload)
    (call,) = trace.tool_calls
    assert trace.trace_id == ROOT.replace("-", "")
    assert (call.name, call.arguments, call.output, call.failed) == (
        "refund",
        {"order": 7},
        {"amount": 12.5},
        False,
    )
    assert (trace.root.span_type, trace.input, trace.output) == ("chain", {"question": "refund 7"}, "done")
    assert (trace.root.start_ns, trace.root.end_ns) == (TEN, TEN + 1_500_000_000)
    assert call.parent_id == trace.root.span_id


@pytest.mark.parametrize(
    "start", ["2026-10-02T10:00:00Z", "2026-10-02T12:00:00+02:00", "2026-10-02 10:00:00"]
)
def test_times_are_of_utc_where_they_name_no_offset(start):
    (trace,) = traces_from_otlp(AGENT | {"start_time": start})
    assert trace.root.start_ns == TEN


@pytest.mark.parametrize(
    ("error", "kind", "message"),
    [
        ("ValueError('declined')Traceback (most recent call last):\n  File …", "ValueError", "declined"),
        ("ToolException('it is \"late\"')", "ToolException", 'it is "late"'),
        ("declined", "Error", "declined"),
    ],
)
def test_an_error_fails_its_span(error, kind, message):
    (trace,) = traces_from_otlp([AGENT, TOOL | {"error": error, "outputs": None}])
    (call,) = trace.tool_calls
    assert (call.failed, call.error.type, call.error.message) == (True, kind, message)


@pytest.mark.parametrize(
    ("kind", "span_type"),
    [
        ("llm", "llm"),
        ("tool", "tool"),
        ("chain", "chain"),
        ("retriever", "retriever"),
        ("parser", "function"),
    ],
)
def test_a_run_s_type_is_the_span_s(kind, span_type):
    (trace,) = traces_from_otlp(AGENT | {"run_type": kind})
    assert trace.spans[0].span_type == span_type


ASKED = {"id": "c1", "type": "function", "function": {"name": "refund", "arguments": '{"order": 7}'}}
LANGCHAIN = {
    "type": "ai",
    "content": "",
    "tool_calls": [{"id": "c1", "name": "refund", "args": {"order": 7}}],
}


@pytest.mark.parametrize(
    "outputs",
    [
        {"choices": [{"message": {"role": "assistant", "content": None, "tool_calls": [ASKED]}}]},
        {"role": "assistant", "content": None, "tool_calls": [ASKED]},
        {"generations": [[{"text": "", "message": {"kwargs": LANGCHAIN, "id": ["x", "AIMessage"]}}]]},
    ],
    ids=["answer", "message", "LangChain's"],
)
def test_what_a_model_asked_for_is_read(outputs):
    inputs = {"messages": [{"role": "user", "content": "refund 7"}]}
    (trace,) = traces_from_otlp(run(ROOT, "llm", "chat", inputs, outputs))
    (call,) = trace.tool_calls
    assert (call.name, call.arguments, call.status) == ("refund", {"order": 7}, "requested")
    assert trace.spans[0].input["messages"] == [{"role": "user", "content": "refund 7"}]


@pytest.mark.parametrize(
    ("fields", "outputs"),
    [
        ({"prompt_tokens": 5, "completion_tokens": 2, "total_cost": 0.5}, {}),
        ({"total_cost": 0.5}, {"usage_metadata": {"input_tokens": 5, "output_tokens": 2}}),
        ({"total_cost": 0.5}, {"llm_output": {"token_usage": {"prompt_tokens": 5, "completion_tokens": 2}}}),
        (
            {
                "total_cost": 0.5,
                "extra": {"metadata": {"usage_metadata": {"input_tokens": 5, "output_tokens": 2}}},
            },
            {},
        ),
    ],
    ids=["run", "answer", "LangChain's", "metadata"],
)
def test_tokens_and_cost_are_read_where_they_stand(fields, outputs):
    (trace,) = traces_from_otlp(run(ROOT, "llm", "chat", {}, outputs, **fields))
    assert trace.root.usage == {"input_tokens": 5, "output_tokens": 2, "cost": 0.5}


def test_thread_user_tags_metadata_and_project_are_the_trace_s():
    metadata = {"thread_id": "t1", "user_id": "ann", "plan": "pro", "ls_provider": "openai"}
    named = AGENT | {"extra": {"metadata": metadata}, "tags": ["beta"], "session_name": "shop"}
    (trace,) = traces_from_otlp([named | {"session_id": "a project's id"}, TOOL])
    assert (trace.session_id, trace.customer_id, trace.tags) == ("t1", "ann", ("beta",))
    assert trace.metadata == {"thread_id": "t1", "user_id": "ann", "plan": "pro"}
    assert trace.root.project == "shop"


def test_another_mapping_is_an_error_that_names_what_is_read():
    with pytest.raises(TelemetryError, match=r"resourceSpans.*Langfuse.*LangSmith.*messages.*ATIF"):
        traces_from_otlp({"id": 1, "run": 2})


def offer(**parameters):
    properties = {name: {"type": kind} for name, kind in parameters.items()}
    schema = {"type": "object", "properties": properties}
    return {"type": "function", "function": {"name": "refund", "parameters": schema}}


def model(*offered, asked=None):
    """A run of a model that was offered tools, and asked for refund with these arguments."""
    calls = [] if asked is None else [{"id": "c1", "name": "refund", "args": asked}]
    answer = {"type": "ai", "content": "", "tool_calls": calls}
    outputs = {"generations": [[{"message": {"kwargs": answer, "id": ["x", "AIMessage"]}}]]}
    extra = {"invocation_params": {"tools": list(offered)}}
    key = CHILD.replace("2", "3")
    return run(key, "llm", "chat", {"messages": []}, outputs, ROOT, extra=extra)


JSON, REPR = '{"order": 7}', "{'order': 7}"
READ = {"order": 7}


@pytest.mark.parametrize(
    ("text", "models", "arguments"),
    [
        (JSON, [], READ),
        (REPR, [], READ),
        ("{}", [], {}),
        ('{"a": [true, null]}', [], {"a": [True, None]}),
        ("{'a': [True, None]}", [], {"a": [True, None]}),
        (JSON, [model(offer(order="integer"))], READ),
        (REPR, [model(offer(order="integer"))], READ),
        (JSON, [model(offer(order="integer"), asked=READ)], READ),
        (JSON, [model(asked=READ)], READ),
        (JSON, [model(offer(input="string"), asked=READ)], READ),
        (JSON, [model(offer(input="string"))], {"input": JSON}),
        (JSON, [model(asked={"input": JSON})], {"input": JSON}),
        (JSON, [model(offer(query="string"), asked={"query": JSON})], {"query": JSON}),
        ("order 7", [], {"input": "order 7"}),
        ("order 7", [model(offer(query="string"))], {"query": "order 7"}),
        ("[7]", [], {"input": "[7]"}),
        ("{'order': Order(7)}", [], {"input": "{'order': Order(7)}"}),
        ("{" * 10_000, [], {"input": "{" * 10_000}),
    ],
)
def test_arguments_that_are_one_text_are_what_it_spells_unless_the_record_says_otherwise(
    text, models, arguments
):
    (trace,) = traces_from_otlp([AGENT, *models, TOOL | {"inputs": {"input": text}}])
    (call,) = [call for call in trace.tool_calls if call.output is not None]
    assert call.arguments == arguments
