# ruff: noqa: PT012, SIM117 - it is the end of a simulation's block that raises
"""What simulated tools answer, in each way in which functions are called."""

import asyncio
import json
from types import SimpleNamespace

import pytest

from agenttrace import re_
from agenttrace.core.errors import ConfigError, SimulationError
from agenttrace.simulation import (
    Simulation,
    cases,
    faulty,
    performing,
    raises,
    real,
    returns,
    sequence,
    slow,
    when,
)


async def items_of(stream):
    return [item async for item in stream]


def test_a_fixed_value_is_returned_and_the_tool_does_not_run(tracer, desk):
    with tracer.simulate({"search": ["a"]}):
        assert desk.search("Paris") == ["a"]
    assert desk.ran == []
    assert desk.search("Paris") == "really Paris"


def test_every_call_style_is_answered_in_its_own_way(tracer, desk):
    answers = {"search": 1, "book": 2, "pages": ["p", "q"], "news": ["n"]}
    with tracer.capture() as captured, tracer.simulate(answers) as run:
        assert desk.search("Paris") == 1
        assert asyncio.run(desk.book("Ritz")) == 2
        assert list(desk.pages("x")) == ["p", "q"]
        assert asyncio.run(items_of(desk.news("x"))) == ["n"]
    assert desk.ran == []
    assert [call.name for call in run.calls] == ["search", "book", "pages", "news"]
    assert run.calls[0].arguments == {"city": "Paris", "nights": 1}
    assert [call.output for call in captured.trace.tool_calls] == [1, 2, ["p", "q"], ["n"]]
    assert {span.attributes["agenttrace.simulated"] for span in captured.trace.spans} == {"return"}


def test_a_returned_container_is_a_new_one_each_time(tracer, desk):
    with tracer.simulate({"search": {"rooms": [1]}}):
        desk.search("Paris")["rooms"].append(2)
        assert desk.search("Paris") == {"rooms": [1]}


def test_a_returned_object_is_the_very_same(tracer, desk):
    thing = object()
    with tracer.simulate({"search": returns(thing)}):
        assert desk.search("Paris") is thing


def test_a_sequence_answers_one_call_after_another_and_its_end_is_an_error(tracer, desk):
    with pytest.raises(SimulationError, match=r"search\(city='Rome', nights=1\).* 2 answers, .* call 3"):
        with tracer.simulate({"search": sequence(1, raises(TimeoutError, "late"))}):
            assert desk.search("Paris") == 1
            with pytest.raises(TimeoutError, match="late"):
                desk.search("Paris")
            desk.search("Rome")
    assert desk.ran == []


def test_a_sequence_may_say_what_comes_afterwards(tracer, desk):
    with tracer.simulate({"search": sequence(1, afterwards=9)}):
        assert [desk.search("x") for _ in range(3)] == [1, 9, 9]


def test_cases_answer_by_arguments_with_matchers(tracer, desk):
    answer = cases(
        when({"city": "Paris", "nights": 2}, "two nights"),
        when({"city": re_("^P")}, "P"),
        when({"city": lambda city: len(city) > 6}, raises(KeyError, "long")),
        otherwise="other",
    )
    with tracer.simulate({"search": answer}):
        assert desk.search("Paris", nights=2) == "two nights"
        assert desk.search("Paris") == "P"
        assert desk.search("Rome") == "other"
        with pytest.raises(KeyError, match="long"):
            desk.search("Amsterdam")


def test_a_call_that_no_case_fits_is_an_error_and_does_not_run(tracer, desk):
    with pytest.raises(SimulationError, match="none of its 1 cases fits"):
        with tracer.simulate({"search": cases(when({"city": "Paris"}, 1))}):
            desk.search("Rome")
    assert desk.ran == []


def test_an_error_that_the_agent_swallowed_is_raised_at_the_end_of_the_block(tracer, desk):
    def agent():
        try:
            return desk.search("Rome")
        except Exception:
            return "sorry"

    with pytest.raises(SimulationError, match="Rome"):
        with tracer.simulate({"search": cases(when({"city": "Paris"}, 1))}):
            assert agent() == "sorry"


def test_another_error_of_the_agent_gets_a_note(tracer, desk):
    with pytest.raises(ZeroDivisionError) as caught:
        with tracer.simulate({"search": sequence(1)}):
            desk.search("Paris")
            try:
                desk.search("Paris")
            except SimulationError:
                raise ZeroDivisionError from None
    assert "in the simulation: search" in caught.value.__notes__[0]


def test_exceptions_are_new_ones_of_the_right_type(tracer, desk):
    caught = []
    given = json.JSONDecodeError("bad", "doc", 1)
    with tracer.simulate({"search": given}):
        for _ in range(2):
            with pytest.raises(json.JSONDecodeError) as one:
                desk.search("Paris")
            caught.append(one.value)
    assert caught[0] is not caught[1]
    assert caught[0] is not given
    assert caught[0].args == given.args


