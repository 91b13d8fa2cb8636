"""What a score says of a state is shown as its diff: its rows are places, no calls."""

from agenttrace import Example, StateScorer, Tracer
from agenttrace.viewer import scores


def test_rows_of_a_state_are_told_from_rows_of_calls():
    tracer = Tracer("states", store="memory")
    state = {"n": 1}
    with tracer.capture() as captured:
        tracer.state("db", state)
        state["n"] = 2
    score = StateScorer().score(Example(expected_state={"db": {"only": True}}), captured.trace)
    assert scores._are_of_states(score.details["rows"])
    assert not scores._are_of_states([{"kind": "matched", "expected": "refund"}])
    tracer.shutdown()
