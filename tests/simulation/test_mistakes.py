# ruff: noqa: SIM117 - it is the end of a simulation's block that raises
"""What is simulated wrongly is an error, and never lets the real tool run."""

import asyncio
import math

import pytest

from agenttrace.core.errors import ConfigError, SimulationError
from agenttrace.simulation import Recording, cases, returns, sequence, slow, when


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ({"others": ""}, "other tools are 'real' or an 'error', got ''"),
        ({"others": False}, "other tools are 'real' or an 'error', got False"),
        ({"state": []}, "a state is a mapping"),
        ({"state": 0}, "a state is a mapping"),
        ({"later": 5}, "are a list of names, got 5"),
        ({"later": [5]}, "are a list of names"),
        ({"later": {"search": 1}}, "are a list of names"),
    ],
)
def test_an_option_of_another_type_is_an_error_also_where_it_is_false(tracer, desk, options, text):
    with pytest.raises(ConfigError, match=text):
        with tracer.simulate({"book": 1}, **options):
            desk.search("Paris")
    assert desk.ran == []


@pytest.mark.parametrize("names", [5, None, "search", {"search": 1}, [""], ["search", 7]])
def test_names_of_a_file_that_are_no_list_of_names_are_an_error(tracer, desk, names):
    with pytest.raises(ConfigError, match=r"simulate\.\$later: .* are a list of names"):
        tracer.simulate({"search": 1, "$later": names})


@pytest.mark.parametrize("seconds", [math.inf, 1e12, (0, math.inf)])
def test_a_latency_has_an_end(seconds):
    with pytest.raises(ConfigError, match="a latency is seconds"):
        slow(1, seconds)


def test_the_cases_of_a_tool_that_is_observed_later_are_checked_with_its_first_call(tracer):
    def agent(name):
        @tracer.observe(span_type="tool", name=name)
        def hidden(city):
            raise AssertionError("really")

        return hidden("Paris")

    misspelt = cases(when({"citty": "Paris"}, 1), otherwise=2)
    with pytest.raises(SimulationError, match="first takes no argument 'citty'; did you mean 'city'"):
        with tracer.simulate({"first": misspelt}, later=["first"]):
            agent("first")
    with pytest.raises(SimulationError, match="second takes no argument 'town'"):
        with tracer.simulate({"second": sequence(1, lambda town: 2)}, later=["second"]):
            agent("second")


def test_what_can_be_read_once_is_no_answer(tracer, desk):
    async def answer():
        raise AssertionError("awaited")

    coroutine = answer()
    for once in ((item for item in "ab"), coroutine):
        with pytest.raises(ConfigError, match="can be used once"):
            tracer.simulate({"search": once})
    coroutine.close()
    with pytest.raises(ConfigError, match=r"pages is a generator: .* an iterator, which can be read once"):
        with tracer.simulate({"pages": iter([1])}):
            raise AssertionError("the block ran")


def test_a_function_that_cannot_answer_a_generator_is_found_out_though_the_agent_swallows_it(tracer, desk):
    def agent():
        try:
            return list(desk.pages("x"))
        except Exception:
            return []

    with pytest.raises(SimulationError, match=r"pages is a generator: .* got NoneType None"):
        with tracer.simulate({"pages": lambda query: None}):
            agent()
    with tracer.simulate({"pages": lambda query: iter([query])}):
        assert agent() == ["x"]


def test_an_async_function_that_cannot_answer_a_generator_is_found_out(tracer, desk):
    async def agent():
        return [item async for item in desk.news("x")]

    async def nothing(query):
        return 5

    async def something(query):
        return [query]

    for function in (nothing, lambda query: 5):
        with pytest.raises(SimulationError, match=r"news is a generator: .* got int 5"):
            with tracer.simulate({"news": function}):
                asyncio.run(agent())
    with tracer.simulate({"news": something}):
        assert asyncio.run(agent()) == ["x"]


def test_a_function_that_answers_a_plain_tool_with_a_coroutine_is_found_out(tracer, desk):
    async def answer():
        raise AssertionError("awaited")

    with pytest.raises(SimulationError, match="search is no coroutine"):
        with tracer.simulate({"search": lambda city: answer()}):
            desk.search("x")


def test_none_is_an_answer_wherever_one_stands(tracer, desk):
    with tracer.simulate({"search": sequence(1, afterwards=None)}):
        assert [desk.search("x"), desk.search("x"), desk.search("x")] == [1, None, None]
    with tracer.simulate({"search": cases(when({"city": "x"}, 1), otherwise=None)}):
        assert desk.search("y") is None
    with tracer.simulate({"search": sequence(None, returns(None))}):
        assert desk.search("y") is None


def test_a_recorded_tool_that_is_a_plain_function_now_is_an_error_and_does_not_run(tracer):
    ran = []

    def lookup(city):
        ran.append(city)

    old = tracer.observe(span_type="tool")(lookup)
    with tracer.capture() as captured:
        old("Paris")
    ran.clear()
    del old
    new = tracer.observe(span_type="function")(lookup)
    with pytest.raises(ConfigError, match=r"lookup is observed as 'function' here, so it would really run"):
        with tracer.replay(captured.trace, complete=False):
            new("Paris")
    assert ran == []


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ({"ignore": 5}, "ignore has names of arguments, got 5"),
        ({"ignore": [5]}, "ignore has names of arguments"),
        ({"complete": "no"}, "complete is true or false, got 'no'"),
    ],
)
def test_an_option_of_a_recording_of_another_type_is_an_error(tracer, desk, options, text):
    with tracer.capture() as captured:
        desk.search("Paris")
    with pytest.raises(ConfigError, match=text):
        Recording(captured.trace, **options)


def test_an_exception_that_cannot_be_made_again_is_said_before_the_block(tracer):
    class Failing:
        error = None

    @tracer.observe(span_type="tool")
    def failing():
        raise Failing.error

    for error in (ExceptionGroup("two", [ValueError(1)]), UnicodeDecodeError("utf8", b"x", 0, 1, "why")):
        Failing.error = error
        with tracer.capture() as captured, pytest.raises(type(error)):
            failing()
        with pytest.raises(ConfigError, match=f"{type(error).__name__} cannot be made of its text again"):
            with tracer.replay(captured.trace):
                raise AssertionError("the block ran")


def test_where_functions_are_left_untouched_nothing_is_promised(tracer, desk, monkeypatch):
    monkeypatch.setenv("AGENTTRACE_ENABLED", "0")
    with pytest.raises(ConfigError, match="'hidden' cannot be simulated: AGENTTRACE_ENABLED"):
        with tracer.simulate({"hidden": 1}, later=["hidden"]):
            raise AssertionError("the block ran")
    with pytest.raises(ConfigError, match="so other tools would really run"):
        with tracer.simulate({"search": 1}, others="error"):
            raise AssertionError("the block ran")
