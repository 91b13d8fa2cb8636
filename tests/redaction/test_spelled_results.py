"""Secrets in results that are a text: JSON, a label, rows for a statement; pieces that repeat one."""

import json

import pytest

from agenttrace import Redaction, Tracer
from tests.stored_text import everything_in

SECRET = "Vq7xR2mLp9Zt"
SQL = "SELECT name, password FROM users"
RESULTS = [
    ("get_secret", {"name": "stripe"}, json.dumps({"value": SECRET})),
    ("get_secret", {"name": "stripe"}, str({"value": SECRET})),
    ("get_secret", {"name": "stripe"}, f"value: {SECRET}"),
    ("create_api_key", {"owner": "ann"}, json.dumps({"id": "key_1", "key": SECRET})),
    ("bash", {"command": "printenv DB_PASSWORD"}, json.dumps({"stdout": f"{SECRET}\n", "exit_code": 0})),
    ("bash", {"command": "printenv DB_PASSWORD"}, f"exit code: 0\nstdout:\n{SECRET}\n"),
    ("get_secret", {"name": "a"}, {"content": [{"type": "text", "text": json.dumps({"value": SECRET})}]}),
    ("call_tool", {"name": "run_sql", "arguments": {"query": SQL}}, [["ann", SECRET]]),
    ("call_tool", {"name": "run_sql", "arguments": json.dumps({"query": SQL})}, f"[('ann', '{SECRET}')]"),
    ("call_tool", {"name": "run_sql", "arguments": {"query": SQL}}, {"rows": [["ann", SECRET]]}),
]
KEPT = [
    ("bash", {"command": "ls"}, json.dumps({"stdout": f"{SECRET}\n", "exit_code": 0})),
    ("get_weather", {"city": "Paris"}, f"value: {SECRET}"),
    ("get_secret", {"name": "stripe"}, json.dumps({"name": "stripe2b", "version": "v12"})),
    (
        "call_tool",
        {"name": "run_sql", "arguments": {"query": "SELECT name, city FROM users"}},
        [["ann", SECRET]],
    ),
]


def history(call, arguments, result):
    function = {"name": call, "arguments": json.dumps(arguments)}
    text = result if isinstance(result, str) else json.dumps(result)
    return [
        {
            "role": "assistant",
            "content": None,
            "tool_calls": [{"id": "c1", "type": "function", "function": function}],
        },
        {"role": "tool", "tool_call_id": "c1", "content": text},
    ]


@pytest.fixture
def tracer(tmp_path):
    made = Tracer("spelled", store=tmp_path / "traces.db")
    yield made
    made.shutdown()


def observed(tracer, call, arguments, result):
    function = eval(f"lambda {', '.join(arguments)}: result", {"result": result})
    return tracer.observe(function, name=call, span_type="tool")(**arguments)


@pytest.mark.parametrize(("call", "arguments", "result"), RESULTS)
def test_a_secret_in_one_is_hidden_in_the_call_and_in_messages(tracer, tmp_path, call, arguments, result):
    with tracer.capture() as captured:
        observed(tracer, call, arguments, result)
    observed(tracer, call, arguments, result)
    messages = history(call, arguments, result)
    tracer.observe(lambda messages: "ok", name="chat", span_type="llm")(messages)
    tracer.shutdown()
    assert SECRET not in str(captured.trace.spans[0].output)
    assert SECRET not in str(Redaction().inside(messages))
    text = everything_in(tmp_path / "traces.db")
    assert SECRET not in text
    assert "c1" in text


@pytest.mark.parametrize(("call", "arguments", "result"), KEPT)
def test_other_results_stay(tracer, call, arguments, result):
    with tracer.capture() as captured:
        observed(tracer, call, arguments, result)
    assert captured.trace.spans[0].output == result
    messages = history(call, arguments, result)
    assert Redaction().inside(messages) == messages


def test_the_pieces_of_a_stream_repeat_no_secret_of_their_trace(tracer, tmp_path):
    @tracer.observe(span_type="tool")
    def log_in(user, password):
        return True

    @tracer.observe(span_type="llm")
    def stream(prompt):
        yield from ("Welcome ", SECRET[:7], SECRET[7:], " is right")

    with tracer.capture() as captured, tracer.span("agent"):
        log_in("ann", SECRET)
        list(stream("go on"))
    pieces = next(span.output for span in captured.trace.spans if span.name == "stream")
    assert pieces == ["Welcome ", "[redacted]", "[redacted]", " is right"]


@pytest.mark.parametrize(
    "text",
    [
        f"Assistant: Please enter your API key:\nUser: {SECRET}",
        f"Assistant: What is your password?\nUser: It's {SECRET}",
    ],
)
def test_an_answer_on_the_next_line_is_hidden(text):
    assert Redaction().text("x", text) == text.replace(SECRET, "[redacted]")


@pytest.mark.parametrize(
    "entry",
    [
        {"token": "Paris", "score": 0.9, "entity": "LOC"},
        {"token": "USDC", "amount": "100"},
        {"jira_key": "PROJ-123"},
    ],
)
def test_tokens_of_texts_and_keys_of_tickets_stay(entry):
    assert Redaction().inside(entry) == entry


@pytest.mark.parametrize("hashed", ["$6$salt$3Jw8abcdefghijklmnop", "$apr1$x1y2z3w4$abcdefghijklmnopqrstuv"])
def test_hashes_of_passwords_are_hidden(hashed):
    assert Redaction().text("x", f"root:{hashed}:19000:0:99999") == "root:[redacted]:19000:0:99999"


def test_a_score_that_is_no_number_is_not_asked_for_its_repr(tracer):
    class Slow:
        def __repr__(self):
            raise AssertionError("on the caller's thread")

    with tracer.span("step"):
        tracer.score_current_span("quality", Slow())
