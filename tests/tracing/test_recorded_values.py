"""Values as calls pass them are judged by what they are: in a capture, and as the store gives them back."""

import datetime
import math
from decimal import Decimal

import pytest
from stored import stored

from agenttrace.core.example import Example
from agenttrace.core.trace import Trace
from agenttrace.expectations import ANY, approx, call, gt, ref, type_
from agenttrace.scorers import LoopScorer, ToolOrderScorer


class Opaque:
    """Cannot be opened."""


@pytest.fixture
def judge(tracer):
    """The values of a scorer for a run, seen in its capture and read from the store."""

    def run(calls, *expected, scorer=None):
        tools = {}
        for name in ("find", "use"):
            tools[name] = tracer.observe(lambda x, name=name: x, name=name, span_type="tool")
        with tracer.capture() as captured:
            for name, value in calls:
                tools[name](value)
        example = Example(expected_tools=list(expected))
        spans = stored(tracer)
        traces = [captured.trace, Trace(spans)]
        return [(scorer or ToolOrderScorer()).score(example, trace).value for trace in traces]

    return run


@pytest.mark.parametrize(
    "value",
    [
        *(2**60, 10**40, Decimal("1.10"), math.nan, math.inf, b"ab", "\ud800", {1.0: "a"}, {"x": 2**60}),
        *([Decimal(2)], {1, 2}, datetime.datetime(2025, 6, 1, tzinfo=datetime.UTC)),
    ],
)
def test_a_call_with_the_expected_value_agrees(judge, value):
    assert judge([("find", value)], call("find", x=value)) == [1.0, 1.0]


def test_a_mapping_that_looks_like_a_mark_is_data(judge):
    assert judge([("find", {"$type": "x"})], call("find", x={"$$type": "x"})) == [1.0, 1.0]
    assert judge([("find", {"$type": "x"})], call("find", x={"$$type": "y"})) == [0.0, 0.0]


def test_matchers_see_numbers(judge):
    assert judge([("find", 2**60)], call("find", x=gt(5))) == [1.0, 1.0]
    assert judge([("find", Decimal("1.1"))], call("find", x=approx(1.1))) == [1.0, 1.0]
    assert judge([("find", math.inf)], call("find", x=type_(float))) == [1.0, 1.0]


def test_whether_an_object_that_was_not_opened_is_the_expected_one_cannot_be_told(judge):
    one = Opaque()
    assert judge([("find", one)], call("find", x=one)) == [None, None]
    assert judge([("find", one)], call("find", x=ANY)) == [1.0, 1.0]
    assert judge([("find", Opaque()), ("use", Opaque())], "find", call("use", x=ref("find.output"))) == [
        None,
        None,
    ]


def test_whether_calls_with_objects_that_were_not_opened_are_a_loop_cannot_be_told(judge):
    calls = [("find", Opaque()) for _ in range(4)]
    assert judge(calls, "find", scorer=LoopScorer()) == [None, None]
    assert judge([("find", 1)] * 4, "find", scorer=LoopScorer())[0] < 1.0