def test_a_function_gets_the_arguments_that_it_names_and_the_state(tracer, desk):
    def fake_search(city, state):
        state["searched"].append(city)
        return len(state["searched"])

    async def fake_book(state, **arguments):
        return [arguments, state["searched"]]

    given = {"searched": []}
    with tracer.simulate({"search": fake_search, "book": fake_book}, state=given) as run:
        assert [desk.search("Paris"), desk.search("Rome")] == [1, 2]
        assert asyncio.run(desk.book("Ritz")) == [{"hotel": "Ritz", "nights": 1}, ["Paris", "Rome"]]
    assert run.state == {"searched": ["Paris", "Rome"]}
    assert given == {"searched": []}


def test_a_function_may_call_other_simulated_tools(tracer, desk):
    with tracer.simulate({"search": lambda city: list(desk.pages(city)), "pages": ["p"]}):
        assert desk.search("Paris") == ["p"]


def test_generators_are_answered_by_functions_and_errors_too(tracer, desk):
    def fake_pages(query):
        yield query
        raise TimeoutError

    with tracer.simulate({"pages": fake_pages, "news": raises(TimeoutError)}):
        stream = desk.pages("x")
        assert next(stream) == "x"
        with pytest.raises(TimeoutError):
            next(stream)
        with pytest.raises(TimeoutError):
            asyncio.run(items_of(desk.news("x")))


def test_latency_passes_before_the_answer(tracer, desk, monkeypatch):
    slept = []

    async def sleep(seconds):
        slept.append(seconds)

    # Of that module alone: other threads of this process sleep too.
    monkeypatch.setattr(performing, "time", SimpleNamespace(sleep=slept.append))
    monkeypatch.setattr(performing, "asyncio", SimpleNamespace(sleep=sleep))
    with tracer.simulate({"search": slow(1, 0.5), "book": slow(raises(TimeoutError), (1, 2))}):
        assert desk.search("Paris") == 1
        with pytest.raises(TimeoutError):
            asyncio.run(desk.book("Ritz"))
    assert slept[0] == 0.5
    assert 1 <= slept[1] <= 2


def test_faults_come_at_their_rate_and_are_the_same_for_a_seed(tracer, desk):
    def outcomes(**options):
        answers = []
        with tracer.simulate({"search": faulty("fine", raises(TimeoutError), **options)}):
            for _ in range(200):
                try:
                    answers.append(desk.search("Paris"))
                except TimeoutError:
                    answers.append("late")
        return answers

    first = outcomes(rate=0.25, seed=7)
    assert first == outcomes(rate=0.25, seed=7)
    assert first != outcomes(rate=0.25, seed=8)
    assert 25 < first.count("late") < 75
    assert "late" not in outcomes(rate=0)
    assert "fine" not in outcomes(rate=1)


def test_each_run_of_one_simulation_has_its_own_chances_and_sequences(tracer, desk):
    simulation = Simulation({"search": sequence(1, 2), "pages": faulty(["p"], ["q"], rate=0.5)})
    streams = []
    for _ in range(3):
        with simulation:
            assert [desk.search("x"), desk.search("x")] == [1, 2]
            streams.append([list(desk.pages("x")) for _ in range(20)])
    assert streams[0] != streams[1] != streams[2]


def test_the_tool_itself_runs_only_where_that_is_said(tracer, desk):
    with tracer.capture() as captured, tracer.simulate({"search": sequence(real(), 7), "pages": real()}):
        assert desk.search("Paris") == "really Paris"
        assert desk.search("Paris") == 7
        assert list(desk.pages("x")) == ["really"]
    assert desk.ran == ["search", "pages"]
    simulated = [span.attributes.get("agenttrace.simulated") for span in captured.trace.spans]
    assert simulated == [None, "return, 2 of 2", None]


def test_files_say_all_of_it_in_words_with_a_dollar(tracer, desk):
    plan = {
        "$state": {"n": 1},
        "search": {
            "$cases": [
                {"when": {"city": {"$re": "^P"}}, "then": {"$raise": "TimeoutError", "$message": "late"}}
            ],
            "$otherwise": {"$sequence": [1, {"$return": {"$a": 2}}], "$afterwards": {"$$b": None}},
        },
        "book": {"$raise": "json.JSONDecodeError", "$args": ["bad", "doc", 1]},
        "pages": {"$return": ["p"], "$fault": {"$raise": "LookupError"}, "$rate": 1.0, "$seed": 3},
        "news": {"$call": "tests_of_simulation:fake_news"},
    }
    import sys
    from types import ModuleType

    module = sys.modules["tests_of_simulation"] = ModuleType("tests_of_simulation")
    module.fake_news = lambda query, state: [query, state["n"]]
    try:
        with tracer.simulate(plan):
            with pytest.raises(TimeoutError, match="late"):
                desk.search("Paris")
            assert [desk.search("Rome") for _ in range(3)] == [1, {"$a": 2}, {"$b": None}]
            with pytest.raises(json.JSONDecodeError):
                asyncio.run(desk.book("Ritz"))
            with pytest.raises(LookupError):
                list(desk.pages("x"))
            assert asyncio.run(items_of(desk.news("x"))) == ["x", 1]
    finally:
        del sys.modules["tests_of_simulation"]
    assert desk.ran == []


