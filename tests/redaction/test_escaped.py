"""A text within a text: what is quoted with escapes, or is JSON, is searched for what it spells."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agenttrace.core.marks import REDACTED
from agenttrace.redaction import Redaction
from agenttrace.redaction.escaped import spelled_out

KEY = "gh" + "p_" + "a1B2c3D4" * 5
SECRET = "Hx7qPz2vRk9L"


@pytest.mark.parametrize("before", ["\n", "\r\n", "\t", "é", "\u2028", "<", '"', "\\"])
@pytest.mark.parametrize(
    "written",
    [
        lambda text: json.dumps({"content": text}),
        lambda text: json.dumps([json.dumps({"content": text})]),
        repr,
        lambda text: f"bad output {text!r}, tried again",
        lambda text: 'data: {"a": 1}\n\ndata: ' + json.dumps({"content": text}),
        lambda text: json.dumps({"content": text}).replace("<", "\\u003c"),
        lambda text: repr(text.encode()),
    ],
)
def test_a_token_right_after_an_escape_is_found(before, written):
    cleaned = Redaction().inside(written(f"a key{before}{KEY} end"))
    assert KEY not in cleaned
    assert REDACTED in cleaned


def test_an_escape_outside_of_quotes_is_no_letter_either():
    assert Redaction().inside(f"line\\n{KEY} end") == f"line\\n{REDACTED} end"
    assert Redaction().inside(f"a\\u0026{KEY}") == f"a\\u0026{REDACTED}"


@pytest.mark.parametrize(
    "data",
    [
        {"columns": ["user", "password"], "data": [["ann", SECRET]]},
        [["user", "password"], ["ann", SECRET]],
        [{"value": SECRET, "name": "X-Api-Key"}],
        {"content": f"user,password\nann,{SECRET}\n"},
        {"content": f"| user | password |\n|---|---|\n| ann | {SECRET} |\n"},
        {"content": f" user | password \n------+----------\n ann  | {SECRET}\n(1 row)"},
        {"content": f"password: |\n  {SECRET}\n"},
        {"content": f"passwords:\n  - {SECRET}\n"},
        {"password": 'Qz7"Kp9x\\Lw4m'},
    ],
)
@pytest.mark.parametrize(
    "written",
    [json.dumps, lambda data: json.dumps(data, indent=2), repr, lambda data: json.dumps(json.dumps(data))],
)
def test_what_is_found_in_data_is_found_in_its_text(data, written):
    cleaned = Redaction().inside(written(data))
    assert not any(part in cleaned for part in (SECRET, "Kp9x", "Lw4m"))
    assert REDACTED in cleaned


@pytest.mark.parametrize("indent", [None, 2])
def test_json_stays_json_and_is_written_as_it_was(indent):
    rows = {"columns": ["user", "password"], "data": [["ann", SECRET]], "note": "é\nü"}
    cleaned = Redaction().inside(json.dumps(rows, indent=indent))
    assert cleaned == json.dumps({**rows, "data": [["ann", REDACTED]]}, indent=indent)


@pytest.mark.parametrize(
    "text",
    [
        r'C:\new\table\red "x\y"',
        '{"headers": ["user", "password"], "rows": []}',
        '{"required": ["user", "password"], "type": "object"}',
        '{"path": "C:\\\\token\\\\notes", "ok": true}',
        "it's a 'quote\\n of nothing",
        '{"a": "x\\ny", "a": "twice"}',
    ],
)
def test_a_text_without_a_secret_stays_the_same_object(text):
    assert Redaction().inside(text) is text


def test_data_that_is_nested_too_deeply_is_taken_out_as_a_whole():
    deep = "[" * 900 + '["user", "password"], ["ann", "x"]' + "]" * 900
    assert Redaction().inside(deep) in (deep, REDACTED)


@given(st.text())
def test_what_json_and_repr_write_is_spelled_out_as_it_was(text):
    halves = text.encode("utf-16", "surrogatepass").decode("utf-16", "replace") == text
    if halves:
        assert spelled_out(json.dumps(text)[1:-1]) == text
        assert spelled_out(repr(text)[1:-1]) == text


@pytest.mark.parametrize(
    "text",
    [
        "don't\nC:\\Users\\ann\\notes\n{}\nisn't\nlast",
        "It's a note.\nC:\\new\\table\\x.txt\nkey = {}\nDon't forget.\nlast",
        "it's in C:\\new\\aaa\\{} isn't it",
        '"C:\\new\\aaa": {}, "\\d+\\.", \'\\w\'',
        'a "literal \\u00e9\\ud83d\\ude00 \\x41 {} \\/ \\q" and more',
    ],
)
def test_the_text_around_a_secret_stays_as_it_was(text):
    assert Redaction().inside(text.format(KEY)) == text.format(REDACTED)


@given(st.lists(st.sampled_from(["\\", "n", '"', "'", "a", " ", "\n", "\\ud83d", "\\ude00", "é", KEY])))
def test_no_sign_around_a_secret_is_changed(parts):
    text = " ".join(parts)
    kept = Redaction().inside(text)
    assert kept.replace(REDACTED, KEY) == text


STRAY = [
    '{{"note": "it\'s late", "password": {}}}',
    'Don\'t worry {{"password": {}}}',
    '2025-01-01 INFO user\'s body={{"password": {}}} took 3 ms',
    'rock \'90s {{"password": {}}}',
    "it's password={}",
    'the users\' {{"a": {{"password": {}}}}}',
    "curl -d '{{\"password\": {}}}' https://example.org",
    '[{{"password": {0}, "note": "it\'s"}}, {{"password": {0}, "note": "it\'s"}}]',
]


@pytest.mark.parametrize("text", STRAY)
def test_an_apostrophe_before_it_leaves_nothing_of_a_password_with_quotes(text):
    said = text.format(json.dumps('abc"def7Zq9'))
    cleaned = Redaction().text("x", said)
    assert cleaned == text.format('"[redacted]"')
