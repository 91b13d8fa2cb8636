"""A call that succeeds without us succeeds where there is no memory left to record it with.

`test_no_memory` runs these in a process of their own.
"""

import gc
import traceback
from weakref import WeakSet

import pytest

from agenttrace.tracer import Tracer
from agenttrace.tracing import stand_in
from agenttrace.tracing.context import current

memory = pytest.importorskip("_testcapi", reason="this Python has no module that refuses memory")

MOST_ALLOCATIONS = 120


def returns(value):
    return value


async def returns_later(value):
    return value


def drive(coroutine):
    try:
        coroutine.send(None)
    except StopIteration as end:
        return end.value


def outcome(function, value, number):
    """What comes of a call in which the allocation of this number fails: *returned*, or where it was."""
    result = error = None
    memory.set_nomemory(number, number + 1)
    try:
        result = function(value)
    except MemoryError as raised:
        error = raised
    finally:
        memory.remove_mem_hooks()
    current.set(None)
    if error is None:
        assert result is value
        return "returned"
    place = traceback.extract_tb(error.__traceback__)[-1]
    return "outside" if place.filename == __file__ else place.line


def outcomes(function, value):
    """Of all allocations; a wrapper calls the function, for which memory may fail as without us."""
    found = {outcome(function, value, number) for number in range(MOST_ALLOCATIONS)}
    return {place for place in found if "_at_function(" not in place}


@pytest.fixture
def tracer(monkeypatch):
    # A simulation of another test that is not collected yet would put something between wrapper and function.
    monkeypatch.setattr(stand_in, "_alive", WeakSet())
    tracer = Tracer("no memory", store="memory")
    gc.disable()
    yield tracer
    gc.enable()
    tracer.shutdown()


@pytest.mark.parametrize("value", [5, {"a": [1, {"b": "c" * 50}]}, "x" * 500])
@pytest.mark.parametrize("is_nested", [True, False])
def test_a_functions_value_is_returned_whichever_allocation_fails(tracer, value, is_nested):
    observed = tracer.observe(returns)
    outer = tracer.observe(lambda value: observed(value)) if is_nested else observed
    for _ in range(3):
        outer(value)
    assert outcomes(outer, value) - {"outside"} == {"returned"}


def test_a_coroutine_fails_only_where_it_would_without_us(tracer):
    observed = tracer.observe(returns_later)
    assert outcomes(lambda value: drive(observed(value)), 5) - {"outside"} == {"returned"}


def test_a_memory_error_of_the_functions_own_is_recorded_as_such(tracer):
    @tracer.observe
    def full():
        raise MemoryError("mine")

    with tracer.capture() as captured, pytest.raises(MemoryError, match="mine"):
        full()
    (span,) = captured.trace.spans
    assert (span.status, span.error.type, span.error.message) == ("error", "MemoryError", "mine")


def test_calls_are_recorded_again_when_there_is_memory(tracer):
    observed = tracer.observe(returns)
    for number in range(MOST_ALLOCATIONS):
        outcome(observed, 5, number)
    assert tracer.stats()["recording_errors"] > 0
    with tracer.capture() as captured:
        observed(6)
    assert [span.output for span in captured.trace.spans] == [6]
