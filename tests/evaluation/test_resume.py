"""A run that was interrupted goes on: none of its results lost, none doubled."""

import logging
import threading

import pytest

from agenttrace.core.errors import ConfigError
from agenttrace.core.example import Example
from agenttrace.core.report import EvaluationInterrupted
from agenttrace.evaluation import assert_test, run_evaluation, streaming
from agenttrace.scorers import BudgetScorer, LoopScorer, TrajectoryScorer
from agenttrace.store import SQLiteStore
from agenttrace.tracer import Tracer
from tests.evaluation.evaluation_fakes import Answer

RAN = []


def plain(x):
    RAN.append(x)
    if x == "stop" and RAN.count("stop") == 1:
        raise KeyboardInterrupt
    return x


def other(x):
    return plain(x)


class Stricter(Answer):
    threshold = 0.5


@pytest.fixture(autouse=True)
def _nothing_ran():
    RAN.clear()


@pytest.fixture
def tracer(tmp_path):
    tracer = Tracer("resumed", store=str(tmp_path / "traces.db"))
    yield tracer
    tracer.shutdown()


def examples(*inputs):
    return [Example(input=x, expected_output=x) for x in inputs]


def interrupted(tracer, *inputs, **options):
    with pytest.raises(EvaluationInterrupted) as interruption:
        run_evaluation(examples(*inputs), [Answer()], function=plain, tracer=tracer, **options)
    RAN.remove("stop")
    RAN[:] = ["stop"]
    return interruption.value.report


def rows(store, run_id):
    return sorted((row["position"], row["trial"]) for row in store.run(run_id)["results"])


def test_what_has_a_result_is_not_run_again(tracer):
    before = interrupted(tracer, "a", "b", "stop", "c", eval_run_name="nightly")
    report = run_evaluation(
        examples("a", "b", "stop", "c"), [Answer()], function=plain, tracer=tracer, resume="last"
    )
    assert RAN == ["stop", "stop", "c"]
    assert report.passed
    assert [result.name for result in report] == [None] * 4
    assert [result.example.input for result in report] == ["a", "b", "stop", "c"]
    assert (report.run_id, report.name) == (before.run_id, "nightly")
    assert rows(tracer.store, report.run_id) == [(0, 1), (1, 1), (2, 1), (3, 1)]
    assert len(tracer.store.runs()) == 1
    assert not tracer.store.run(report.run_id)["metadata"].get("interrupted")
    assert report.metadata["resumed"] == "with 2 results"


def test_a_run_that_is_whole_is_returned_as_it_is(tracer):
    first = run_evaluation(examples("a", "b"), [Answer()], function=plain, tracer=tracer)
    again = run_evaluation(examples("a", "b"), [Answer()], function=plain, tracer=tracer, resume=first.run_id)
    assert RAN == ["a", "b"]
    assert again.passed
    assert again.counts == first.counts


def test_each_trial_is_there_once(tracer):
    interrupted(tracer, "a", "stop", trials=3)
    report = run_evaluation(
        examples("a", "stop"), [Answer()], function=plain, tracer=tracer, trials=3, resume="last"
    )
    assert [(result.position, result.trial) for result in report] == [
        (p, t) for p in (0, 1) for t in (1, 2, 3)
    ]


def test_trials_that_go_on_until_they_are_settled_go_on_where_they_were(tracer):
    options = {"trials": "auto", "max_trials": 4}
    interrupted(tracer, "a", "stop", **options)
    report = run_evaluation(
        examples("a", "stop"), [Answer()], function=plain, tracer=tracer, resume="last", **options
    )
    assert [(result.position, result.trial) for result in report] == [
        (p, t) for p in (0, 1) for t in (1, 2, 3, 4)
    ]
    assert {result.trials for result in report} == {4}


def test_of_such_trials_none_stays_behind_one_whose_trace_is_gone(tracer):
    options = {"function": tracer.observe(plain), "tracer": tracer, "trials": "auto", "max_trials": 4}
    with pytest.raises(EvaluationInterrupted) as interruption:
        run_evaluation(examples("a", "stop"), [Answer()], **options)
    tracer.flush()
    first = next(result for result in interruption.value.report if result.trial == 1)
    assert tracer.store.delete_trace(first.trace_id)
    report = run_evaluation(examples("a", "stop"), [Answer()], resume="last", **options)
    assert [(result.position, result.trial) for result in report] == [
        (p, t) for p in (0, 1) for t in (1, 2, 3, 4)
    ]


def test_an_example_that_changed_since_is_run_again_and_one_that_is_gone_is_left_out(tracer, caplog):
    interrupted(tracer, "a", "b", "gone", "stop")
    changed = [*examples("b", "a", "stop"), Example(input="a", expected_output="another")]
    with caplog.at_level(logging.WARNING, logger="agenttrace"):
        report = run_evaluation(changed, [Answer()], function=plain, tracer=tracer, resume="last")
    assert RAN == ["stop", "stop", "a"]
    assert [result.example.input for result in report] == ["b", "a", "stop", "a"]
    assert [result.success for result in report] == [True, True, True, False]
    assert "goes on with 2 of its 3 results" in caplog.text


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"function": other}, r"the function changed since \(.*:plain → .*:other\), and"),
        (
            {"scorers": [Stricter()]},
            r"the scorers changed since \(Answer: class: \S*Answer → \S*Stricter, threshold: 1.0 → 0.5\),",
        ),
        ({"trials": 2}, r"trials changed since \(1 → 2\)"),
        ({"model": "another"}, r"the model changed since \(none → another\)"),
        ({"resume": "nightly-7"}, "there is no run 'nightly-7'"),
        ({"trials_by": "id"}, "resume cannot be used with trials_by"),
    ],
)
def test_results_of_two_evaluations_are_never_put_together(tracer, options, said):
    interrupted(tracer, "a", "stop")
    options = {"scorers": [Answer()], "function": plain, "resume": "last", **options}
    with pytest.raises(ConfigError, match=said):
        run_evaluation(examples("a", "stop"), tracer=tracer, **options)
    assert RAN == ["stop"]


