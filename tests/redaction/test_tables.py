"""Secrets in the columns and rows of tables that are data."""

import json

import pytest

from agenttrace import Tracer
from agenttrace.core.marks import REDACTED
from agenttrace.redaction import Redaction
from agenttrace.redaction.harmless_copy import harmless_copy

WORD = "Xq7Tr0ub4dor9"
NAMES = ["user", "password"]
TABLES = [
    {"columns": NAMES, "rows": [["ann", WORD]]},
    {"columns": NAMES, "values": [["ann", WORD], ["bob", None]]},
    {"columns": [{"name": "user"}, {"name": "password"}], "rows": [["ann", WORD]]},
    {"columns": [{"field": "user"}, {"field": "password", "title": "P"}], "data": [["ann", WORD, 3], []]},
    {"fields": [{"name": "user"}, {"name": "password"}], "records": [["ann", WORD]]},
    {"fields": NAMES, "rows": [["ann", WORD]]},
    {"headers": NAMES, "values": [["ann", WORD]]},
    {"column_names": NAMES, "records": [["ann", WORD]]},
    {"columnNames": NAMES, "records": [["ann", WORD]]},
    {"fields": NAMES, "values": ["ann", WORD]},
    [NAMES, ["ann", WORD]],
    [NAMES, ["ann", WORD], ["bob", None]],
    [["id", "api_key", "plan"], [1, WORD, "free"], [2, "", "free"]],
    [["password", "user"], [WORD, "ann"]],
    [["password"], [WORD]],
    {"values": [NAMES, ["ann", WORD]]},
]
HARMLESS = [
    {"headers": {"Accept": "text/html"}, "data": [["ann", WORD]]},
    {"fields": ["user", "city"], "rows": [["ann", WORD]]},
    {"fields": [{"name": "password", "type": "string"}], "values": []},
    {"fields": ["user", "password"], "values": ["string", "string"]},
    {"fields": ["password", "user"], "records": [{"user": "ann", "city": "Paris"}]},
    {"columns": [{"width": 5}, 7, None], "rows": [["ann", WORD, 1]]},
    [["user", "city"], ["ann", WORD]],
    [["step", "token", "loss"], [1, 1200, 0.35], [2, 2400, 0.31]],
    [["user", "password"], ["ann", WORD, 3]],
    [["user", "password"], {"ann": WORD}],
    [["user", "password"]],
    [["user", "password"], ["name", "string"], ["ann", "${DB_PASSWORD}"]],
    [["password", "required"], ["address2", "optional"]],
    [["api_key"], ["oauth2"], ["session"]],
    [["Accept", "text/html"], ["X-Request-Id", "a1b2c3d4e5"]],
    [[], [WORD]],
    [[1, 2], [3, 4]],
]


def stored(*values):
    tracer = Tracer("tables", store="memory")
    for value in values:
        tracer.observe(lambda value: None)(value)
    assert tracer.flush(60)
    return [tracer.store.trace(one.trace_id).root.input["value"] for one in tracer.store.traces()]


def with_tuples(value):
    if isinstance(value, dict):
        return {key: with_tuples(item) for key, item in value.items()}
    return tuple(map(with_tuples, value)) if isinstance(value, list) else value


@pytest.mark.parametrize("table", TABLES)
def test_the_values_of_a_secret_column_are_taken_out(table):
    redaction = Redaction()
    kept = redaction.inside(table)
    assert str(kept) == str(table).replace(WORD, REDACTED)
    assert redaction.redacted == 1
    assert Redaction().inside(kept) == kept
    assert harmless_copy({"table": table}, redaction) is None


@pytest.mark.parametrize("table", TABLES)
def test_the_values_of_a_secret_column_are_stored_nowhere(table):
    assert WORD not in repr(stored(table, {"result": table}, with_tuples(table)))


@pytest.mark.parametrize("table", HARMLESS)
def test_a_table_without_a_secret_stays(table):
    assert Redaction().inside(table) == table
    assert harmless_copy({"table": table}, Redaction()) == {"table": table}
    assert stored(table) == [table]


def test_pairs_whose_first_is_a_secret_are_no_table():
    pairs = [["x-api-key", "hunter2"], ["X-Request-Id2", "a1b2c3d4e5"]]
    assert Redaction().inside(pairs) == [["x-api-key", REDACTED], pairs[1]]


WIDE = [["user", "password", "bio"], *[["ann", WORD, "x" * 1_000]] * 200]


@pytest.mark.parametrize(
    "table",
    [
        [NAMES, *[["ann", WORD]] * 1_500],
        {"result": {"rows": [NAMES, *[["ann", WORD]] * 1_500]}},
        WIDE,
        {"rows": WIDE[1:], "columns": WIDE[0]},
        {
            "rows": WIDE[1:],
            "pad": "y" * 9_000,
            "fields": [{"name": name, "type": "text"} for name in WIDE[0]],
        },
        {"value": WORD, "pad": "y" * 200_000, "name": "password"},
        json.dumps([NAMES, *[["ann", WORD]] * 9_000]),
        repr({"columns": NAMES, "rows": [["ann", WORD]] * 9_000}),
    ],
    ids=["rows", "nested", "wide", "names behind", "fields behind", "entry", "json", "repr"],
)
def test_a_table_of_which_a_part_was_not_recorded_is_one_still(table):
    (kept,) = stored(table)
    assert "$truncated" in repr(kept) or "…[+" in repr(kept)
    assert REDACTED in repr(kept)
    assert WORD not in repr(kept)


@pytest.mark.parametrize("write", [json.dumps, lambda data: json.dumps(data, indent=2), repr])
@pytest.mark.parametrize("wrap", [list, lambda rows: {"n": 1, "rows": rows}])
def test_data_in_a_text_is_read_up_to_wherever_it_was_cut(write, wrap):
    text = write(wrap([NAMES, ["ann", WORD], ["c, ]}\\d", WORD]]))
    for end in range(len(text)):
        kept = Redaction().inside(f"{text[:end]}…[+{len(text) - end} chars]")
        assert WORD[:6] not in kept
        assert kept.endswith(" chars]")


def test_small_parts_behind_one_that_is_cut_are_kept():
    (kept,) = stored({"rows": WIDE, "large": "y" * 9_000, "total": 201, "next": "page-2"})
    assert list(kept) == ["rows", "total", "next", "$truncated"]
    assert (kept["total"], kept["next"], kept["$truncated"]) == (201, "page-2", 1)


@pytest.mark.parametrize(
    "text",
    [
        "user   password  age\n ann hunter2Xy9    3\n bob      pw2Qz   44",
        "                           api_key name\naB3dE5fG7hJ9kL1mN3pQ5rS7tU9vW1xY3z  svc",
        "  password\nhunter2Xy9",
        "    name   password\nAnn Lee7 hunter2Xy9",
        "USERNAME PASSWORD\n-------- ----------\nann      hunter2Xy9\nbob      pw2Qz",
    ],
)
def test_columns_that_one_space_parts_are_read_by_where_they_begin_or_end(text):
    kept = Redaction().text("output", text)
    assert REDACTED in kept
    assert not any(word in kept for word in ("hunter2Xy9", "pw2Qz", "aB3dE5f"))


@pytest.mark.parametrize(
    "text",
    [
        "reset your password\nof user hunter2xY9",
        "the token\nv1.2.3x4",
        "use a token\nfor v1.2.3",
        "a key\nb Xy9Z1a",
    ],
)
def test_lines_of_prose_below_each_other_are_no_columns(text):
    assert Redaction().text("output", text) is text
