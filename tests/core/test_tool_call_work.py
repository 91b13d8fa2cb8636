"""The work of reading a trace's tool calls grows with the trace, not with its square."""

import sys

import pytest

from agenttrace.core.span import Span
from agenttrace.core.trace import Trace


def tool(key, start, end, parent=1, name="search", **fields):
    return Span(trace_key=1, span_key=key, parent_key=parent, index=key, name=name, span_type="tool",
                start_ns=start, end_ns=end, input={"i": key}, **fields)  # fmt: skip


def answer(key, start, end, calls, parent=1, messages=()):
    return Span(trace_key=1, span_key=key, parent_key=parent, index=key, name="chat", span_type="llm",
                start_ns=start, end_ns=end, input={"messages": list(messages)},
                output={"tool_calls": calls})  # fmt: skip


def asked(number, name="search", key="c{}"):
    return {"id": key and key.format(number), "name": name, "arguments": {"n": number}}


def beside_answers_of_which_none_was_carried_out(size):
    for at in range(size):
        yield answer(2 * at + 2, 10 * at, 10 * at + 3, [asked(at)])
        yield tool(2 * at + 3, 10 * at + 4, 10 * at + 6, name="other")


def beside_answers_of_which_one_in_two_was_carried_out(size):
    for at in range(size):
        yield answer(2 * at + 2, 10 * at, 10 * at + 3, [asked(2 * at), asked(2 * at + 1)])
        yield tool(2 * at + 3, 10 * at + 4, 10 * at + 6)


def without_ids_answered_by_the_next_request(size):
    for at in range(size):
        told = [{"role": "tool", "name": "search", "content": "ok"}]
        yield answer(at + 2, 10 * at, 10 * at + 3, [asked(at, key=None)], messages=told)


def all_at_once(size):
    for at in range(size):
        yield answer(2 * at + 2, at, at + size, [asked(at)])
        yield tool(2 * at + 3, 2 * size + at, 4 * size + at)


def inside_one_another(size):
    for at in range(size):
        yield tool(at + 2, at, 10 * size - at, parent=at + 1, name=f"tool{at % 7}")


def below_a_chain_of_agents(size):
    for at in range(size):
        yield Span(trace_key=1, span_key=at + 2, parent_key=at + 1, index=at, name="work",
                   span_type="function", start_ns=at, end_ns=10 * size)  # fmt: skip
        yield answer(size + at + 2, at, 9 * size, [asked(at)], parent=at + 2)


SHAPES = [
    beside_answers_of_which_none_was_carried_out,
    beside_answers_of_which_one_in_two_was_carried_out,
    without_ids_answered_by_the_next_request,
    all_at_once,
    inside_one_another,
    below_a_chain_of_agents,
]


def steps(trace):
    """How many lines of Python run while the tool calls are worked out; a round of a loop counts, too."""
    count = 0

    def step(frame, event, argument):
        nonlocal count
        count += event == "line"
        return step

    before = sys.gettrace()
    sys.settrace(step)
    try:
        calls = trace.tool_calls
    finally:
        sys.settrace(before)
    assert calls
    return count


@pytest.mark.parametrize("shape", SHAPES)
def test_four_times_the_calls_take_four_times_the_steps(shape):
    small, large = (steps(Trace(shape(size), trace_key=1)) for size in (60, 240))
    assert large < 4.2 * small


def test_requests_stand_before_the_first_call_that_began_later_in_a_trace_out_of_order():
    """A call that counts as made late does not take what was asked for meanwhile behind it."""
    spans = [
        answer(2, 0, 5, [asked(1), asked(2), asked(3, "lost")]),
        tool(3, 40, 60, attributes={"gen_ai.tool.call.id": "c1"}),
        tool(4, 20, 70, attributes={"gen_ai.tool.call.id": "c2"}),
        answer(5, 10, 30, [asked(4, "late")]),
    ]
    calls = Trace(spans, trace_key=1).tool_calls
    assert [call.index for call in calls] == list(range(len(calls)))
    assert [call.name for call in calls] == ["late", "search", "search", "lost"]
