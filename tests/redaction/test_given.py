"""Secrets of calls by their own names, in messages of a conversation, and repeated in others of a trace."""

import json

import pytest

from agenttrace import Redaction, Tracer
from agenttrace.core.span import Span
from tests.stored_text import everything_in

SECRET = "Wq8zKp2vLm"


def called(name, arguments="{}"):
    return {
        "role": "assistant",
        "content": None,
        "tool_calls": [{"id": "c1", "type": "function", "function": {"name": name, "arguments": arguments}}],
    }


HISTORIES = [
    [called("get_password"), {"role": "tool", "tool_call_id": "c1", "content": SECRET}],
    [called("getenv", '{"name": "DB_PASSWORD"}'), {"role": "tool", "tool_call_id": "c1", "content": SECRET}],
    [
        called("bash", '{"command": "cat /run/secrets/db_password"}'),
        {"role": "tool", "tool_call_id": "c1", "content": SECRET},
    ],
    [
        called("get_password"),
        {"role": "tool", "tool_call_id": "c1", "content": [{"type": "text", "text": SECRET}]},
    ],
    [
        called("bash", '{"command": "vault kv get -field=password kv/db.prod"}'),
        {"role": "tool", "tool_call_id": "c1", "content": SECRET},
    ],
    [
        {"role": "user", "content": "go on"},
        {"role": "tool", "name": "get_api_key", "tool_call_id": "c1", "content": SECRET},
    ],
    [
        {
            "role": "assistant",
            "content": [{"type": "tool_use", "id": "t1", "name": "get_password", "input": {}}],
        },
        {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "t1", "content": SECRET}]},
    ],
    [
        {
            "role": "assistant",
            "content": [
                {
                    "type": "tool_use",
                    "id": "t1",
                    "name": "ask_user",
                    "input": {"question": "What is your password?"},
                }
            ],
        },
        {
            "role": "user",
            "content": [
                {"type": "tool_result", "tool_use_id": "t1", "content": [{"type": "text", "text": SECRET}]}
            ],
        },
    ],
    [
        {"type": "function_call", "call_id": "f1", "name": "get_password", "arguments": "{}"},
        {"type": "function_call_output", "call_id": "f1", "output": SECRET},
    ],
    [
        {"type": "ai", "content": "", "tool_calls": [{"name": "get_token", "args": {}, "id": "x"}]},
        {"type": "tool", "content": SECRET, "tool_call_id": "x"},
    ],
    [
        {"role": "model", "parts": [{"functionCall": {"name": "get_password", "args": {}}}]},
        {
            "role": "user",
            "parts": [{"functionResponse": {"name": "get_password", "response": {"result": SECRET}}}],
        },
    ],
    [
        {
            "role": "assistant",
            "parts": [{"type": "tool_call", "id": "p1", "name": "get_password", "arguments": {}}],
        },
        {
            "role": "tool",
            "parts": [{"type": "tool_call_response", "id": "p1", "response": SECRET, "tool_call_id": "p1"}],
        },
    ],
]
TAKEN = [
    ("set_api_key", {"value": SECRET}),
    ("set_api_key", {"key": SECRET}),
    ("set_secret", {"name": "stripe", "value": SECRET}),
    ("store_secret", {"key": "stripe", "value": SECRET}),
    ("create_secret", {"name": "stripe", "data": SECRET}),
    ("set_password", {"user": "ann", "value": SECRET}),
    ("change_password", {"user": "ann", "old": "x1y2z3w4", "new": SECRET}),
    ("add_credential", {"service": "stripe", "value": SECRET}),
    ("vault.setToken", {"value": SECRET}),
    ("mcp__vault__set_secret", {"name": "stripe", "value": SECRET}),
]
RETURNING_NAMES = [
    *("reset_password", "changePassword", "update_password", "recover_password", "suggest_password"),
    *("access_secret_version", "access_secret", "read_secret_version", "unwrap_secret", "resolve_secret"),
    *("acquire_token", "exchange_token", "renew_token", "regenerate_token", "provision_token"),
    *("get_token_for_user", "get_api_key_by_name", "reset_api_key", "list_api_keys", "rotate_key"),
    *("export_key", "regenerate_keys", "random_password", "temp_password", "mcp__vault__export_key"),
]
RETURNED = [
    *((name, SECRET) for name in RETURNING_NAMES),
    ("list_api_keys", [{"name": "stripe", "key": SECRET}]),
    ("reset_password", {"status": "ok", "result": SECRET}),
    ("get_secret", {"name": "stripe", "value": SECRET}),
    ("get_secret", {"data": {"value": SECRET}}),
    ("get_secret", {"payload": {"data": SECRET}}),
    ("get_credentials", ("ann", SECRET)),
    ("generate_token", (SECRET, 3600)),
    ("get_password", SECRET),
    ("mcp__onepassword__get_password", {"value": SECRET}),
    ("vault_get_secret", SECRET),
    ("aws_get_secret_value", {"value": SECRET}),
    ("github_create_token", SECRET),
    ("get_parameter", {"Parameter": {"Name": "/prod/stripe", "Type": "SecureString", "Value": SECRET}}),
    ("read_password", f"{SECRET}\n"),
]
PLAIN_RESULTS = [
    *("ok", "done", "password changed", "ann2@example.org", "2026-11-29T10:00:00Z", "200", "email_sent"),
    *(True, None, 42, {"status": "ok", "id": 7}, {"message": "The key was changed 2 minutes ago."}),
]
"""Results that are plainly no secrets."""
KEPT = [
    ("set_api_key", {"name": "prod2b"}, "done"),
    ("get_tokens", {"text": "a1b2c3"}, [1, 2]),
    ("get_secret", {"name": "stripe2"}, {"name": "stripe2", "version": "v12"}),
    ("change_password", {"user_id": "ann1990"}, "password changed"),
    ("set_city", {"value": "Paris2e"}, None),
    ("forget_password", {"user": "ann1990"}, "abc12345"),
    ("get_password_page", {"number": 3}, "abc12345"),
    *(("reset_password", {"user": "ann"}, result) for result in PLAIN_RESULTS),
    *(("update_api_key", {"user": "ann"}, result) for result in PLAIN_RESULTS),
    ("change_card", {"user": "ann"}, "card_8x2k9q"),
    ("update_session", {"user": "ann"}, "sess_8x2k9q"),
    ("get_key", {"user": "ann"}, "user2:ann"),
    ("change_key", {"user": "ann"}, "Gb7minor"),
    ("list_users_by_city", {"city": "Paris"}, "ann1990"),
]


