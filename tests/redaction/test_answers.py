"""Messages that answer one which asks for a secret, a table as a head and its rows, names beside values."""

import pytest

from agenttrace import Redaction, Tracer

SECRET = "hunter2Zq9"


def part(text, key="text", kind="text"):
    return [{"type": kind, key: text}]


ASKED = "What is your password?"
DATA = [
    [{"role": "assistant", "content": part(ASKED)}, {"role": "user", "content": part(SECRET)}],
    [{"role": "assistant", "content": ASKED}, {"role": "user", "content": part(SECRET)}],
    [{"role": "assistant", "content": part(ASKED)}, {"role": "user", "content": SECRET}],
    [
        {"role": "assistant", "content": ASKED},
        {"role": "user", "content": [{"type": "image", "url": "x"}, *part(SECRET)]},
    ],
    [
        {"role": "assistant", "content": part(ASKED, kind="output_text")},
        {"role": "user", "content": part(SECRET, kind="input_text")},
    ],
    [{"role": "model", "parts": [{"text": ASKED}]}, {"role": "user", "parts": [{"text": SECRET}]}],
    [{"role": "model", "parts": [ASKED]}, {"role": "user", "parts": [SECRET]}],
    [
        {"role": "assistant", "parts": part(ASKED, "content")},
        {"role": "user", "parts": part(SECRET, "content")},
    ],
    [{"type": "ai", "content": ASKED}, {"type": "human", "content": SECRET}],
    [["assistant", "Enter the password for admin:"], ["user", SECRET]],
    [{"role": "assistant", "content": "Password:"}, {"role": "user", "content": SECRET}],
    [{"role": "assistant", "content": "What is your password?"}, {"role": "user", "content": SECRET}],
    [
        {"role": "user", "content": "hi"},
        {"role": "assistant", "content": "Sure. Please send me the API key for the account:"},
        {"role": "user", "content": SECRET},
        {"role": "user", "content": "and more"},
    ],
    [{"role": "assistant", "content": "Please enter your password."}, {"role": "user", "content": SECRET}],
    [["user", "password"], [["ann", SECRET], ["bob", "Xk9mQ2vLp7z"]]],
    {"header": ["user", "password"], "body": [["a", SECRET]]},
    {
        "ColumnInfo": [{"Name": "user"}, {"Name": "password"}],
        "Rows": [{"Data": [{"ScalarValue": "ann"}, {"ScalarValue": SECRET}]}],
    },
    {"question": "API key?", "reply": SECRET},
    {"prompt": "Password:", "response": SECRET},
    {"expect": "Password:", "send": SECRET},
    ["password", "==", SECRET],
    {"where": ["password", "=", SECRET]},
]
HARMLESS = [
    [{"role": "assistant", "content": "What is your name?"}, {"role": "user", "content": SECRET}],
    [{"role": "assistant", "content": "What is your password?"}, {"role": "user", "content": "forgotten"}],
    [["a", "b"], [["x", "y1z2"]]],
    ["status", "==", "abc12345"],
    {"prompt": "Write about a lost password", "response": "Dear Ann, you may set another one."},
]


@pytest.mark.parametrize("data", DATA)
def test_the_secret_is_hidden_where_it_stands_and_where_it_is_recorded(data):
    assert SECRET not in str(Redaction().fields({"x": data}))
    tracer = Tracer("answers", store="memory")

    @tracer.observe(span_type="tool")
    def echo(value):
        return value

    with tracer.capture() as captured:
        echo(data)
    (span,) = captured.trace.spans
    assert SECRET not in str((span.input, span.output))


@pytest.mark.parametrize("data", HARMLESS)
def test_other_data_stays(data):
    assert Redaction().fields({"x": data}) == {"x": data}


def test_a_long_conversation_is_looked_through_as_each_message_is():
    told = [{"role": "user", "content": f"The river is known for bridge {n}."} for n in range(60)]
    asked = [
        *told,
        {"role": "assistant", "content": "Your token?"},
        {"role": "user", "content": SECRET},
        *told,
    ]
    tracer = Tracer("answers", store="memory")

    @tracer.observe(span_type="llm")
    def model(messages):
        return "ok"

    with tracer.capture() as captured:
        model(asked)
    (span,) = captured.trace.spans
    assert span.input["messages"][61]["content"] == "[redacted]"
    assert span.input["messages"][:61] == asked[:61]


def test_a_list_of_values_beside_a_secret_s_name_is_hidden():
    entry = {"Name": "password", "Values": [SECRET]}
    assert SECRET not in str(Redaction().fields({"x": [entry]}))


def test_a_token_ends_where_letters_of_another_script_begin():
    text = "\u30c8\u30fc\u30af\u30f3 123456789:AAHdqTcvCH1vGWJxfSeofSAs0K5PALDsaw0\u3067\u3059"
    assert "AAHdq" not in Redaction().text("x", text)
