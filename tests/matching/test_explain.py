"""The aligned diff as data and as text."""

from __future__ import annotations

import textwrap

import pytest

from agenttrace.core.tool import ToolDefinition
from agenttrace.core.trace import Trace
from agenttrace.expectations import ANY, approx, call, expect, one_of, par, re_, ref, semantic
from agenttrace.matching import compare, explain, explain_lines
from tests.expectations.strategies import trace_of

RUN = trace_of(
    [
        {"name": "lookup_order", "arguments": {"id": 7}},
        {"name": "refund", "arguments": {"id": 7, "amount": 12.5}},
        {"name": "delete_order", "arguments": {"id": 7}},
    ]
)
EXPECTED = ["lookup_order", call("refund", id=7, amount=12.0), call("notify", to="ann")]


def text(said: str) -> str:
    return textwrap.indent(textwrap.dedent(said).strip("\n"), "    ")


def test_a_wide_diff_has_one_line_a_call() -> None:
    assert explain(compare(EXPECTED, RUN), width=120) == text(
        """
        ✓ 1  lookup_order(id=7)
        ~ 2  refund(id=7, amount=12.0)   refund(id=7, amount=12.5)   amount: expected 12.0, got 12.5
        - 3  notify(to="ann")            missing
        +    delete_order(id=7)          extra
        """
    )


def test_a_call_too_long_for_its_line_is_shown_cut_as_the_expected_one_is() -> None:
    expected = [{"tool_name": "f", "parameters": {"x": "a" * 40, "y": "b" * 40}}]
    actual = Trace.from_calls([{"name": "f", "arguments": {"x": "a" * 40, "y": "c" * 40}}])
    first, second, *_ = explain(compare(expected, actual), width=60).splitlines()
    assert first.startswith('    ~ 1  f(x="aaaa')
    assert second.startswith('         got f(x="aaaa')
    assert "…" in second
    assert len(second) <= 60


def test_a_narrow_diff_puts_the_differences_below() -> None:
    assert explain(compare(EXPECTED, RUN), width=60) == text(
        """
        ✓ 1  lookup_order(id=7)
        ~ 2  refund(id=7, amount=12.0)
             got refund(id=7, amount=12.5)
             amount: expected 12.0, got 12.5
        - 3  notify(to="ann")            missing
        +    delete_order(id=7)          extra
        """
    )


def test_a_forbidden_call_says_what_forbids_it() -> None:
    shown = explain(compare(expect(["lookup_order"], never="delete_*"), RUN), width=120)
    assert "! " in shown
    assert "forbidden: never delete_*" in shown
    assert "never: wanted never delete_*, called delete_order (call 3)" in shown


def test_a_vacuous_guard_is_reported() -> None:
    tools = {name: ToolDefinition(name=name) for name in ("lookup_order", "refund", "delete_order")}
    shown = explain(compare(expect(["lookup_order"], never="delte_*"), RUN, tools=tools), width=120)
    assert "vacuous" in shown


def test_a_missing_call_that_was_made_too_early_says_so() -> None:
    comparison = compare(["b", "a"], trace_of("ab"))
    (missing,) = [row for row in comparison.rows if row.kind == "missing"]
    assert missing.note.startswith("out of order: it is call")
    assert missing.nearest is not None


def test_a_missing_call_names_an_extra_one_of_almost_the_same_name() -> None:
    comparison = compare(["send_mail"], trace_of(["send_mails"]))
    assert comparison.rows[0].note == "nearest is send_mails"


def test_a_note_that_does_not_fit_stands_below_uncut() -> None:
    late = {"type": "TimeoutError", "message": "the payment service did not answer in time"}
    run = trace_of([{"name": "pay", "arguments": {"order": 7}, "error": late}, {"name": "ship"}])
    assert explain(compare(["ship"], run), width=80) == text(
        """
        +    pay(order=7)   extra
             failed with TimeoutError: the payment service did not answer in time
        ✓ 1  ship()
        """
    )


def test_why_a_value_does_not_come_from_an_earlier_call_is_not_cut() -> None:
    run = trace_of([{"name": "find", "output": {"items": [3]}}, {"name": "drop", "arguments": {"id": 4}}])
    shown = explain(compare(["find", call("drop", id=ref("find.output.items[*]"))], run), width=80)
    assert shown.endswith("(not in the result of the earlier call)")


def test_rows_stand_in_the_order_of_the_run() -> None:
    comparison = compare([par("b", "a"), "z", "c"], trace_of("axbc"))
    assert [(row.kind, row.number, row.actual and row.actual.name) for row in comparison.rows] == [
        ("matched", 2, "a"), ("extra", None, "x"), ("matched", 1, "b"),
        ("missing", 3, None), ("matched", 4, "c"),
    ]  # fmt: skip


def test_long_stretches_without_a_difference_are_folded() -> None:
    calls = [f"step_{number}" for number in range(300)]
    expected = [*calls[:150], "gone", *calls[150:]]
    shown = explain(compare(expected, trace_of(calls)), context=2).splitlines()
    assert len(shown) < 14
    assert "    … 146 matching calls …" in shown
    assert any("gone" in line and "missing" in line for line in shown)


