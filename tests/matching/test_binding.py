"""Expected arguments are bound through the tool that was called, also where two tools share a name."""

import pytest

from agenttrace import ExpectationError, ToolOrderScorer, Tracer, call
from agenttrace.core.example import Example
from agenttrace.core.tool import Parameter, ToolDefinition
from agenttrace.core.trace import Trace
from agenttrace.matching import compare
from agenttrace.store import MemoryStore


@pytest.fixture
def trace():
    tracer = Tracer("two of a name", store=MemoryStore())

    class Flights:
        @tracer.observe(span_type="tool")
        def search(self, city, seats=1):
            return "flight"

    class Hotels:
        @tracer.observe(span_type="tool")
        def search(self, place, nights=2):
            return "hotel"

    with tracer.capture() as captured:
        Flights().search("Paris")
        Hotels().search("Rome")
    tracer.shutdown()
    return captured.trace


@pytest.mark.parametrize(
    "expected",
    [
        [call("search", city="Paris")],
        [call("search", place="Rome")],
        [call("search", city="Paris", seats=1), call("search", place="Rome", nights=2)],
    ],
)
def test_each_call_is_bound_through_its_own_definition(trace, expected):
    assert ToolOrderScorer().score(Example(expected_tools=expected), trace).value == 1.0


@pytest.mark.parametrize(
    "expected",
    [
        [call("search", city="Rome")],
        [call("search", place="Rome"), call("search", city="Paris")],
        [call("search", city="Paris", seats=2)],
    ],
)
def test_what_fits_one_definition_does_not_agree_with_a_call_of_the_other(trace, expected):
    assert ToolOrderScorer().score(Example(expected_tools=expected), trace).value == 0.0


def test_a_parameter_that_no_definition_has_is_an_error(trace):
    with pytest.raises(ExpectationError, match="town"):
        ToolOrderScorer().score(Example(expected_tools=[call("search", town="Paris")]), trace)


def test_an_argument_that_a_tool_takes_by_any_name_can_be_ignored() -> None:
    tool = ToolDefinition("f", (Parameter("x"), Parameter("more", "var_keyword")))
    calls = [{"name": "f", "arguments": {"x": 1, "more": {"y": 2, "z": 3}}}]
    run = Trace(Trace.from_calls(calls).spans, tools={"f": tool})
    for arguments in ({"x": 1, "z": 3}, {"x": 1, "y": 9, "z": 3}):
        assert compare([call("f", arguments, ignore=["y"])], run, mode="exact").holds
    assert not compare([call("f", {"x": 1, "z": 4}, ignore=["y"])], run).holds


def test_an_argument_may_be_called_like_the_parameter_that_takes_any_name() -> None:
    tool = ToolDefinition("f", (Parameter("kw", "var_keyword"),))
    assert tool.bind({"kw": 1}) == {"kw": {"kw": 1}}
    assert tool.bind({"kw": 1, "b": 2}) == {"kw": {"b": 2, "kw": 1}}
    assert tool.bind({"kw": {"a": 1}}) == {"kw": {"a": 1}}
    assert tool.bind({"kw": {"a": 1}, "b": 2}) == {"kw": {"b": 2, "kw": {"a": 1}}}
