"""A tracer that keeps its spans in memory, with a way to get real spans from it."""

import sys
from pathlib import Path

import pytest

from agenttrace.tracer import Tracer

sys.path.insert(0, str(Path(__file__).parent))


@pytest.fixture
def tracer():
    tracer = Tracer("travel", store="memory")
    yield tracer
    tracer.shutdown()


@pytest.fixture
def run(tracer):
    """Runs a function as the root of a trace; gives the spans in the order of their start."""

    def run(function, *args, raises=None, **observed):
        root = tracer.observe(**observed)(function)
        with tracer.capture() as captured:
            if raises is None:
                root(*args)
            else:
                with pytest.raises(raises):
                    root(*args)
        return captured.trace.spans

    return run
