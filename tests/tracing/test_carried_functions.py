"""Observed closures and functions of notebooks, as cloudpickle and dill carry them to other processes.

Ray, Dask, joblib and Spark send functions by value that no module has under their name.
"""

import pickle
import subprocess
import sys
from contextvars import ContextVar

import pytest

cloudpickle = pytest.importorskip("cloudpickle", reason="cloudpickle is not installed")
PICKLERS = ["cloudpickle", "dill"]


def pickler(name):
    return pytest.importorskip(name, reason=f"{name} is not installed")


def plain(tracer, factor):
    @tracer.observe(span_type="tool", tags=["math"])
    def multiply(number, by=factor):
        return [number * factor, by]

    return multiply


def recursive(tracer, factor):
    @tracer.observe
    def count(number):
        return [factor] if number == 0 else count(number - 1)

    return count


def retried(tracer, factor):
    import functools

    def retry(function):
        @functools.wraps(function)
        def again(*args, **kwargs):
            return function(*args, **kwargs)

        return again

    @tracer.observe
    @retry
    def multiply(number):
        return [number * factor, factor]

    return multiply


def generator(tracer, factor):
    @tracer.observe
    def numbers(number):
        yield number * factor

    return numbers


MAKERS = [plain, recursive, retried, generator]

THERE = """
import pickle, sys
from agenttrace import Tracer
if sys.argv[1] == "traced":
    tracer = Tracer("there", store="memory")
function = pickle.loads(sys.stdin.buffer.read())
value = function(3)
print(list(value))
if sys.argv[1] == "traced":
    tracer.flush()
    (summary, *_) = tracer.store.traces()
    print(summary.name)
"""


def carried(name, function, mode):
    """What a process prints that gets the function."""
    content = pickler(name).dumps(function)
    done = subprocess.run([sys.executable, "-c", THERE, mode], input=content, capture_output=True, timeout=60)
    assert done.returncode == 0, done.stderr.decode()[-3000:]
    return done.stdout.decode().splitlines()


@pytest.mark.parametrize("make", MAKERS)
@pytest.mark.parametrize("name", PICKLERS)
def test_a_carried_function_is_recorded_by_the_tracer_that_is_there(tracer, name, make):
    function = make(tracer, 7)
    here = list(function(3))
    assert carried(name, function, "traced") == [str(here), function.__name__]


@pytest.mark.parametrize("name", PICKLERS)
def test_a_carried_function_does_its_work_where_there_is_no_tracer(tracer, name):
    assert carried(name, plain(tracer, 7), "plain") == ["[21, 7]"]


@pytest.mark.parametrize("name", PICKLERS)
def test_a_carried_tool_is_the_same_tool(tracer, name):
    function = plain(tracer, 7)
    again = pickle.loads(pickler(name).dumps(function))
    assert again(2) == [14, 7]
    first, second = (each.__agenttrace_observed__ for each in (function, again))
    assert second.definition == first.definition
    assert (second.name, second.span_type, second.names) == (first.name, first.span_type, first.names)


@pytest.mark.parametrize("name", PICKLERS)
def test_a_carried_function_that_is_observed_again_is_recorded_once(tracer, name):
    again = pickle.loads(pickler(name).dumps(plain(tracer, 7)))
    twice = tracer.observe(again)
    twice(2)
    tracer.flush()
    (summary,) = tracer.store.traces()
    assert summary.spans == 1


@pytest.mark.parametrize("name", PICKLERS)
def test_a_function_that_is_evaluated_is_carried_without_its_scorers(tracer, name):
    """What is told of the end of a call belongs to this process."""
    from agenttrace.scorers import ContainsScorer

    @tracer.observe(scorers=[ContainsScorer("a")])
    def tool(number):
        return [number, tracer_free]

    tracer_free = 1
    assert carried(name, tool, "traced") == ["[3, 1]", "tool"]


def test_a_context_variable_of_the_program_pickles_no_more_than_before():
    with pytest.raises(TypeError, match=r"cannot pickle .*ContextVar"):
        pickle.dumps(ContextVar("mine"))
