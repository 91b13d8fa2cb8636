"""Simulations in evaluations: for all examples, for one, from files; what goes wrong is errored."""

import pytest

from agenttrace import Example, ToolOrderScorer, assert_test, run_evaluation
from agenttrace.core.errors import ConfigError, DatasetError
from agenttrace.core.report import EvaluationFailed
from agenttrace.datasets import EvalDataset
from agenttrace.reports.tree import trace_lines
from agenttrace.simulation import Simulation, faulty, raises, sequence


@pytest.fixture
def agent(desk):
    def plan(city):
        try:
            return desk.search(city)
        except TimeoutError:
            return f"nothing for {city}"

    return plan


def example(city="Paris", **more):
    return Example(input={"city": city}, expected_tools=["search"], **more)


def outcomes(report):
    return [result.outcome for result in report]


def test_a_simulation_of_all_examples_begins_anew_for_each(tracer, desk, agent):
    for simulate in ({"search": sequence("found")}, Simulation({"search": sequence("found")})):
        report = run_evaluation(
            [example(), example("Rome")],
            [ToolOrderScorer()],
            function=agent,
            tracer=tracer,
            simulate=simulate,
            concurrency=2,
        )
        assert outcomes(report) == ["passed", "passed"]
        assert [result.example.actual_output for result in report] == ["found", "found"]
    assert desk.ran == []


def test_an_examples_own_answers_come_before_those_of_all(tracer, desk, agent):
    report = run_evaluation(
        [example(simulate={"search": raises(TimeoutError)}), example("Rome")],
        [ToolOrderScorer(attempts="count")],
        function=agent,
        tracer=tracer,
        simulate={"search": "found"},
    )
    assert [result.example.actual_output for result in report] == ["nothing for Paris", "found"]


def test_a_call_without_an_answer_makes_the_result_errored_whatever_the_agent_does(tracer, desk):
    def agent(city):
        try:
            return [desk.search(city), desk.search(city)]
        except Exception:
            return "sorry"

    report = run_evaluation(
        [example()], [ToolOrderScorer()], function=agent, tracer=tracer, simulate={"search": sequence(1)}
    )
    assert outcomes(report) == ["errored"]
    assert "the simulation: search(city='Paris', nights=1) is not answered" in report[0].error
    assert desk.ran == []


def test_each_trial_has_its_own_chances_the_same_in_every_evaluation(tracer, desk, agent):
    def answers():
        report = run_evaluation(
            [example()],
            [ToolOrderScorer()],
            function=agent,
            tracer=tracer,
            trials=20,
            simulate={"search": faulty("found", raises(TimeoutError), rate=0.5)},
        )
        return [result.example.actual_output for result in report]

    first = answers()
    assert first == answers()
    assert {"found", "nothing for Paris"} == set(first)


def test_a_mistake_is_an_error_before_any_agent_runs_with_the_examples_place(tracer, desk, tmp_path):
    def agent(city):
        raise AssertionError("the agent ran")

    file = tmp_path / "tests.yaml"
    file.write_text(
        "examples:\n- input: {city: Paris}\n  simulate:\n    search: {$sequence: [1]}\n"
        "- input: {city: Rome}\n  simulate: {serch: 1}\n"
    )
    with pytest.raises(ConfigError, match=r"tests.yaml:5: example 2: there is no observed function 'serch'"):
        assert_test(test_file=file, scorers=[ToolOrderScorer()], function=agent, tracer=tracer)
    with pytest.raises(ConfigError, match="example 1: search takes no argument 'town'"):
        run_evaluation(
            [example(simulate={"search": lambda town: 1})], [ToolOrderScorer()], function=agent, tracer=tracer
        )
    with pytest.raises(ConfigError, match="pass it too: function"):
        run_evaluation([example(tools_called=["search"])], [ToolOrderScorer()], simulate={"search": 1})
    with pytest.raises(ConfigError, match="simulate is a mapping"):
        run_evaluation([example()], [ToolOrderScorer()], function=agent, simulate=7)


