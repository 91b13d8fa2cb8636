"""A missing call whose name ran as a span of another type: the likeliest first mistake is said as such."""

import pytest

from agenttrace import Example, Tracer
from agenttrace.core.errors import ExpectationError
from agenttrace.scorers import ToolOrderScorer, TrajectoryScorer
from agenttrace.tracing import observed_function


@pytest.fixture(autouse=True)
def _no_tools_of_other_files(monkeypatch):
    """Whether a tool is known decides how it is said; other modules of tests have tools, too."""
    monkeypatch.setattr(observed_function, "_tools", {})


@pytest.fixture
def tracer():
    tracer = Tracer("shop", store="memory")
    yield tracer
    tracer.shutdown()


EXAMPLE = Example(expected_tools=["find_lost_parcel"])


@pytest.mark.parametrize("scorer", [ToolOrderScorer(), TrajectoryScorer()])
def test_the_reason_says_as_what_it_was_recorded(tracer, scorer):
    @tracer.observe
    def find_lost_parcel(order):
        return order

    with tracer.capture() as captured:
        find_lost_parcel(7)
    score = scorer.score(EXAMPLE, captured.trace)
    assert score.value == 0.0
    assert "find_lost_parcel ran, recorded as a span of type 'function'" in score.reason
    assert "observe(span_type='tool')" in score.reason


def test_so_does_the_error_where_other_tools_are_known(tracer):
    @tracer.observe
    def find_lost_parcel(order):
        return order

    @tracer.observe(span_type="tool")
    def pay(order):
        return order

    with tracer.capture() as captured:
        find_lost_parcel(7)
        pay(7)
    with pytest.raises(ExpectationError, match="find_lost_parcel ran, recorded as a span of type 'function'"):
        ToolOrderScorer().score(EXAMPLE, captured.trace)


def test_nothing_is_said_of_calls_that_were_made_or_never_ran(tracer):
    @tracer.observe(span_type="tool")
    def find_lost_parcel(order):
        return order

    @tracer.observe(span_type="agent")
    def agent(order):
        find_lost_parcel(order)

    with tracer.capture() as captured:
        agent(7)
        with tracer.span("find_lost_parcel"):  # of its name, and of another type
            pass
    twice = Example(expected_tools=["find_lost_parcel", "find_lost_parcel"])
    assert "ran, recorded" not in ToolOrderScorer().score(twice, captured.trace).reason


def test_a_type_that_is_nearly_one_of_ours_is_logged(tracer, caplog):
    tracer.observe(span_type="toool")(print)
    assert "span_type 'toool' is one of your own; did you mean 'tool'?" in caplog.text
