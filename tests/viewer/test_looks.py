"""What a reader sees at a glance: nothing that matters is cut, and what is cut is said."""

from __future__ import annotations

import html
import re

import shop
from test_pages import Read, big_store, span_of

from agenttrace.core.span import SpanError
from agenttrace.core.trace_facts import CallFacts
from agenttrace.viewer.session_page import session_page
from agenttrace.viewer.span_page import span_page
from agenttrace.viewer.trace_list import trace_list
from agenttrace.viewer.trace_page import trace_page
from agenttrace.viewer.two_traces import two_traces
from agenttrace.viewer.values import about_text, summary_of
from agenttrace.viewer.waterfall import Axis
from agenttrace.viewer.words import column_money, column_unit, trajectory

MESSAGES = [
    {"role": "system", "content": "Be kind."},
    {"role": "user", "content": "Where is my parcel?"},
]


def model_call(answer, messages=MESSAGES):
    return span_of(
        1, None, name="chat", span_type="llm", input={"model": "m", "messages": messages}, output=answer
    )


def row_of(span):
    return summary_of(span.span_type, span.input, span.output)


def test_a_row_of_a_model_shows_its_reply_or_what_it_calls_or_the_newest_words_that_it_was_sent():
    call = {"id": "c", "type": "function", "function": {"name": "lookup", "arguments": '{"order_id": 7}'}}
    asks = {"role": "assistant", "content": None, "tool_calls": [call]}
    assert row_of(model_call({"role": "assistant", "content": "On its way."})) == "assistant: On its way."
    assert row_of(model_call(asks)) == "assistant: lookup(order_id=7)"
    assert row_of(model_call(None)) == "user: Where is my parcel?"


def test_a_row_of_the_list_begins_with_the_words_of_the_input_and_not_with_the_name_of_a_parameter(reads):
    assert about_text({"message": "Where is it?", "order_id": 7}) == "Where is it?, order_id=7"
    assert about_text({"order_id": 7, "message": "Where is it?"}) == 'order_id=7, message="Where is it?"'
    assert about_text({}) == ""
    assert "Where is my parcel 23?, order_id=23" in Read(trace_list(reads, {})[1]).text


def test_a_column_of_durations_has_one_unit_in_which_no_number_is_too_long_for_it():
    assert column_unit([20_000, 30_000, 40_000]).name == "µs"
    mixed = column_unit([20_000] * 9 + [1_882_516_300])
    assert (mixed.name, mixed.text(20_000), mixed.text(1_882_516_300)) == ("ms", "0.02", "1,882.52")
    assert column_unit([1_000] * 9 + [10**15]).name == "min"
    assert column_unit([]).name == "µs"


def test_a_column_of_costs_has_one_number_of_decimals_so_that_none_is_cut_and_points_are_aligned():
    money = column_money([0.00089, 0.00229, 0.00502, None, 0])
    assert [money.text(cost) for cost in (0.00089, 0.00502, 1.5)] == ["$0.0009", "$0.0050", "$1.5000"]
    assert [money.text(cost) for cost in (None, 0, 0.00001)] == ["", "$0", "<$0.0001"]
    assert column_money([12, 3, 0.5]).text(1234.5) == "$1,234.50"
    assert column_money([]).text(0.5) == "$0.50"
    assert column_money([1e-12]).text(1e-12) == "<$0.000001"


def test_the_times_of_an_axis_have_one_unit():
    seconds = 10**9
    for length, texts in (
        (2.11 * seconds, ["0 s", "0.5 s", "1.0 s", "1.5 s", "2.0 s"]),
        (402 * seconds, ["0 s", "100 s", "200 s", "300 s", "400 s"]),
        (7_000, ["0 µs", "2 µs", "4 µs", "6 µs"]),
        (1, ["0.0 µs"]),
    ):
        shown = [tick.text for tick in Axis(0, int(length)).ticks]
        assert [text.replace("0.0 s", "0 s") for text in shown[: len(texts)]] == texts


