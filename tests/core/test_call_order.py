"""Calls by their start; those that ran at once in the order asked, else without an order."""

from __future__ import annotations

from itertools import permutations
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agenttrace.core.span import Span
from agenttrace.core.tool import Parameter, ToolDefinition
from agenttrace.core.tool_call import UNRECORDED_STATUSES, ToolCall, are_unordered
from agenttrace.core.trace import Trace

ROOT = Span(trace_key=1, span_key=1, name="agent", span_type="agent", start_ns=0, end_ns=10_000)


def tool(
    name: str,
    start: int,
    end: int,
    *,
    key: int | None = None,
    parent: int = 1,
    call_id: str | None = None,
    **fields: Any,
) -> Span:
    attributes = {} if call_id is None else {"gen_ai.tool.call.id": call_id}
    return Span(
        **{
            "trace_key": 1,
            "span_key": key or 1000 + start * 100 + len(name),
            "parent_key": parent,
            "index": start,
            "name": name,
            "span_type": "tool",
            "start_ns": start,
            "end_ns": end,
            "input": {},
            "attributes": attributes,
            **fields,
        }
    )


def answer(start: int, output: Any, *, parent: int = 1) -> Span:
    return Span(
        trace_key=1,
        span_key=2_000_000 + start,
        parent_key=parent,
        name="chat",
        span_type="llm",
        start_ns=start,
        end_ns=start + 1,
        index=start,
        output=output,
    )


def asks(*calls: tuple[Any, ...]) -> dict[str, Any]:
    """An answer as `wrap` records it; each call an id, a name and perhaps arguments."""
    return {
        "tool_calls": [{"id": c[0], "name": c[1], "arguments": c[2] if len(c) > 2 else {}} for c in calls]
    }


def executed(*spans: Span) -> list[ToolCall]:
    """The calls that a tool's span tells of: what was only asked for has no time of its own."""
    return [call for call in Trace([ROOT, *spans]).tool_calls if call.status not in UNRECORDED_STATUSES]


def names(*spans: Span) -> list[str]:
    return [call.name for call in executed(*spans)]


def unordered(*spans: Span) -> set[frozenset[str]]:
    calls = executed(*spans)
    pairs = permutations(calls, 2)
    return {frozenset((one.name, other.name)) for one, other in pairs if are_unordered(one, other)}


