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

# A generator of ours or of the interpreter that is closed just then cannot say so.
pytestmark = pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")

MOST_ALLOCATIONS = 120

OF_THE_FUNCTION = ("_at_function(", "_at_g.send(", "_at_g.asend(", "_at_g.athrow(", "await _at_w")


def returns(value):
    return value


async def returns_later(value):
    return value


def yields(value):
    got = yield value
    assert got is None
    yield 7
    return value


async def yields_later(value):
    yield value
    yield 7


def all_of(function):
    """The function of a value that goes through what `function` yields, and gives the value back."""

    def through(value):
        steps = function(value)
        first, second = next(steps), next(steps)
        try:
            next(steps)
        except StopIteration as end:
            return value if (first, second, end.value) == (value, 7, value) else "other items"
        return "more items"

    return through


def all_of_later(function):
    """The same for an async generator."""

    def through(value):
        steps = function(value)
        first, second = drive(steps.__anext__()), drive(steps.__anext__())
        try:
            drive(steps.__anext__())
        except (StopAsyncIteration, SystemError):  # the interpreter's own, without memory for the former
            return value if (first, second) == (value, 7) else "other items"
        return "more items"

    return through


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
    """Of all allocations; a wrapper calls the function or steps the generator, for which memory may fail as
    without us."""
    found = {outcome(function, value, number) for number in range(MOST_ALLOCATIONS)}
    return {place for place in found if not any(step in place for step in OF_THE_FUNCTION)}


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


@pytest.mark.parametrize("value", [5, {"a": [1, {"b": "c" * 50}]}, "x" * 500])
@pytest.mark.parametrize(("function", "through"), [(yields, all_of), (yields_later, all_of_later)])
def test_every_item_of_a_generator_comes_whichever_allocation_fails(tracer, function, through, value):
    observed = through(tracer.observe(function))
    for _ in range(3):
        observed(value)
    assert outcomes(observed, value) - {"outside"} == {"returned"}


@pytest.mark.parametrize("function", [yields, yields_later])
def test_a_generator_that_a_plain_function_returns_yields_whichever_allocation_fails(tracer, function):
    through = all_of if function is yields else all_of_later
    observed = through(tracer.observe(lambda value: function(value)))
    for _ in range(3):
        observed(5)
    assert outcomes(observed, 5) - {"outside"} == {"returned"}


@pytest.mark.parametrize("thrown", [KeyError("mine"), MemoryError("mine")])
def test_what_is_thrown_into_a_generator_comes_out_whichever_allocation_fails(tracer, thrown):
    def through(value):
        steps = observed(value)
        next(steps)
        try:
            steps.throw(thrown)
        except type(thrown) as error:
            if error is thrown:
                return value
            raise
        return "nothing raised"

    observed = tracer.observe(yields)
    for _ in range(3):
        through(5)
    assert outcomes(through, 5) - {"outside"} == {"returned"}


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