@pytest.mark.parametrize(
    ("answers", "text"),
    [
        ({"serach": 1}, r"no observed function 'serach' to simulate; did you mean 'search'\?"),
        ({"search": cases(when({"cty": 1}, 1))}, r"search takes no argument 'cty'; did you mean 'city'\?"),
        ({"search": lambda town: 1}, "search takes no argument 'town'"),
        ({"search": sequence(1, lambda town: 1)}, "search takes no argument 'town'"),
        ({"pages": 7}, "pages is a generator: it is answered with a list"),
        ({"pages": "text"}, "pages is a generator"),
        ({"search": int}, "the class int stands for an answer"),
        ({"search": {"$raize": "X"}}, r"there is no '\$raize'; did you mean '\$raise'"),
        (
            {"search": {"$raise": "TimeoutEror"}},
            r"simulate.search: there is no exception 'TimeoutEror'; did you",
        ),
        ({"search": {"$raise": "nowhere.Gone"}}, "no exception 'nowhere.Gone'"),
        ({"search": {"$raise": "json.loads"}}, "json.loads is no exception"),
        ({"search": {"$raise": "json.JSONDecodeError"}}, "JSONDecodeError cannot be made of these arguments"),
        ({"search": {"$return": 1, "x": 2}}, "ordinary key 'x' stand in one mapping"),
        ({"search": {"$latency": 1}}, "says what is answered"),
        ({"search": {"$return": 1, "$rate": 1}}, r"'\$rate' belongs to '\$fault'"),
        ({"search": {"$return": 1, "$fault": 2}}, r"a '\$fault' has a '\$rate'"),
        ({"search": {"$return": 1, "$fault": 2, "$rate": 2}}, "a rate is a number from 0 to 1, got 2"),
        ({"search": {"$sequence": []}}, "one answer or more"),
        ({"search": {"$sequence": 3}}, "a sequence is a list"),
        ({"search": {"$cases": [{"wen": {}, "then": 1}]}}, "a case is"),
        (
            {"search": {"$cases": [{"when": {"city": {"$ref": "a.output"}}, "then": 1}]}},
            "looks at other calls",
        ),
        ({"search": {"$call": "json:nothing"}}, "there is no function 'json:nothing'"),
        ({"search": {"$return": 1, "$latency": -1}}, "a latency is seconds"),
        ({"search": {"a": {"$re": "x"}}}, r"the key '\$re' stands inside a value"),
        ({"$other": "real"}, r"there is no '\$other'; did you mean '\$others'"),
        ({"$others": "raise"}, "other tools are 'real' or an 'error'"),
        ({7: 1}, "a tool is named by its text"),
        ([], "a simulation is a mapping"),
    ],
)
def test_a_mistake_is_an_error_before_the_block_runs(tracer, desk, answers, text):
    with pytest.raises(ConfigError, match=text):
        with tracer.simulate(answers):
            raise AssertionError("the block ran")
    assert desk.search("Paris") == "really Paris"


async def coroutine():
    """Answer nothing."""


def test_a_coroutine_cannot_answer_a_plain_function(tracer, desk):
    with pytest.raises(ConfigError, match="search is no coroutine"):
        with tracer.simulate({"search": coroutine}):
            raise AssertionError("the block ran")


def test_other_tools_are_an_error_where_that_is_wanted(tracer, desk):
    with pytest.raises(SimulationError, match="does not name it, and others are an error"):
        with tracer.simulate({"search": 1}, others="error"):
            desk.search("x")
            list(desk.pages("x"))
    assert desk.ran == []


def test_tools_that_are_observed_later_are_named(tracer):
    def agent():
        @tracer.observe(span_type="tool")
        def hidden(city):
            raise AssertionError("really")

        return hidden("Paris")

    with tracer.simulate({"hidden": 7}, later="hidden"):
        assert agent() == 7
    with pytest.raises(SimulationError, match="takes no argument 'town'"):
        with tracer.simulate({"hidden_too": 1, "hidden": lambda town: 1}, later=["hidden", "hidden_too"]):
            agent()