class TestCallsThatOneAnswerAskedFor:
    ASKED = answer(0, asks(("1", "a"), ("2", "b"), ("3", "c")))

    @pytest.mark.parametrize("starts", list(permutations((10, 11, 12))), ids=str)
    def test_stand_in_the_order_asked_where_they_overlap(self, starts):
        spans = [tool(n, at, 50, call_id=i) for n, i, at in zip("abc", "123", starts, strict=True)]
        assert names(self.ASKED, *spans) == ["a", "b", "c"]
        assert unordered(self.ASKED, *spans) == set()

    @pytest.mark.parametrize("starts", list(permutations((10, 20, 30))), ids=str)
    def test_stand_so_too_where_each_was_over_before_the_next_thread_began(self, starts):
        spans = [tool(n, at, at + 5, call_id=i) for n, i, at in zip("abc", "123", starts, strict=True)]
        assert names(self.ASKED, *spans) == ["a", "b", "c"]

    def test_stand_as_they_ran_where_another_call_came_between(self):
        spans = [tool("b", 10, 12, call_id="2"), tool("other", 13, 14), tool("a", 15, 16, call_id="1")]
        assert names(self.ASKED, *spans) == ["b", "other", "a"]
        assert unordered(self.ASKED, *spans) == set()

    def test_stand_by_round_where_they_were_tried_again(self):
        first = [tool("b", 10, 14, call_id="2"), tool("a", 11, 13, call_id="1")]
        again = [tool("b", 20, 24, call_id="2"), tool("a", 21, 23, call_id="1")]
        assert names(self.ASKED, *first, *again) == ["a", "b", "a", "b"]

    def test_have_no_order_with_other_calls_that_overlap_them(self):
        spans = [tool("b", 10, 30, call_id="2"), tool("a", 11, 30, call_id="1"), tool("x", 12, 20)]
        assert names(self.ASKED, *spans) == ["a", "b", "x"]
        assert unordered(self.ASKED, *spans) == {frozenset("ax"), frozenset("bx")}

    def test_stand_after_calls_that_had_ended_before_any_that_they_stand_after(self):
        """a is asked before b, and x had ended when a began: so b, which began earlier, stands after x."""
        spans = [tool("b", 10, 30, call_id="2"), tool("x", 11, 14), tool("a", 15, 20, call_id="1")]
        assert names(self.ASKED, *spans) == ["x", "a", "b"]
        assert unordered(self.ASKED, *spans) == set()

    def test_have_their_nested_calls_after_them(self):
        spans = [
            tool("b", 10, 40, key=5, call_id="2"),
            tool("b.inner", 12, 14, parent=5),
            tool("a", 20, 40, key=6, call_id="1"),
            tool("a.inner", 22, 24, parent=6),
        ]
        order = names(self.ASKED, *spans)
        assert order.index("a") < order.index("b") < order.index("b.inner")
        assert order.index("a") < order.index("a.inner")

    def test_may_be_nested_themselves(self):
        sub = [
            tool("agent_tool", 2, 90, key=5),
            answer(3, asks(("8", "x"), ("9", "y")), parent=5),
            tool("y", 10, 20, parent=5, call_id="9"),
            tool("x", 11, 20, parent=5, call_id="8"),
        ]
        assert names(*sub) == ["agent_tool", "x", "y"]

    def test_are_those_of_the_latest_answer_that_asks_for_the_id(self):
        """Scripted models use their ids again."""
        later = answer(50, asks(("1", "c"), ("2", "a")))
        first = [tool("b", 10, 30, call_id="2"), tool("a", 11, 30, call_id="1")]
        second = [tool("a", 60, 80, call_id="2"), tool("c", 61, 80, call_id="1")]
        assert names(self.ASKED, *first, later, *second) == ["a", "b", "c", "a"]

    def test_are_told_apart_by_their_order_where_all_have_one_id(self):
        asked = answer(0, asks(("1", "a"), ("1", "b")))
        assert len(names(asked, tool("b", 10, 30, call_id="1"), tool("a", 11, 30, call_id="1"))) == 2


class TestWithoutIds:
    def test_calls_are_recognised_by_their_names_and_arguments(self):
        asked = answer(0, asks(("1", "get", {"n": 1}), ("2", "get", {"n": 2}), ("3", "put", {"n": 1})))
        spans = [
            tool("put", 10, 30, input={"n": 1}),
            tool("get", 11, 30, input={"n": 2}),
            tool("get", 12, 30, input={"n": 1}),
        ]
        calls = executed(asked, *spans)
        assert [(call.name, call.arguments["n"]) for call in calls] == [("get", 1), ("get", 2), ("put", 1)]

    def test_a_model_leaves_defaults_out(self):
        definition = ToolDefinition("get", (Parameter("n"), Parameter("unit", default="C")))
        asked = answer(0, asks((None, "get", {"n": 1}), (None, "put", {})))
        got = tool("get", 11, 30, input={"n": 1, "unit": "C"}, tool=definition)
        assert names(asked, tool("put", 10, 30), got) == ["get", "put"]

    def test_arguments_that_are_text_are_read(self):
        asked = answer(0, asks((None, "get", '{"n": 1}'), (None, "put", "")))
        assert names(asked, tool("put", 10, 30), tool("get", 11, 30, input={"n": 1})) == ["get", "put"]

    def test_the_answers_of_other_agents_do_not_count(self):
        helper = Span(
            trace_key=1, span_key=9, parent_key=1, name="helper", span_type="agent", start_ns=0, end_ns=99
        )
        asked = answer(0, asks((None, "a"), (None, "b")), parent=9)
        assert unordered(helper, asked, tool("b", 10, 30), tool("a", 11, 30)) == {frozenset("ab")}

    def test_two_same_calls_of_one_answer_are_two(self):
        asked = answer(0, asks((None, "a"), (None, "b"), (None, "a")))
        spans = [tool("a", 10, 30), tool("b", 11, 30), tool("a", 12, 30)]
        assert names(asked, *spans) == ["a", "b", "a"]