@pytest.fixture
def tracer(tmp_path):
    made = Tracer("given", store=tmp_path / "traces.db")
    yield made
    made.shutdown()


@pytest.fixture
def stored(tracer, tmp_path):
    def stored():
        tracer.shutdown()
        return everything_in(tmp_path / "traces.db")

    return stored


@pytest.mark.parametrize("as_text", [False, True])
@pytest.mark.parametrize("messages", HISTORIES)
def test_the_result_of_a_tool_in_a_conversation_is_hidden_as_that_of_a_call(
    tracer, stored, messages, as_text
):
    value = json.dumps(messages) if as_text else messages
    tracer.observe(lambda messages: "ok", name="chat", span_type="llm")(value)
    with tracer.capture() as captured:
        tracer.observe(lambda messages: "ok", name="chat", span_type="llm")({"messages": value})
    assert SECRET not in str(captured.trace.spans[0].input)
    assert SECRET not in str(Redaction().inside(value))
    text = stored()
    assert SECRET not in text
    assert "c1" in text or "t1" in text or "f1" in text or "x" in text


CALLS_WITH_RESULTS = [
    [{"name": "ask_user", "arguments": {"question": "What is your password?"}, "output": SECRET}],
    [{"name": "get_password", "arguments": {"user": "ann"}, "output": SECRET}],
    [{"name": "get_password", "args": {}, "result": {"value": SECRET}}],
    {"tool_calls": [{"tool_name": "getenv", "input": {"name": "DB_PASSWORD"}, "output": SECRET}]},
    {"steps": [{"tool_calls": [{"name": "export_key", "arguments": "{}", "output": SECRET}]}]},
]


