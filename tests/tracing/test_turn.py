"""`tracer.turn()`: the calls of a live run know which turn of the conversation they belong to."""

from __future__ import annotations

import asyncio
from enum import StrEnum

import pytest

from agenttrace import Example, Trace, Tracer, call, expect, run_evaluation
from agenttrace.core.errors import ConfigError
from agenttrace.scorers import ExecutionOrderScorer, ToolOrderScorer, TrajectoryScorer


@pytest.fixture
def look_up(tracer):
    @tracer.observe(span_type="tool")
    def look_up(what):
        return what

    return look_up


def turns(trace):
    return [(call.arguments["what"], call.turn) for call in trace.tool_calls]


def passes(expected, trace):
    return TrajectoryScorer(expected=expected).score(Example(), trace).outcome


def test_calls_in_a_turn_have_its_number_in_one_trace(tracer, look_up):
    @tracer.observe(span_type="agent")
    def chat():
        look_up("before")
        with tracer.turn():
            look_up("a")
        with tracer.turn():
            with tracer.span("plan"):
                look_up("b")
            look_up("c")

    with tracer.capture() as captured:
        chat()
    assert turns(captured.trace) == [("before", None), ("a", 1), ("b", 2), ("c", 2)]
    assert captured.trace.turns == {1, 2}
    assert [span.name for span in captured.trace.spans if span.span_type == "turn"] == ["turn 1", "turn 2"]


def test_turns_are_counted_through_the_roots_of_one_capture(tracer, look_up):
    with tracer.capture() as captured:
        for what in ("a", "b"):
            with tracer.turn():
                look_up(what)
    assert turns(captured.trace) == [("a", 1), ("b", 2)]


def test_where_each_turn_is_a_trace_of_its_own_its_number_is_given(tracer, look_up):
    for number in (1, 2):
        with tracer.turn(number) as span:
            tracer.set_session_id("ann")
            look_up("a")
        trace_id = span.trace_id
    assert tracer.flush()
    trace = tracer.store.trace(trace_id)
    assert turns(trace) == [("a", 2)]
    assert passes(expect(["look_up"], turn=2), trace) == "passed"
    assert passes(expect(["look_up"], turn=1), trace) == "failed"


def test_counting_goes_on_from_a_number_that_was_given(tracer, look_up):
    with tracer.capture() as captured:
        with tracer.turn(7):
            look_up("a")
        with tracer.turn():
            look_up("b")
    assert turns(captured.trace) == [("a", 7), ("b", 8)]


def test_an_expectation_about_a_turn_holds_live_in_the_store_and_from_messages(tracer, look_up):
    with tracer.capture() as captured:
        for what in ("a", "b"):
            with tracer.turn():
                look_up(what)
    assert tracer.flush()

    def message(what):
        function = {"name": "look_up", "arguments": f'{{"what": "{what}"}}'}
        return [
            {"role": "user", "content": what},
            {"role": "assistant", "tool_calls": [{"id": what, "function": function}]},
            {"role": "tool", "tool_call_id": what, "content": what},
        ]

    stored = tracer.store.trace(captured.trace.trace_id)
    for trace in (captured.trace, stored, Trace.from_messages([*message("a"), *message("b")])):
        assert passes(expect([call("look_up", what="b")], turn=2), trace) == "passed"
        assert passes(expect([call("look_up", what="a")], turn=2), trace) == "failed"
        assert passes([call("look_up", turn=2), call("look_up", turn=2)], trace) == "failed"
        assert passes(expect([], turn=3), trace) == "passed"


def test_without_turns_an_expectation_about_one_is_errored_and_not_missing(tracer, look_up):
    example = Example(input="a", expected_tools=expect(["look_up"], turn=2))
    (result,) = run_evaluation([example], [ToolOrderScorer()], function=look_up, tracer=tracer)
    (score,) = result.scores
    assert score.outcome == "errored"
    assert "the expectation is about turn 2, and the run has no turns" in score.reason
    assert "with tracer.turn():" in score.reason


def test_coroutines_have_their_turn_too(tracer, look_up):
    async def chat(what):
        with tracer.turn():
            await asyncio.sleep(0)
            look_up(what)

    with tracer.capture() as captured:
        asyncio.run(chat("a"))
    assert turns(captured.trace) == [("a", 1)]


def test_a_turn_within_a_turn_counts_for_what_is_in_it(tracer, look_up):
    with tracer.capture() as captured, tracer.turn():
        with tracer.turn():
            look_up("inner")
        look_up("outer")
    assert turns(captured.trace) == [("inner", 2), ("outer", 1)]


def test_what_runs_in_a_turn_may_be_said_on_its_span(tracer):
    with tracer.capture() as captured, tracer.turn() as turn:
        turn.input, turn.output = "hello", "hi"
    assert (captured.trace.input, captured.trace.output) == ({"input": "hello"}, "hi")


def test_a_turn_is_no_node_of_a_graph(tracer):
    with tracer.capture() as captured, tracer.span("chat"), tracer.turn(), tracer.span("plan"):
        pass
    scorer = ExecutionOrderScorer(actions="nodes")
    assert scorer.score(Example(expected_output=["plan"]), captured.trace).passed


def test_a_turn_that_is_not_recorded_changes_nothing():
    tracer = Tracer(enabled=False)
    with tracer.turn() as span:
        assert not span.recorded


class Hostile:
    def __repr__(self):
        raise RuntimeError("mine")

    __eq__ = __ne__ = __hash__ = __str__ = __repr__


class Kind(StrEnum):
    TOOL = "tool"
    STEP = "step"


@pytest.mark.parametrize("number", [0, -1, 1.5, True, "2", 10**5000], ids=range(6))
def test_a_turn_with_a_number_that_is_none_is_counted(tracer, number):
    """It may come from data: the agent goes on."""
    with tracer.capture() as captured, tracer.span("chat"):
        with tracer.turn(), tracer.span("plan"):
            pass
        with tracer.turn(number):
            pass
    assert [span.name for span in captured.trace.spans if span.span_type == "turn"] == ["turn 1", "turn 2"]


@pytest.mark.parametrize(
    ("given", "recorded"),
    [
        ("", "function"),
        (None, "function"),
        (5, "function"),
        (10**5000, "function"),
        ("TOOL", "tool"),
        (Hostile(), "function"),
        (Kind.TOOL, "tool"),
        (Kind.STEP, "step"),
        ("Step", "Step"),
    ],
    ids=range(9),
)
def test_a_type_that_cannot_be_one_is_recorded_as_a_functions(tracer, given, recorded):
    with tracer.capture() as captured, tracer.span("x", span_type=given):
        pass
    assert captured.trace.spans[0].span_type == recorded


def test_a_block_is_entered_once(tracer):
    turn = tracer.turn()
    with turn:
        pass
    with pytest.raises(ConfigError, match="opened a second time"), turn:
        pass


def test_a_number_of_a_hostile_class_raises_nothing(tracer):
    class Hostile:
        @property
        def __class__(self):
            raise RuntimeError("no class")

    class Unequal(int):
        def __ge__(self, other):
            raise RuntimeError("not compared")

        __le__ = __gt__ = __lt__ = __eq__ = __ge__
        __hash__ = int.__hash__

    with tracer.capture() as captured:
        with tracer.turn(Hostile()):
            pass
        with tracer.turn(Unequal(3)):
            pass
    assert [span.name for span in captured.trace.spans] == ["turn 1", "turn 3"]
