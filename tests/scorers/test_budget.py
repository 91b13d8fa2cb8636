import pytest

from agenttrace.core.errors import ScorerError
from agenttrace.core.example import Example
from agenttrace.core.identity import new_span_key, new_trace_key
from agenttrace.core.span import Span
from agenttrace.core.trace import Trace
from agenttrace.scorers import BudgetScorer

KEY, ROOT = new_trace_key(), new_span_key()


def span(**fields):
    return Span(trace_key=KEY, span_key=new_span_key(), parent_key=ROOT, **fields)


RUN = Trace(
    [
        Span(trace_key=KEY, span_key=ROOT, name="run", start_ns=0, end_ns=2_500_000_000),
        span(name="llm", span_type="llm", usage={"input_tokens": 1_000, "output_tokens": 234, "cost": 0.01}),
        span(name="llm", span_type="llm", usage={"total_tokens": 1_000_000, "cost": 0.005}),
        span(name="find", span_type="tool"),
        span(name="find", span_type="tool"),
        span(name="pay", span_type="tool"),
    ]
)


def scored(trace=RUN, **limits):
    return BudgetScorer(**limits).score(Example(), trace)


def test_the_score_is_the_share_of_limits_that_were_kept():
    score = scored(calls=2, seconds=3, tokens=2_000_000, cost=0.01)
    assert score.value == 0.5
    assert score.reason == (
        "2 of 4 limits kept: calls 3 of 2, seconds 2.5 of 3, "
        "tokens 1,001,234 of 2,000,000, cost 0.015 of 0.01"
    )
    assert score.details["calls"] == {"spent": 3, "limit": 2, "held": False}


def test_a_budget_used_up_to_the_last_is_kept():
    assert scored(calls=3, seconds=2.5, cost=0.015).value == 1.0


def test_only_chosen_calls_are_counted():
    assert scored(calls=1, tools="pay").value == 1.0


@pytest.mark.parametrize("word", ["seconds", "tokens", "cost"])
def test_a_limit_on_what_the_trace_does_not_tell_is_an_error(word):
    plain = Trace.from_calls(["find"])
    assert scored(plain, calls=1).value == 1.0
    with pytest.raises(ScorerError, match=f"limits {word}, and the trace does not tell"):
        scored(plain, **{word: 1})


@pytest.mark.parametrize(
    "given", [{}, {"calls": -1}, {"tokens": "10"}, {"cost": float("nan")}, {"calls": True}]
)
def test_limits_that_are_none_are_refused(given):
    with pytest.raises(ScorerError, match=r"needs a limit|is a number from 0"):
        BudgetScorer(**given)