@pytest.mark.parametrize(
    ("answer", "line", "text"),
    [
        ("{$raise: TimeoutEror}", 5, "did you mean 'TimeoutError'"),
        (
            "\n      $sequence:\n        - 1\n        - {$rais: X}",
            8,
            r"there is no '\$rais'; did you mean '\$raise'",
        ),
        ("{$return: 1, x: 2}", 5, "ordinary key"),
    ],
)
def test_a_file_is_refused_with_the_line_of_the_mistake(tmp_path, answer, line, text):
    file = tmp_path / "tests.yaml"
    file.write_text(f"examples:\n- name: one\n  input: x\n  simulate:\n    search: {answer}\n")
    with pytest.raises(DatasetError, match=text) as caught:
        EvalDataset.from_file(file)
    assert caught.value.line == line
    assert "simulate.search" in str(caught.value)


def test_a_field_of_another_type_is_refused():
    with pytest.raises(
        DatasetError, match="simulate: got int 7, wanted a mapping of tools to what they answer"
    ):
        Example(simulate=7)


@pytest.mark.parametrize("kind", ["yaml", "json", "jsonl", "csv"])
def test_answers_survive_a_file(tracer, desk, agent, tmp_path, kind):
    answers = {
        "search": {"$sequence": [{"$return": {"$a": 1}}, {"$raise": "TimeoutError"}]},
        "$others": "error",
    }
    dataset = EvalDataset(
        examples=[example(simulate=answers), example("Rome", simulate={"search": raises(KeyError)})]
    )
    dataset.save_as(kind, tmp_path, "saved")
    loaded = EvalDataset.from_file(tmp_path / f"saved.{kind}")
    assert loaded[0].simulate == answers
    assert loaded[1].simulate == {"search": {"$raise": "KeyError"}}


def test_a_trace_says_which_calls_were_simulated(tracer, desk):
    with tracer.capture() as captured, tracer.simulate({"search": 7}):
        desk.search("Paris")
    lines = [line.text.strip() for line in trace_lines(captured.trace)]
    assert "simulated: return" in lines


def test_async_agents_are_simulated(tracer, desk):
    async def agent(city):
        return await desk.book(city)

    report = run_evaluation(
        [Example(input={"city": "Ritz"}, expected_tools=["book"])],
        [ToolOrderScorer()],
        function=agent,
        tracer=tracer,
        simulate={"book": 7},
    )
    assert (outcomes(report), report[0].example.actual_output) == (["passed"], 7)


def test_assert_test_takes_a_simulation(tracer, desk, agent):
    with pytest.raises(EvaluationFailed, match="errored"):
        assert_test(
            [example()],
            [ToolOrderScorer()],
            function=agent,
            tracer=tracer,
            simulate={"book": 1, "$others": "error"},
        )
    assert desk.ran == []


def test_to_load_a_file_imports_nothing_that_it_names(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(str(tmp_path))
    (tmp_path / "never_imported.py").write_text("raise SystemExit('imported')")
    file = tmp_path / "tests.yaml"
    file.write_text(
        "examples:\n- input: x\n  simulate:\n    a: {$raise: never_imported.Gone, $args: [1]}\n"
        "    b: {$sequence: [{$call: 'never_imported:run'}]}\n"
    )
    (example,) = EvalDataset.from_file(file)
    assert example.simulate["a"]["$raise"] == "never_imported.Gone"


def test_chances_do_not_depend_on_which_example_begins_first(tracer, desk, agent):
    def answers(concurrency):
        report = run_evaluation(
            [example(city) for city in ("Paris", "Rome", "Oslo", "Bern", "Riga", "Lima", "Kyiv", "Baku")],
            [ToolOrderScorer()],
            function=agent,
            tracer=tracer,
            concurrency=concurrency,
            simulate={"search": faulty("found", raises(TimeoutError), rate=0.5)},
        )
        return [result.example.actual_output for result in report]

    assert answers(1) == answers(8)
    assert len(set(answers(1))) > 2
