"""The aligned rows as data: bounded, what differs first, without digests."""

import json

from hypothesis import given
from hypothesis import strategies as st

from agenttrace import Example, Trace, Tracer, call
from agenttrace.matching.compare import compare
from agenttrace.matching.rows import ROWS_SIZE, rows_data
from agenttrace.scorers import ToolOrderScorer


def rows_of(expected, calls):
    return compare(expected, Trace.from_calls(calls)).rows


def test_each_row_says_what_was_expected_what_was_made_and_where_they_part():
    rows = rows_of([call("pay", amount=12), "notify"], [{"name": "pay", "arguments": {"amount": 13}}])
    differs, missing = rows_data(rows)["rows"]
    assert (differs["kind"], differs["actual"]["index"]) == ("differs", 0)
    assert [(d["path"], d["expected"], d["got"]) for d in differs["differences"]] == [("amount", 12, 13)]
    assert (missing["kind"], missing["expected"], missing["actual"]) == ("missing", "notify", None)


def test_a_row_that_matches_goes_before_one_that_differs_when_there_is_no_room():
    calls = [{"name": "chat", "arguments": {"text": "x" * 4_000}} for _ in range(60)]
    data = rows_data(rows_of(["chat"] * 60 + ["pay"], calls))
    assert data["rows"][-1]["kind"] == "missing"
    assert data["rows_left_out"] == 61 - len(data["rows"]) > 0


@given(st.lists(st.sampled_from([1, 900, 9_000, 90_000]), max_size=60))
def test_the_rows_never_take_more_than_their_room(sizes):
    calls = [{"name": "chat", "arguments": {"text": "é" * size}} for size in sizes]
    data = rows_data(rows_of(["pay"], calls))
    assert sum(len(json.dumps(row, ensure_ascii=False)) for row in data["rows"]) <= ROWS_SIZE * 1.2
    assert len(data["rows"]) + data.get("rows_left_out", 0) == len(sizes) + 1


def test_rows_hold_no_digest_of_a_secret_or_of_what_was_cut():
    tracer = Tracer("rows", store="memory")

    @tracer.observe(span_type="tool")
    def login(password, text):
        return None

    with tracer.capture() as captured:
        login("hunter2", "x" * 20_000_000)
    score = ToolOrderScorer().score(Example(expected_tools=[]), captured.trace)
    (row,) = [row for row in score.details["rows"] if row["actual"]]
    assert row["actual"]["arguments"]["password"] == "[redacted]"
    assert type(row["actual"]["arguments"]["password"]) is str
    assert "#" not in row["actual"]["arguments"]["text"]
    tracer.shutdown()
