"""Data within a text is read as data: JSON and literals of Python, wherever they begin."""

import datetime
import decimal
import json
import uuid

import pytest

from agenttrace.core.marks import REDACTED
from agenttrace.redaction import Redaction

SECRET = "Zx9Qv7mK2w8L"
DATA = [
    [["user", "password"], ["ann", SECRET]],
    {"columns": ["user", "password"], "data": [["ann", SECRET]]},
    {"value": SECRET, "name": "password"},
    {"selector": "#password", "value": SECRET},
    {"selector": "#password", "text": SECRET},
    {"element": "Password textbox", "text": SECRET},
    {"key": "/db/password", "value": SECRET},
    {"netloc": f"ann:{SECRET}@h"},
    {"Parameter": {"Name": "/prod/db/password", "Type": "SecureString", "Value": SECRET, "Version": 1}},
    {"kty": "oct", "k": SECRET * 3},
    {"name": "user[password]", "value": SECRET},
    {"sql": "INSERT INTO u (name, password) VALUES (?, ?)", "params": ["a", SECRET]},
    {"fields": [{"name": "Password", "type": "textbox", "value": SECRET}]},
    ["mysql", "-uroot", "-p" + SECRET],
    {"command": ["redis-cli", "-a", SECRET]},
]


@pytest.mark.parametrize("data", DATA, ids=repr)
@pytest.mark.parametrize(
    "written",
    [
        json.dumps,
        lambda data: json.dumps(data, indent=4),
        repr,
        lambda data: json.dumps({"name": "fill", "arguments": json.dumps(data)}),
        lambda data: f"Result: {json.dumps(data)}\n(1 row)",
        lambda data: f"it's [1, x] (see below):\n```json\n{json.dumps(data, indent=2)}\n```\nisn't it?",
        lambda data: f"rows={data!r} done",
    ],
    ids=["json", "indented", "repr", "arguments", "in words", "in a fence", "repr in words"],
)
def test_a_secret_in_data_is_found_in_its_text(data, written):
    kept = Redaction().inside(written(data))
    assert REDACTED in kept
    assert SECRET not in kept


def test_what_stands_around_the_data_stays():
    text = "it's {0} isn't [x] {1}"
    rows = json.dumps(DATA[0])
    clean = rows.replace(SECRET, REDACTED)
    assert Redaction().inside(text.format(rows, rows)) == text.format(clean, clean)


def test_a_literal_with_calls_in_it_keeps_them():
    rows = [
        ["user", "password", "at"],
        ["ann", SECRET, datetime.datetime(2026, 1, 1)],
        ["bob(1)", SECRET, decimal.Decimal("1.5")],
        ["eve", SECRET, uuid.UUID(int=5)],
    ]
    assert Redaction().inside(f"rows: {rows}") == f"rows: {rows}".replace(SECRET, REDACTED)


@pytest.mark.parametrize(
    "text",
    [
        'x = {\n  "a":   1.50,  "b": "\\u00e9 ü",\n "rows": [ ["user","password"],\n ["ann", "SECRET"] ]}\n#',
        "{'a':   1.50, 'b': ('x', 'y'),\n  'rows': [ ('user','password'),\n ('ann', 'SECRET') ] }",
        '[{"name": "password", "value": "SECRET"},\n\t{"name":  "city", "value":"Ghent"}]',
    ],
)
def test_nothing_but_the_secret_is_written_anew(text):
    assert Redaction().inside(text.replace("SECRET", SECRET)) == text.replace("SECRET", REDACTED)


@pytest.mark.parametrize(
    "text",
    [
        'x = ["password", "email"]\nfor a in (1, 2): f("password", a)',
        'required: ["user", "password"] and {"type": "object"}',
        "a [b] {c} (d, 'password')",
        '{"session": {"title": "Keynote 2", "speakers": 3}}',
    ],
)
def test_data_without_a_secret_stays(text):
    assert Redaction().inside(text) is text


def test_brackets_that_are_never_closed_cost_no_more_than_their_length():
    import time

    def cost(text):
        redaction, start = Redaction(), time.process_time()
        redaction.inside(text)
        return time.process_time() - start

    for part in ("['password', ", '[["password"], ', '{"name": "password", ', "(('password', x), "):
        small, large = (min(cost(part * count) for _ in range(3)) for count in (1_000, 4_000))
        assert large < 12 * small + 0.05


@pytest.mark.parametrize(
    "before", ["", "see (below), it's [1]:\n", json.dumps(DATA[0]) + "\n", "[a, b] {c} (d)\n"]
)
def test_data_that_is_cut_behind_other_data_and_words_is_read(before):
    text = f"{before}{json.dumps([['user', 'password'], ['ann', SECRET], ['bob', SECRET]])}"
    for cut in range(len(before) + 30, len(text)):
        cleaned = Redaction().inside(f"{text[:cut]}…[+{len(text) - cut} chars]")
        assert SECRET[:6] not in cleaned
        assert cleaned.endswith(" chars]")
