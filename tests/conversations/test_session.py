"""The traces of one session are scored as one conversation."""

import pytest

from agenttrace import Example, ToolOrderScorer, Tracer, TurnsScorer
from agenttrace.conversations import session_trace
from agenttrace.core.errors import ConfigError


def served(numbered):
    """Three requests of a session, each a trace of its own, as a server stores them."""
    tracer = Tracer("server", store="memory")

    @tracer.observe(span_type="tool")
    def find(order):
        return order

    @tracer.observe
    def handle(message):
        tracer.set_session_id("s-1")
        return f"{message}: {find(7)}"

    traces = []
    for number, message in enumerate(("a", "b", "c"), 1):
        with tracer.capture() as captured:
            if numbered:
                with tracer.turn(number) as turn:
                    tracer.set_session_id("s-1")
                    turn.output = handle(message)
            else:
                handle(message)
        traces.append(captured.trace)
    tracer.shutdown()
    return traces


@pytest.mark.parametrize("numbered", [False, True])
def test_each_trace_of_a_session_is_a_turn(numbered):
    traces = served(numbered)
    whole = session_trace(reversed(traces))
    assert (whole.turns, whole.session_id) == ({1, 2, 3}, "s-1")
    assert [call.turn for call in whole.tool_calls] == [1, 2, 3]
    turns = [{"expected_output": f"{m}: 7", "expected_tools": ["find"]} for m in "abc"]
    assert TurnsScorer().score(Example(turns=turns), whole).value == 1.0
    assert ToolOrderScorer(exact_match=True).score(Example(expected_tools=["find"] * 3), whole).value == 1.0


def test_traces_of_different_sessions_are_no_conversation():
    tracer = Tracer("server", store="memory")
    traces = served(False)[:1]
    with tracer.capture() as captured, tracer.span("other"):
        pass
    tracer.shutdown()
    with pytest.raises(ConfigError, match="different sessions: None, 's-1'"):
        session_trace([*traces, captured.trace])
    with pytest.raises(ConfigError, match="no traces"):
        session_trace([])
