"""Secrets in the columns and rows of tables that are data."""

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
    assert tracer.flush()
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
