"""A value whose secret's name stands beside it: fields that an agent fills, headers that a tool is given."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agenttrace import Tracer
from agenttrace.redaction import Redaction
from agenttrace.redaction.fields import FIELDS, TYPED

SECRET = "Zq7Wmx4Rt9Lp"


def recorded(tool, *arguments, **more):
    """The arguments of one call, as they are recorded."""
    tracer = Tracer("fields", store="memory")
    observed = tracer.observe(span_type="tool")(tool)
    with tracer.capture() as captured:
        try:
            observed(*arguments, **more)
        except ValueError:
            pass
    (call,) = captured.trace.tool_calls
    return call


def fill(selector, value):
    pass


def browser_type(element, ref, text):
    pass


def set_header(name, value):
    pass


def set_any(**fields):
    pass


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        (fill, ("#password", SECRET)),
        (fill, ("input[name=password]", SECRET)),
        (fill, ("//input[@type='password']", SECRET)),
        (fill, ("#login-password", "swordfish")),
        (browser_type, ("Password textbox", "e12", SECRET)),
        (browser_type, ('textbox "API key"', "e12", SECRET)),
        (set_header, ("Authorization", SECRET)),
        (set_header, ("DB_PASSWORD", "short1")),
    ],
)
def test_what_is_given_to_a_tool_beside_a_secrets_name_is_taken_out(tool, arguments):
    *before, secret = arguments
    assert list(recorded(tool, *arguments).arguments.values()) == [*before, "[redacted]"]
    assert (
        recorded(set_any, **dict(zip(("selector", "text"), (before[0], secret), strict=True))).arguments
        == {"fields": {"selector": before[0], "text": "[redacted]"}}
        or tool is set_header
    )


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        (fill, ("#username", "ann1984")),
        (fill, ("#password-help", "use8letters")),
        (browser_type, ("Password textbox", "e12", "Choose one with 8 letters")),
        (browser_type, ("Password textbox", "e12", "required")),
        (browser_type, ("Search box", "e12", SECRET)),
        (set_header, ("Accept", "text/html;q=0.9")),
        (set_header, ("password", None)),
        (set_header, (None, SECRET)),
        (set_header, (12, SECRET)),
    ],
)
def test_what_stands_beside_another_name_stays(tool, arguments):
    assert tuple(recorded(tool, *arguments).arguments.values()) == arguments


def test_an_error_that_repeats_what_was_typed_is_recorded_without_it():
    def typing(selector, text):
        raise ValueError(f"cannot type {text} into {selector}")

    assert recorded(typing, "#password", SECRET).error.message == "cannot type [redacted] into #password"


def test_a_name_of_ones_own_says_which_field_is_secret_and_one_that_is_left_alone_which_is_not():
    entry = {"selector": "#seat", "text": "12A"}
    assert Redaction(["seat"]).fields(entry) == {"selector": "#seat", "text": "[redacted]"}
    assert Redaction(except_=["password"]).fields({"selector": "#password", "text": SECRET})["text"] == SECRET


@given(
    st.sampled_from(FIELDS), st.sampled_from(TYPED), st.sampled_from(["#password", "Password field", "#user"])
)
def test_an_entry_is_the_same_within_data_as_arguments_and_when_it_is_read_again(field, key, selector):
    redaction, entry = Redaction(), {field: selector, key: SECRET}
    clean = redaction.fields(entry)
    assert (clean[key] == SECRET) == (selector == "#user")
    assert redaction.inside([entry]) == [clean]
    assert redaction.fields(clean) == clean


def run_sql(sql, params):
    pass


@pytest.mark.parametrize(
    ("sql", "params", "kept"),
    [
        ("INSERT INTO users (name, password) VALUES (?, ?)", ["ann", SECRET], ["ann", "[redacted]"]),
        ("UPDATE users SET password = %s WHERE id = %s", ["swordfish", 7], ["[redacted]", 7]),
        ("SELECT 1 FROM users WHERE name = $1 AND api_key = $2", ["ann", SECRET], ["ann", "[redacted]"]),
        ("SELECT 1 FROM users WHERE name = ?", ["ann"], ["ann"]),
        ("INSERT INTO u (id, name, password) VALUES (DEFAULT, ?, ?)", ["ann", SECRET], ["ann", "[redacted]"]),
        ("INSERT INTO u (name, at, password) VALUES (?, NOW(), ?)", ["ann", SECRET], ["ann", "[redacted]"]),
        (
            "INSERT INTO u (name, password) VALUES (?, ?), (?, ?)",
            ["ann", SECRET, "bob", SECRET],
            ["ann", "[redacted]", "bob", "[redacted]"],
        ),
        (
            "INSERT INTO u (name, password) VALUES (?, ?)",
            [["ann", SECRET], ["bob", SECRET]],
            [["ann", "[redacted]"], ["bob", "[redacted]"]],
        ),
        ("UPDATE u SET password=$2 WHERE id=$1", [7, SECRET], [7, "[redacted]"]),
        ("INSERT INTO u (name, password) VALUES ($2, $1)", [SECRET, "ann"], ["[redacted]", "ann"]),
        ("SELECT 1 FROM u WHERE id IN (?, ?) AND password = ?", [1, 2, SECRET], [1, 2, "[redacted]"]),
        ("UPDATE u SET password = crypt(?, gen_salt('bf')) WHERE id = ?", [SECRET, 7], ["[redacted]", 7]),
        (
            "INSERT INTO u (name, password) VALUES (:n, :p)",
            {"n": "ann", "p": SECRET},
            {"n": "ann", "p": "[redacted]"},
        ),
        (
            "SELECT '?' , password FROM u WHERE name = ? AND token = %s",
            ["ann", SECRET],
            ["ann", "[redacted]"],
        ),
        ("INSERT INTO users (name, password) VALUES (?, ?)", ["ann", None], ["ann", None]),
        ("INSERT INTO users (name, password) VALUES (?, ?)", [], []),
    ],
)
def test_a_value_for_the_placeholder_of_a_secret_column_is_taken_out(sql, params, kept):
    assert recorded(run_sql, sql, params).arguments == {"sql": sql, "params": kept}
    assert Redaction().inside({"sql": sql, "params": params}) == {"sql": sql, "params": kept}
    assert Redaction().inside([{"query": sql, "values": params}]) == [{"query": sql, "values": kept}]


BODY = "MIIEpAIBAAKCAQEA" + "abcd" * 12
LINES = ["-----BEGIN RSA PRIVATE KEY-----", *[BODY] * 20, "-----END RSA PRIVATE KEY-----", "and more"]


@pytest.mark.parametrize(
    "items",
    [
        LINES,
        [f"{line}\n" for line in LINES],
        [{"line": number, "text": text} for number, text in enumerate(LINES)],
        ["\n".join(LINES)[at : at + 100] for at in range(0, 1_400, 100)],
    ],
    ids=["lines", "with ends", "entries", "blocks"],
)
def test_of_a_private_key_in_the_items_of_a_list_nothing_is_left(items):
    shown = str(Redaction().inside({"lines": items}))
    assert "abcdabcd" not in shown
    assert "and more" in shown or items[-1] != "and more"