ANSWERS = {
    "as wrap records it": asks(("1", "a"), ("2", "b")),
    "several choices": [{"text": "no", "finish_reason": "stop"}, {**asks(("1", "a"), ("2", "b"))}],
    "OpenAI's completion": {
        "choices": [
            {
                "message": {
                    "role": "assistant",
                    "tool_calls": [
                        {"id": "1", "type": "function", "function": {"name": "a", "arguments": "{}"}},
                        {"id": "2", "type": "function", "function": {"name": "b", "arguments": "{}"}},
                    ],
                }
            }
        ]
    },
    "OpenAI's response": {
        "output": [
            {"type": "reasoning", "summary": []},
            {"type": "function_call", "id": "fc_1", "call_id": "1", "name": "a", "arguments": "{}"},
            {"type": "function_call", "id": "fc_2", "call_id": "2", "name": "b", "arguments": "{}"},
        ]
    },
    "Anthropic's message": {
        "role": "assistant",
        "content": [
            {"type": "text", "text": "I look"},
            {"type": "tool_use", "id": "1", "name": "a", "input": {}},
            {"type": "tool_use", "id": "2", "name": "b", "input": {}},
        ],
    },
    "messages with parts": [
        {
            "role": "assistant",
            "parts": [
                {"type": "tool_call", "id": "1", "name": "a", "arguments": {}},
                {"type": "tool_call", "id": "2", "name": "b", "arguments": {}},
            ],
        }
    ],
}


@pytest.mark.parametrize("output", ANSWERS.values(), ids=ANSWERS)
def test_answers_are_read_in_every_form(output):
    assert names(answer(0, output), tool("b", 10, 30, call_id="2"), tool("a", 11, 30, call_id="1")) == [
        "a",
        "b",
    ]
    assert names(answer(0, output), tool("b", 10, 30), tool("a", 11, 30)) == ["a", "b"]


@pytest.mark.parametrize(
    "output",
    [
        *("text", 7, [], {}, {"tool_calls": "x"}, {"tool_calls": [7, None, "x", {}, {"name": 5}]}),
        *({"content": {"content": {"content": []}}}, [[[[[[[[{"tool_calls": []}]]]]]]]]),
        {"tool_calls": [{"id": {"$truncated": 7}, "name": "a", "arguments": "{broken"}]},
    ],
    ids=repr,
)
def test_what_is_no_answer_orders_nothing(output):
    assert unordered(answer(0, output), tool("b", 10, 30), tool("a", 11, 30)) == {frozenset("ab")}


class TestOtherCalls:
    def test_that_overlap_have_no_order(self):
        assert unordered(tool("a", 10, 30), tool("b", 20, 40), tool("c", 30, 50)) == {
            frozenset("ab"),
            frozenset("bc"),
        }

    def test_that_a_coarse_clock_puts_together_stand_as_they_are(self):
        assert unordered(tool("a", 10, 11), tool("b", 10, 11, index=11)) == set()
        assert unordered(tool("a", 10, 10), tool("b", 10, 10, index=11)) == set()
        assert unordered(tool("a", 10, 20), tool("b", 20, 20, index=11), tool("c", 20, 30, index=12)) == set()

    def test_with_ends_that_are_missing_or_before_their_starts_stand_as_they_are(self):
        assert unordered(tool("a", 10, 0), tool("b", 11, 5), tool("c", 12, 0)) == set()

    def test_have_no_window_where_they_overlap_no_other(self):
        first, second, third = Trace(
            [ROOT, tool("a", 10, 12), tool("b", 11, 12), tool("c", 12, 13)]
        ).tool_calls
        assert first.window is not None
        assert second.window is not None
        assert third.window is None

    def test_stand_after_the_call_inside_which_they_were_made(self):
        outer, inner = tool("outer", 10, 30, key=5), tool("inner", 12, 20, parent=5)
        assert names(outer, inner) == ["outer", "inner"]
        assert unordered(outer, inner) == set()

    def test_inside_two_overlapping_ones_overlap_as_well(self):
        spans = [
            tool("A", 10, 50, key=5),
            tool("B", 11, 50, key=6),
            tool("A.1", 12, 20, parent=5),
            tool("B.1", 15, 25, parent=6),
            tool("B.2", 30, 40, parent=6),
        ]
        assert frozenset(("A.1", "B.1")) in unordered(*spans)
        assert frozenset(("A.1", "B.2")) not in unordered(*spans)
        assert frozenset(("A", "A.1")) not in unordered(*spans)

    def test_of_a_recorded_run_stand_in_the_order_of_the_list(self):
        message = {
            "role": "assistant",
            "tool_calls": [{"id": i, "function": {"name": n, "arguments": "{}"}} for i, n in ("1b", "2a")],
        }
        results = [{"role": "tool", "tool_call_id": i, "content": ""} for i in "21"]
        calls = Trace.from_messages([{"role": "user", "content": "x"}, message, *results]).tool_calls
        assert [(call.name, call.window) for call in calls] == [("b", None), ("a", None)]