def test_tool_calls_for_which_a_row_has_no_room_are_counted_and_never_cut():
    calls = [CallFacts("lookup_order", False, 1.0), CallFacts("create_label", True, 1.0)]
    assert trajectory(calls, room=32).left_out == 0
    assert trajectory(calls, room=31).left_out == 1
    many = [CallFacts(f"tool_{n}", False, 1.0) for n in range(9)]
    for room in range(10, 100):
        shown = trajectory(many, room)
        text = " → ".join(call.name for call in shown.calls) + (" +1,000 more" if shown.left_out else "")
        assert len(text) <= max(room, len("tool_0 +1,000 more"))
        assert len(shown.calls) + shown.left_out == 9


def test_a_trace_that_is_fine_though_a_call_failed_says_both_in_lists_and_at_its_head(tmp_path):
    spans = [span_of(1, None, name="root", span_type="agent")]
    spans.append(span_of(2, 1, 2, name="pay", status="error", error=SpanError("E", "declined")))
    reads, trace_id = big_store(tmp_path / "handled.db", spans)
    for text in (trace_list(reads, {})[1], two_traces(reads, {"id": trace_id, "other": trace_id})[1]):
        assert re.search(r'aria-label="ok".*?</span><span class="mark error" [^>]*"1 span failed"', text)
    assert "● ok · 1 span failed ·" in Read(trace_page(reads, {"id": trace_id})[1]).text


def test_two_traces_say_first_how_much_of_them_is_the_same(reads):
    traces = reads.store.traces(limit=50)
    one = next(each.trace_id for each in traces if reads.facts(each.trace_id).calls)
    page = Read(two_traces(reads, {"id": one, "other": one})[1]).text
    assert re.search("All calls are the same|The only call is the same", page)


def test_the_tree_has_one_unit_for_all_durations(reads):
    _, text = trace_page(reads, {"id": shop.trace_of(reads.store).trace_id})
    head = re.search(r'<th[^>]*class="number">Time, (\S+)</th>', text)
    cells = re.findall(r'<td class="number">([^<]*)</td>', text)
    assert head
    assert cells
    assert all(re.fullmatch(r"[\d.,<]+", html.unescape(cell)) for cell in cells)


def test_a_trace_that_ended_with_an_error_says_so_before_what_its_scores_say(reads):
    _, listed = trace_list(reads, {"q": "failed:refund"})
    trace_id = re.search(r'data-id="([0-9a-f]{32})"', listed)[1]
    page = Read(trace_page(reads, {"id": trace_id})[1]).text
    assert "✕ error ·" in page


def test_like_calls_of_a_trace_are_numbered_by_their_place_and_it_is_said_how_many_there_are(tmp_path):
    spans = [span_of(1, None, name="root", span_type="agent")]
    spans += [span_of(key, 1, key, name="fetch") for key in range(2, 102)]
    spans[60] = span_of(61, 1, 61, name="fetch", status="error", error=SpanError("E", "x"))
    reads, trace_id = big_store(tmp_path / "alike.db", spans)
    text = span_page(reads, {"id": trace_id, "span": f"{61:016x}"})[1]
    assert "12 of 100 calls of fetch in this trace" in Read(text).text
    assert '<ol class="alike" start="54">' in text


def test_a_session_has_room_for_the_calls_of_each_turn(reads):
    page = Read(session_page(reads, {"session": "s-1"})[1]).text
    assert "notify" in page
    assert "more" not in page


def test_the_axis_of_the_tree_says_its_times(reads):
    _, text = trace_page(reads, {"id": shop.trace_of(reads.store).trace_id})
    ticks = re.search(r'<svg class="ticks".*?</svg>', text, re.S)[0]
    assert len(re.findall(r"<text [^>]*>[^<]+</text>", ticks)) >= 3


def test_paper_is_always_light():
    from importlib.resources import files

    sheet = (files("agenttrace.viewer") / "static" / "view.css").read_text()
    dark = [line for line in sheet.split("\n") if "[data-theme=dark]" in line or "scheme: dark)" in line]
    assert dark
    assert all("screen" in line for line in dark)
