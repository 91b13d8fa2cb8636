"""Observed objects are, to everyone else, the objects themselves."""

import copy
import functools
import operator
import pickle

import pytest


def add(a, b=2):
    return a + b


class Counter:
    """Counts its calls."""

    def __init__(self):
        self.calls = 0

    def __call__(self, step=1):
        self.calls += step
        return self.calls

    def __eq__(self, other):
        return isinstance(other, Counter)

    __hash__ = None


class AsyncCallable:
    async def __call__(self, n):
        return n


def spans(tracer, observed, *args, **kwargs):
    with tracer.capture() as captured:
        observed(*args, **kwargs)
    return captured.trace.spans


class TestObjects:
    def test_that_can_be_called_are_recorded(self, tracer):
        """Scenario 36."""
        counter = Counter()
        observed = tracer.observe(counter)
        (span,) = spans(tracer, observed, step=3)
        assert (span.name, span.input, span.output) == ("Counter", {"step": 3}, 3)
        assert (observed.calls, counter.calls) == (3, 3)

    def test_keep_their_class_equality_and_attributes(self, tracer):
        counter = Counter()
        observed = tracer.observe(counter)
        assert isinstance(observed, Counter)
        assert observed == counter
        assert vars(counter) == {"calls": 0}, "nothing of ours is left on the object"
        observed.calls = 7
        assert counter.calls == 7

    def test_copy_as_the_object_does(self, tracer):
        observed = tracer.observe(Counter())
        for made in (copy.copy(observed), copy.deepcopy(observed), pickle.loads(pickle.dumps(observed))):
            made(5)
            assert (made.calls, observed.calls) == (5, 0)

    def test_with_an_async_call_are_recorded_when_awaited(self, tracer):
        with tracer.capture() as captured:
            coroutine = tracer.observe(AsyncCallable())(3)
            with pytest.raises(StopIteration):
                coroutine.send(None)
        assert captured.trace.spans[0].output == 3

    def test_called_wrongly_give_pythons_own_error(self, tracer):
        """Scenario 38."""
        with pytest.raises(TypeError, match="unexpected keyword argument 'stpe'"):
            tracer.observe(Counter())(stpe=1)


class TestBuiltinsAndPartials:
    @pytest.mark.parametrize(
        ("function", "arguments", "output"),
        [
            (len, [[1, 2]], 2),
            (max, [1, 5], 5),
            (operator.add, [1, 2], 3),
            (str.upper, ["a"], "A"),
            (sorted, ["ba"], ["a", "b"]),
        ],
    )
    def test_are_recorded(self, tracer, function, arguments, output):
        """Scenario 36."""
        (span,) = spans(tracer, tracer.observe(function), *arguments)
        assert (span.name, span.output) == (function.__name__, output)

    def test_of_a_partial_the_arguments_given_later_are_recorded(self, tracer):
        (span,) = spans(tracer, tracer.observe(functools.partial(add, b=5)), 1)
        assert (span.name, span.input, span.output) == ("add", {"a": 1, "b": 5}, 6)

    def test_a_partial_pickles(self, tracer):
        """Scenario 39."""
        observed = tracer.observe(functools.partial(add, b=5))
        assert pickle.loads(pickle.dumps(observed))(1) == 6

    def test_a_cached_function_keeps_its_cache(self, tracer):
        """Scenario 36."""
        observed = tracer.observe(functools.cache(add))
        assert [len(spans(tracer, observed, 1)) for _ in range(3)] == [1, 1, 1]
        assert observed.cache_info().hits == 2
        observed.cache_clear()

    def test_a_cached_method_stays_a_method(self, tracer):
        class Agent:
            @tracer.observe
            @functools.lru_cache(maxsize=8)  # noqa: B019
            def ask(self, question, deep=False):
                return question

        agent = Agent()
        (span,) = spans(tracer, agent.ask, "why")
        assert span.input == {"question": "why", "deep": False}
        (span,) = spans(tracer, Agent.ask, agent, "how")
        assert span.input == {"question": "how", "deep": False}

    def test_a_bound_method_is_recorded_without_its_instance(self, tracer):
        (span,) = spans(tracer, tracer.observe(Counter().__call__), 2)
        assert (span.input, span.output) == ({"step": 2}, 2)
