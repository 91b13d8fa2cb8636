"""Scorers, stores and tracers that do as they are told."""

import pytest

from agenttrace.core.score import Score
from agenttrace.store import MemoryStore
from agenttrace.tracer import Tracer


class ToolTracer(Tracer):
    """A tracer with a short word for tools."""

    def tool(self, function):
        return self.observe(function, span_type="tool")


@pytest.fixture
def tracer():
    tracer = ToolTracer("fake", store=MemoryStore())
    yield tracer
    tracer.shutdown()


class Answer:
    """1 where the output is the expected one."""

    name = "Answer"
    threshold = 1.0

    def score(self, example, trace):
        same = example.actual_output == example.expected_output
        return Score.of(self.name, float(same), self.threshold, reason="output against expectation")


class Calls:
    """1 where the names of the calls are the expected ones."""

    name = "Calls"
    threshold = 1.0

    def score(self, example, trace):
        called = [call.name for call in trace.tool_calls]
        expected = [tool if isinstance(tool, str) else tool["tool_name"] for tool in example.expected_tools]
        return Score.of(self.name, float(called == expected), self.threshold, reason=f"called {called}")


class Does:
    """Scores by a function of the example and the trace."""

    threshold = 0.5

    def __init__(self, score, name="Does"):
        self.score = score
        self.name = name


def scored(value, name="Does", **more):
    return Score.of(name, value, 0.5, **more)


class MemoryResults:
    """Keeps what an evaluation stores."""

    def __init__(self, broken=False):
        self.broken = broken
        self.reports = []
        self.spans = []

    def write(self, batch):
        self.spans += batch.spans

    def write_report(self, report):
        if self.broken:
            raise OSError("disk full")
        self.reports.append(report)