def test_differences_of_long_texts_are_shown_from_where_they_part() -> None:
    common = "the same beginning " * 20
    run = trace_of([{"name": "mail", "arguments": {"body": common + "Monday"}}])
    shown = explain(compare([call("mail", body=common + "Friday")], run))
    assert "Friday" in shown
    assert "Monday" in shown


def test_failed_calls_and_matchers_are_told() -> None:
    run = trace_of(
        [{"name": "a", "arguments": {"x": 5}, "error": {"type": "TimeoutError", "message": "late"}}]
    )
    shown = explain(compare([call("a", x=approx(1, abs=2), y=ANY, z=re_("q"))], run), width=100)
    assert "failed with TimeoutError: late" in shown
    assert "expected approx(1, abs=2), got 5" in shown
    assert "expected ANY, not given" in shown


@pytest.mark.parametrize("width", [40, 80, 120])
def test_no_line_is_wider_than_the_width(width: int) -> None:
    run = trace_of(
        [
            {"name": "book_a_very_long_name", "arguments": {"passengers": [{"name": "x" * 30}] * 5, "n": n}}
            for n in range(9)
        ]
    )
    expected = expect(
        [call("book_a_very_long_name", n=n, passengers=[]) for n in range(12)], never="zz", max_calls=50
    )
    for line in explain_lines(compare(expected, run), width=width):
        assert len(line.text) <= width, line


def test_lines_carry_their_style() -> None:
    styles = [line.style for line in explain_lines(compare(EXPECTED, RUN), width=120)]
    assert styles == ["matched", "differs", "missing", "extra"]


def test_rows_are_json_safe_data() -> None:
    import json

    comparison = compare(EXPECTED, RUN)
    data = [row.to_dict() for row in comparison.rows]
    assert json.loads(json.dumps(data)) == data
    assert data[1]["differences"] == [
        {"path": "amount", "expected": 12.0, "got": 12.5, "kind": "differs", "note": ""}
    ]
    json.dumps(comparison.to_dict())
    predicate = compare([call("refund", amount=lambda v: v > 20, id=semantic)], RUN).rows[1].to_dict()
    assert "<lambda>" in json.dumps(predicate)


def test_a_call_made_with_other_values_names_the_right_one_that_stands_elsewhere() -> None:
    run = trace_of(
        [
            {"name": "refund", "arguments": {"id": 7}},
            {"name": "lookup"},
            {"name": "refund", "arguments": {"id": 8}},
        ]
    )
    comparison = compare(["lookup", call("refund", id=7)], run)
    row = next(row for row in comparison.rows if row.kind == "differs")
    assert row.note == "the right one is call 1, out of order"
    assert row.nearest is run.tool_calls[0]
    assert "the right one is call 1" in explain(comparison)


def test_too_many_calls_are_marked_only_where_they_are_not_expected() -> None:
    run = trace_of(["a", "x", "b", "x"])
    assert explain(compare(expect(["a", "b"], max_calls=2), run)) == text(
        """
        ✓ 1  a()
        +    x()   extra
        ✓ 2  b()
        +    x()   extra, too many: at most 2 calls
        ! max_calls: wanted at most 2 calls, 4 calls
        """
    )


def test_what_a_warning_is_about_does_not_look_forbidden() -> None:
    comparison = compare(expect(["lookup_order"], never="delete_*", severity="warn"), RUN)
    assert explain(comparison) == text(
        """
        ✓ 1  lookup_order(id=7)
        +    refund(id=7, amount=12.5)   extra
        +    delete_order(id=7)          extra, warning: never delete_*
        ? never: wanted never delete_*, called delete_order (call 3)
        """
    )
    assert [line.style for line in explain_lines(comparison)] == ["matched", "extra", "extra", "quiet"]


def test_texts_inside_matchers_are_quoted_like_all_others() -> None:
    run = trace_of([{"name": "f", "arguments": {"a": "x", "b": "y", "c": "z"}}])
    expected = [call("f", a=ref("find.output.id"), b=one_of("it's", 'a "b"'), c=lambda c: False)]
    shown = explain(compare(expected, run), width=100)
    assert 'a: expected ref("find.output.id"), got "x"' in shown
    assert r"""b: expected one_of("it's", "a \"b\""), got""" in shown
    assert 'c: expected <lambda>, got "z"' in shown


def test_a_list_in_another_order_says_so_in_one_line() -> None:
    run = trace_of([{"name": "f", "arguments": {"tags": ["b", "c", "a"]}}])
    shown = explain(compare([call("f", tags=["a", "b", "c"])], run), width=100)
    assert shown == text(
        """
        ~ 1  f(tags=["a", "b", "c"])
             got f(tags=["b", "c", "a"])
             tags: expected ["a", "b", "c"], got ["b", "c", "a"] (the same items in another order)
        """
    )
    twice = compare([call("f", tags=["a", "b", "b"])], run).rows[0].differences
    assert [one.path for one in twice] == ["tags[0]", "tags[1]", "tags[2]"]


def test_every_row_names_its_tool_also_where_all_of_them_are_matched() -> None:
    run = trace_of([{"name": "refund_the_whole_order", "error": "KeyError: 999"}])
    for width in (60, 80, 160):
        assert "✓ 1  refund_the_whole_order()" in explain(
            compare(expect(["refund_the_whole_order"], tool_errors=0), run), width=width
        )