@pytest.mark.parametrize(
    ("scorers", "difference"),
    [
        ([], "Loop is gone"),
        ([LoopScorer(repeats=4)], "Loop: repeats: the default → 4"),
        ([LoopScorer(), Answer()], "Answer 2 is new"),
        ([LoopScorer(), BudgetScorer(calls=3)], "Budget is new"),
        ([LoopScorer(name="Other")], "Other is new; Loop is gone"),
    ],
)
def test_of_scorers_that_changed_only_the_difference_is_said(tracer, scorers, difference):
    before = [TrajectoryScorer(expected=["look_up_a_customer_by_name", "a"] * 9), Answer()]
    with pytest.raises(EvaluationInterrupted):
        run_evaluation(examples("stop"), [*before, LoopScorer()], function=plain, tracer=tracer)
    with pytest.raises(ConfigError, match=f"the scorers changed since \\({difference}\\), and its results"):
        run_evaluation(examples("stop"), [*before, *scorers], function=plain, tracer=tracer, resume="last")


def test_long_options_of_scorers_are_shown_where_they_differ(tracer):
    calls = ["look_up_a_customer_by_name"]
    with pytest.raises(EvaluationInterrupted):
        run_evaluation(
            examples("stop"), [TrajectoryScorer(expected=[*calls, "a"])], function=plain, tracer=tracer
        )
    with pytest.raises(ConfigError, match=r'Trajectory: expected: ….*"name":"a".* → ….*"name":"b".*, and'):
        run_evaluation(
            examples("stop"),
            [TrajectoryScorer(expected=[*calls, "b"])],
            function=plain,
            tracer=tracer,
            resume="last",
        )


def test_the_code_of_the_function_is_looked_at(tracer, tmp_path):
    def agent_of(text):
        path = tmp_path / "agent.py"
        path.write_text(text)
        names = {"__name__": "agent", "RAN": RAN}
        exec(compile(text, str(path), "exec"), names)
        return names["agent"]

    text = "def agent(x):\n    if x == 'stop':\n        raise KeyboardInterrupt\n    return x\n"
    with pytest.raises(EvaluationInterrupted):
        run_evaluation(examples("a", "stop"), [Answer()], function=agent_of(text), tracer=tracer)
    changed = agent_of(text + "# mended\n")
    with pytest.raises(ConfigError, match="the file of the function changed since"):
        run_evaluation(examples("a", "stop"), [Answer()], function=changed, tracer=tracer, resume="last")


def test_what_failed_before_stays_failed_and_counts_for_the_verdict(tracer):
    wrong = [Example(input="a", expected_output="b"), *examples("stop", "c")]
    with pytest.raises(EvaluationInterrupted):
        run_evaluation(wrong, [Answer()], function=plain, tracer=tracer)
    with pytest.raises(AssertionError, match="2/3 passed"):
        assert_test(wrong, [Answer()], function=plain, tracer=tracer, resume="last", stop_after=1)
    assert RAN == ["a", "stop", "stop", "c"]


def test_recorded_runs_that_changed_since_are_compared_anew(tracer):
    def recorded(*outputs):
        return [Example(input=str(at), expected_output="x", actual_output=o) for at, o in enumerate(outputs)]

    first = run_evaluation(recorded("x", "y"), [Answer()], tracer=tracer)
    again = run_evaluation(recorded("x", "x"), [Answer()], tracer=tracer, resume=first.run_id)
    assert ([r.success for r in first], [r.success for r in again]) == ([True, False], [True, True])


def test_results_are_in_the_store_while_the_run_lasts(tracer, monkeypatch):
    monkeypatch.setattr(streaming, "EVERY", 0.01)
    path, seen, wait = tracer.store.path, [], threading.Event()

    def agent(x):
        while x == "last" and not seen and not wait.wait(0.01):
            runs = SQLiteStore(path).runs()
            if runs and runs[0].passed == 2:
                seen.append(SQLiteStore(path).run(runs[0].run_id))
        return x

    report = run_evaluation(examples("a", "b", "last"), [Answer()], function=agent, tracer=tracer, timeout=30)
    (stored,) = seen
    assert stored["run_id"] == report.run_id
    assert stored["metadata"]["interrupted"] is True
    assert [row["example"]["actual_output"] for row in stored["results"]] == ["a", "b"]
    assert rows(tracer.store, report.run_id) == [(0, 1), (1, 1), (2, 1)]
    assert "interrupted" not in report.metadata


def test_what_is_not_stored_counts_as_not_run_while_the_run_lasts(tracer, monkeypatch):
    """So it is right whenever the process is killed."""
    monkeypatch.setattr(streaming, "EVERY", 0.01)
    path, seen = tracer.store.path, []

    def agent(x):
        stored = {"b": 1, "last": 3}.get(x)
        while stored is not None and not (seen and seen[-1][0] == stored):
            runs = SQLiteStore(path).runs()
            if runs and runs[0].passed == stored:
                run = SQLiteStore(path).run(runs[0].run_id)
                seen.append((runs[0].passed, runs[0].not_run, run["metadata"]["not_run"]))
            threading.Event().wait(0.01)
        return x

    inputs = examples("a", "b", "c", "last", "after")
    report = run_evaluation(inputs, [Answer()], function=agent, tracer=tracer, timeout=30)
    assert seen == [(1, 4, 4), (3, 2, 2)]
    assert tracer.store.runs()[0].not_run == 0
    assert "not_run" not in report.metadata
