"""Values that must come from an earlier call."""

from __future__ import annotations

import pytest

from agenttrace.core.trace import Trace
from agenttrace.expectations import any_of, call, one_of, par, ref, seq
from agenttrace.matching import compare


def run(*calls: dict[str, object] | str) -> Trace:
    return Trace.from_calls(list(calls))


FIND = {"name": "find", "arguments": {"city": "Paris"}, "output": {"items": [{"id": 3}, {"id": 4}]}}


@pytest.mark.parametrize(
    ("path", "value", "holds"),
    [
        ("find.output.items[*].id", 4, True),
        ("find.output.items[*].id", 5, False),
        ("find.output.items[0].id", 3, True),
        ("find.output.items[0].id", 4, False),
        ("find.output.items[-1].id", 4, True),
        ("find.output.items[9].id", 4, False),
        ("find.output", {"items": [{"id": 3}, {"id": 4}]}, True),
        ("find.output['items'][*].id", 3, True),
        ("find.output.items[*][*]", 4, True),
        ("find.input.city", "Paris", True),
        ("find.arguments.city", "Rome", False),
        ("find.output.items[*].id", "3", False),
    ],
)
def test_a_value_must_be_one_that_the_path_finds(path: str, value: object, holds: bool) -> None:
    trace = run(FIND, {"name": "book", "arguments": {"id": value}})
    assert compare(["find", call("book", id=ref(path))], trace).holds is holds


def test_a_result_that_is_json_text_is_read() -> None:
    trace = run({"name": "find", "output": '{"id": 9}'}, {"name": "book", "arguments": {"id": 9}})
    assert compare([call("book", id=ref("find.output.id"))], trace).holds


def test_a_tool_name_with_dots_is_read_up_to_the_side() -> None:
    trace = run({"name": "math.add", "output": 3}, {"name": "show", "arguments": {"n": 3}})
    assert compare([call("show", n=ref("math.add.output"))], trace).holds


def test_only_earlier_calls_that_did_not_fail_count() -> None:
    book = {"name": "book", "arguments": {"id": 3}}
    expected = [call("book", id=ref("find.output.items[*].id"))]
    assert not compare(expected, run(book, FIND)).holds
    assert not compare(expected, run({**FIND, "error": "boom"}, book)).holds
    assert compare(expected, run({**FIND, "error": "boom"}, FIND, book)).holds


def test_a_label_stands_for_the_call_that_fits_the_labelled_expectation() -> None:
    rome = {"name": "find", "arguments": {"city": "Rome"}, "output": {"items": [{"id": 7}]}}
    expected = seq(
        par(call("find", city="Paris", as_="p"), call("find", city="Rome", as_="r")),
        call("book", {"id": ref("r.output.items[0].id")}),
    )
    assert compare(expected, run(rome, FIND, {"name": "book", "arguments": {"id": 7}})).holds
    assert not compare(expected, run(rome, FIND, {"name": "book", "arguments": {"id": 3}})).holds


def test_labels_may_refer_to_each_other_in_a_chain() -> None:
    expected = [
        call("a", {}, as_="one"),
        call("b", {"x": ref("one.output")}, as_="two"),
        call("c", {"y": ref("two.output")}),
    ]
    good = run({"name": "a", "output": 1}, {"name": "b", "arguments": {"x": 1}, "output": 2},
               {"name": "c", "arguments": {"y": 2}})  # fmt: skip
    assert compare(expected, good).holds
    bad = run({"name": "a", "output": 1}, {"name": "b", "arguments": {"x": 5}, "output": 2},
              {"name": "c", "arguments": {"y": 2}})  # fmt: skip
    assert [pair.agreement for pair in compare(expected, bad).pairs] == [1.0, 0.0, 0.0]


def test_alternatives_may_share_a_label() -> None:
    expected = seq(
        any_of(call("find", as_="f"), call("search", as_="f")), call("book", {"id": ref("f.output.id")})
    )
    for name in ("find", "search"):
        good = run({"name": name, "output": {"id": 1}}, {"name": "book", "arguments": {"id": 1}})
        assert compare(expected, good).holds
    other = run("find", {"name": "else", "output": {"id": 1}}, {"name": "book", "arguments": {"id": 1}})
    assert not compare(expected, other).holds


def test_a_label_that_refers_to_itself_ends() -> None:
    expected = [call("a", {"x": ref("me.output")}, as_="me")]
    assert not compare(expected, run({"name": "a", "arguments": {"x": 1}, "output": 1})).holds


def test_a_reference_works_inside_other_matchers_and_alternatives() -> None:
    trace = run(FIND, {"name": "book", "arguments": {"id": 4}})
    expected = ["find", any_of(call("book", id=one_of(ref("find.output.items[*].id"), 0)), "skip")]
    assert compare(expected, trace).holds


def test_the_difference_says_what_the_reference_found() -> None:
    trace = run({"name": "book", "arguments": {"id": 4}})
    (row,) = compare([call("book", id=ref("find.output.id"))], trace).rows
    assert row.differences[0].note == "no earlier call of find"