@st.composite
def runs(draw: Any) -> list[Span]:
    """Tool spans, some inside others, some asked for by one of two answers."""
    keys = [f"{answer}{number}" for answer in "pq" for number in range(4)]
    first, second = (asks(*((key, "t") for key in some)) for some in (keys[:4], keys[4:]))
    spans = [answer(0, first), answer(1, second)]
    for number, call_id in enumerate(draw(st.lists(st.sampled_from([*keys, None]), max_size=7))):
        start, length = draw(st.integers(2, 14)), draw(st.integers(-1, 9))
        parent = draw(st.sampled_from([1, 1, 1, *(10 + n for n in range(number))]))
        key = 10 + number
        spans.append(tool(f"t{number}", start, start + length, key=key, parent=parent, call_id=call_id))
    return spans


@given(runs())
def test_an_order_is_found_that_breaks_nothing_that_is_known(drawn):
    calls = executed(*drawn)
    tools = {span.span_id: span for span in drawn if span.span_type == "tool"}
    assert sorted(call.span_id for call in calls) == sorted(tools)
    assert [call.index for call in calls] == sorted(call.index for call in calls)
    place = {call.span_id: call.index for call in calls}
    for span in tools.values():
        parent = tools.get(span.parent_id or "")
        assert parent is None or place[parent.span_id] < place[span.span_id]
    starts = [call.window.start_ns for call in calls if call.window is not None]
    assert starts == sorted(starts)
    assert all(call.window.start_ns <= call.window.end_ns for call in calls if call.window is not None)
    for one, other in permutations(calls, 2):
        assert are_unordered(one, other) == are_unordered(other, one)


def flat(drawn: list[tuple[int, int]]) -> list[Span]:
    return [tool(f"t{n}", start, start + length, key=10 + n) for n, (start, length) in enumerate(drawn)]


@given(st.lists(st.tuples(st.integers(2, 20), st.integers(1, 9)), max_size=7, unique=True))
def test_without_requests_calls_are_unordered_just_where_they_overlap(drawn):
    spans = flat(drawn)
    calls = executed(*spans)
    assert [call.start_ns for call in calls] == sorted(span.start_ns for span in spans)
    for one, other in permutations(calls, 2):
        overlap = one.start_ns < other.end_ns and other.start_ns < one.end_ns
        assert are_unordered(one, other) == overlap


@given(st.lists(st.tuples(st.integers(2, 20), st.integers(1, 9)), max_size=6, unique=True), st.randoms())
def test_one_answer_orders_all_that_it_asked_for(drawn, random):
    asked = list(range(len(drawn)))
    random.shuffle(asked)
    output = asks(*((str(n), f"t{n}") for n in asked))
    spans = [
        tool(f"t{n}", start, start + length, key=10 + n, call_id=str(n))
        for n, (start, length) in enumerate(drawn)
    ]
    calls = executed(answer(0, output), *spans)
    assert [call.name for call in calls] == [f"t{n}" for n in asked]
    assert not any(are_unordered(one, other) for one, other in permutations(calls, 2))


def test_fifty_thousand_calls_are_ordered():
    """In n log n: one after the other, all at once, all asked for at once and run backwards."""
    count = 50_000
    following = [tool("t", 10 * n, 10 * n + 5, key=10 + n) for n in range(1, count)]
    at_once = [tool("t", n, 10 * count + n, key=10 + n) for n in range(1, count)]
    asked = answer(0, asks(*((str(n), "t") for n in range(1, count))))
    backwards = [tool("t", count - n, 10 * count, key=10 + n, call_id=str(n)) for n in range(1, count)]
    assert len(names(*following)) == len(names(*at_once)) == count - 1
    calls = executed(asked, *backwards)
    assert [call.start_ns for call in calls] == [count - n for n in range(1, count)]