@pytest.mark.parametrize("as_text", [False, True])
@pytest.mark.parametrize("calls", CALLS_WITH_RESULTS)
def test_the_result_that_stands_beside_its_call_in_data_is_hidden(tracer, stored, calls, as_text):
    value = json.dumps(calls) if as_text else calls
    tracer.observe(lambda data: "ok", name="step", span_type="tool")(value)
    assert SECRET not in str(Redaction().inside(value))
    text = stored()
    assert SECRET not in text
    assert "step" in text


def test_results_beside_other_calls_stay():
    calls = [
        {"name": "get_weather", "arguments": {"city": "Paris"}, "output": SECRET},
        {"name": "get_password", "arguments": {"user": "ann"}, "output": "not found"},
        {"name": "count_tokens", "arguments": {"text": "a token"}, "output": "12b34c5"},
        {"name": "ann", "content": SECRET},
    ]
    assert Redaction().inside(calls) == calls


def test_other_results_of_tools_in_a_conversation_stay(tracer):
    messages = [
        called("get_weather", '{"city": "Paris"}'),
        {"role": "tool", "tool_call_id": "c1", "content": SECRET},
    ]
    with tracer.capture() as captured:
        tracer.observe(lambda messages: "ok", name="chat")(messages)
    assert captured.trace.spans[0].input["messages"] == messages


@pytest.mark.parametrize(("name", "arguments"), TAKEN)
def test_what_a_call_is_given_whose_name_says_so_is_hidden(tracer, stored, name, arguments):
    with tracer.capture() as captured:
        function = eval(f"lambda {', '.join(arguments)}: 'ok'")
        tracer.observe(function, name=name, span_type="tool")(**arguments)
    (span,) = captured.trace.spans
    assert SECRET not in str(span.input)
    others = {key: value for key, value in arguments.items() if value in ("stripe", "ann")}
    assert {key: span.input[key] for key in others} == others
    read = Span(trace_key=1, span_key=1, name=name, input=arguments, output=None)
    assert SECRET not in str(Redaction().span(read).input)
    assert SECRET not in stored()


@pytest.mark.parametrize(("name", "result"), RETURNED)
def test_what_a_call_returns_whose_name_says_so_is_hidden(tracer, stored, name, result):
    with tracer.capture() as captured:
        tracer.observe(lambda: result, name=name, span_type="tool")()
    assert SECRET not in str(captured.trace.spans[0].output)
    assert SECRET not in str(Redaction().span(Span(trace_key=1, span_key=1, name=name, output=result)).output)
    assert SECRET not in stored()


@pytest.mark.parametrize(("name", "arguments", "result"), KEPT)
def test_what_else_such_calls_have_stays(tracer, name, arguments, result):
    with tracer.capture() as captured:
        function = eval(f"lambda {', '.join(arguments)}: result", {"result": result})
        tracer.observe(function, name=name, span_type="tool")(**arguments)
    (span,) = captured.trace.spans
    assert (span.input, span.output) == (arguments, result)


CALLS = [
    {"tool_calls": [{"id": "c1", "function": {"name": "NAME", "arguments": "JSON"}}]},
    {"content": [{"type": "tool_use", "id": "c1", "name": "NAME", "input": "DICT"}]},
    {"tool_calls": [{"name": "NAME", "args": "DICT", "id": "c1"}]},
    {"parts": [{"functionCall": {"name": "NAME", "args": "DICT"}}]},
]


def filled(form, name, arguments):
    if isinstance(form, dict):
        return {key: filled(item, name, arguments) for key, item in form.items()}
    if isinstance(form, list):
        return [filled(item, name, arguments) for item in form]
    return {"NAME": name, "JSON": json.dumps(arguments), "DICT": arguments}.get(form, form)


