"""Lets the tests of this room import their fakes."""

import sys
from pathlib import Path

import pytest
from agenttrace.tracing.capture import Capture
from agenttrace.tracing.decorator import observe_with
from agenttrace.tracing.outlet import Nowhere
from agenttrace.tracing.pipeline import Pipeline
from agenttrace.tracing.record import Recorder

sys.path.insert(0, str(Path(__file__).parent))


class FakeTracer:
    """Records for captures, keeps nothing itself; results go to `store`."""

    project_name = "fake"

    def __init__(self, store=None):
        self.store = store
        pipeline = Pipeline(Nowhere(), limit=1000)
        self.recorder = Recorder("fake", lambda: pipeline)

    def observe(self, function=None, **options):
        if function is None:
            return lambda given: observe_with(self.recorder, given, **options)
        return observe_with(self.recorder, function, **options)

    def tool(self, function):
        return self.observe(function, span_type="tool")

    def capture(self):
        return Capture(self.recorder)


@pytest.fixture
def tracer():
    return FakeTracer()