@pytest.mark.parametrize("form", CALLS)
def test_what_a_call_in_a_message_is_given_is_hidden(tracer, stored, form):
    answer = {"role": "assistant", **filled(form, "change_password", {"user": "ann", "new": SECRET})}
    tracer.observe(lambda messages: answer, name="model", span_type="llm")([answer])
    with tracer.capture() as captured:
        tracer.observe(lambda messages: answer, name="model", span_type="llm")([answer])
    assert SECRET not in str((captured.trace.spans[0].input, captured.trace.spans[0].output))
    assert SECRET not in Redaction().text("x", json.dumps(answer))
    text = stored()
    assert SECRET not in text
    assert "ann" in text


@pytest.mark.parametrize("form", CALLS)
def test_other_arguments_in_messages_stay(form):
    answer = [{"role": "assistant", **filled(form, "find_city", {"token_count": 5, "value": "Paris2x9"})}]
    assert Redaction().inside(answer) == answer


class TestARepeatedSecret:
    """A secret of one call in the values of other calls of its trace."""

    @pytest.fixture
    def agent(self, tracer):
        @tracer.observe(span_type="tool")
        def log_in(user, password):
            return True

        @tracer.observe(span_type="tool")
        def read_file(path):
            return f"host = x\npassword = {SECRET}\n"

        @tracer.observe(span_type="tool")
        def note(text, more=None):
            tracer.log(f"noted {text}")
            return {"text": text}

        return {"log_in": log_in, "read_file": read_file, "note": note}

    @pytest.mark.parametrize("first", ["log_in", "read_file"])
    def test_is_hidden_in_calls_that_end_after_it(self, tracer, stored, agent, first):
        @tracer.observe(span_type="agent")
        def run(task):
            agent["log_in"]("ann", SECRET) if first == "log_in" else agent["read_file"]("a.ini")
            agent["note"](f"I used {SECRET} to get in", more=[{"said": SECRET}])
            tracer.set_tags([SECRET])
            return f"done with {SECRET}"

        run("go on")
        with tracer.capture() as captured:
            run("go on")
        assert SECRET not in str([span.to_dict() for span in captured.trace.spans])
        text = stored()
        assert SECRET not in text
        assert "I used [redacted] to get in" in text

    def test_is_no_secret_of_another_trace(self, tracer, agent):
        with tracer.capture() as first:
            agent["log_in"]("ann", SECRET)
        with tracer.capture() as second:
            agent["note"](SECRET)
        assert SECRET not in str(first.trace.spans[0].input)
        assert second.trace.spans[0].output == {"text": SECRET}

    def test_is_no_word_of_letters_alone(self, tracer, agent):
        with tracer.capture() as captured:
            agent["log_in"]("ann", "swordfish")
            agent["note"]("a swordfish")
        assert captured.trace.spans[1].output == {"text": "a swordfish"}

    def test_is_hidden_in_errors_of_calls_after_it(self, tracer, agent):
        @tracer.observe(span_type="tool")
        def fails():
            raise ValueError(f"the door is shut to {SECRET}")

        with tracer.capture() as captured:
            agent["log_in"]("ann", SECRET)
            with pytest.raises(ValueError, match="shut"):
                fails()
        assert captured.trace.spans[1].error.message == "the door is shut to [redacted]"

    def test_is_no_id_by_which_traces_are_found(self, tracer, tmp_path):
        @tracer.observe(span_type="tool")
        def load(session):
            return {"of": session}

        @tracer.observe(span_type="agent")
        def run(task):
            tracer.set_session_id("sess-4f3a2b1c")
            tracer.set_customer_id("cust-9x8y7z")
            load("sess-4f3a2b1c")
            return "sess-4f3a2b1c"

        run("go on")
        tracer.flush()
        (summary,) = tracer.store.traces()
        trace = tracer.store.trace(summary.trace_id)
        assert (trace.session_id, trace.customer_id) == ("sess-4f3a2b1c", "cust-9x8y7z")
        assert trace.root.output == "sess-4f3a2b1c"
