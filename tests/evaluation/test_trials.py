"""Trials that settle, and recorded runs that are trials of one example."""

import gzip
import json
from pathlib import Path
from random import Random

import pytest

from agenttrace.core.errors import ConfigError
from agenttrace.core.example import Example
from agenttrace.core.report import EvaluationReport, ScoringResult
from agenttrace.core.score import Score
from agenttrace.evaluation.evaluate import run_evaluation
from agenttrace.evaluation.requirement import parsed_requirements
from agenttrace.evaluation.trials import examples_of_trials, settled_by
from agenttrace.scorers import ToolOrderScorer, scorer
from tests.evaluation.evaluation_fakes import Answer

AIRLINE = Path(__file__).resolve().parents[3] / "shared/data/tau_bench_airline_gpt-4o.jsonl.gz"
EXAMPLE = Example(name="one")
WORDS = {"p": "passed", "f": "failed", "e": "errored", "n": "not_run"}


def results(row, values=None):
    return [
        ScoringResult(
            example=EXAMPLE,
            outcome=WORDS[letter],
            scores=(Score.of("Own", values[at], 0.5),) if values else (),
        )
        for at, letter in enumerate(row)
    ]


def trials_until_settled(require, row, max_trials=30, values=None):
    settled = settled_by(parsed_requirements(require), max_trials)
    all_results = results(row, values)
    return next(n for n in range(1, len(row) + 1) if settled(all_results[:n]))


def test_without_a_requirement_one_failure_settles_it_and_passes_take_nearly_all():
    assert trials_until_settled(None, "f" + "p" * 29) == 1
    assert trials_until_settled(None, "ppf" + "p" * 27) == 3
    assert trials_until_settled(None, "p" * 30) == 29


def test_with_a_requirement_clear_cases_stop_early():
    assert trials_until_settled("pass_rate >= 0.8", "p" * 30) == 12
    assert trials_until_settled("pass_rate >= 0.8", "f" * 30) == 3
    assert trials_until_settled("worst_pass_rate >= 0.5", "p" * 30) == 6


@pytest.mark.parametrize("letter", ["e", "n"])
def test_what_was_not_judged_settles_it(letter):
    assert trials_until_settled("pass_rate >= 0.1", "p" + letter + "p" * 28) == 2


def test_pass_hat_k_takes_k_trials_at_least():
    assert trials_until_settled("pass^5 >= 0.9", "f" * 30) == 5


def test_a_mean_is_settled_when_the_rest_cannot_change_it():
    values = [1.0] * 15 + [0.0] * 15
    assert trials_until_settled("mean(Own) >= 0.5", "p" * 30, values=values) == 15
    assert trials_until_settled("mean(Own) <= 0.25", "p" * 30, values=values) == 8
    assert trials_until_settled("mean(Own) == 0.25", "p" * 30, values=values) == 8


def test_the_passes_of_one_scorer_are_settled_by_its_own():
    assert trials_until_settled("pass_rate(Own) >= 0.8", "f" * 30, values=[1.0] * 30) == 12
    assert trials_until_settled("pass_rate(Own) <= 0.2", "f" * 30, values=[1.0] * 30) == 3


def test_of_several_requirements_one_that_fails_settles_it_and_all_must_hold():
    both = ["pass_rate >= 0.8", "pass^2 >= 0.1"]
    assert trials_until_settled(both, "f" * 30) <= 4
    assert trials_until_settled(both, "p" * 30) >= 12


def test_the_last_trial_settles_everything():
    assert trials_until_settled("pass_rate >= 0.5", "pf" * 3, max_trials=6) <= 6


@pytest.mark.parametrize(
    ("max_trials", "require", "said"),
    [(0, None, "max_trials is a whole number from 1"), (2, "pass^3 >= 0.1", "a requirement needs 3 trials")],
)
def test_limits_that_cannot_work_are_an_error(max_trials, require, said):
    with pytest.raises(ConfigError, match=said):
        settled_by(parsed_requirements(require), max_trials)


REQUIREMENTS = [
    "pass_rate >= 0.8",
    "worst_pass_rate > 0.5",
    "pass^2 >= 0.5",
    "pass@2 >= 0.9",
    "pass_rate == 0.5",
    None,
]


@pytest.mark.parametrize("require", REQUIREMENTS)
def test_over_20_000_suites_early_verdicts_differ_from_those_of_all_trials_in_at_most_5_percent(require):
    requirements = parsed_requirements(require)
    settled = settled_by(requirements, 20)
    passing, failing = results("p")[0], results("f")[0]
    early_verdicts = {}

    def holds(row):
        report = EvaluationReport(results=tuple(row))
        return all(r.holds(report) for r in requirements) if requirements else report.passed

    verdict_of = {}  # depends on the counts alone
    rng, saved = Random(13), 0
    for rate in (0.4, 0.5, 0.7, 0.8, 0.9):
        false = 0
        for _ in range(4_000):
            passes = n = 0
            while True:
                n += 1
                passes += rng.random() < rate
                row = (passes, n)
                if row not in early_verdicts:
                    early_verdicts[row] = settled([passing] * passes + [failing] * (n - passes))
                if early_verdicts[row]:
                    break
            saved += 20 - n
            total = passes + sum(rng.random() < rate for _ in range(20 - n))
            for count in (row, (total, 20)):
                if count not in verdict_of:
                    verdict_of[count] = holds([passing] * count[0] + [failing] * (count[1] - count[0]))
            false += verdict_of[row] != verdict_of[total, 20]
        assert false / 4_000 <= 0.05
    assert saved / 20_000 > (0 if require == "pass_rate == 0.5" else 3)


@scorer
def reward(metadata):
    return metadata["reward"]


def runs(*rewards):
    return [Example(name=name, additional_metadata={"reward": value}) for name, value in rewards]


def test_recorded_runs_of_one_name_are_trials_of_one_example():
    recorded = runs(("a", 1.0), ("b", 0.0), ("a", 0.0), ("b", 0.0), ("a", 1.0))
    report = run_evaluation(recorded, [reward], trials_by="name")
    assert [(r.name, r.position, r.trial, r.trials) for r in report] == [
        ("a", 0, 1, 3),
        ("a", 0, 2, 3),
        ("a", 0, 3, 3),
        ("b", 1, 1, 2),
        ("b", 1, 2, 2),
    ]
    a, b = report.summary().examples
    assert (a.pass_rate.passed, a.trials, b.pass_rate.passed, b.trials) == (2, 3, 0, 2)
    assert report.summary().pass_hat == {1: pytest.approx(1 / 3), 2: pytest.approx(1 / 6)}


def test_a_function_says_which_runs_are_trials_of_one_example():
    recorded = [Example(input=text, additional_metadata={"reward": 1.0}) for text in ("x", "y", "x")]
    report = run_evaluation(recorded, [reward], trials_by=lambda example: example.input)
    assert [(r.example.input, r.trial, r.trials) for r in report] == [("x", 1, 2), ("x", 2, 2), ("y", 1, 1)]


def test_agents_run_for_each_of_them():
    seen = []
    examples = [Example(name="one", input=text, expected_output="ok") for text in ("x", "y")]
    report = run_evaluation(
        examples, [Answer()], function=lambda text: seen.append(text) or "ok", trials=2, trials_by="name"
    )
    assert sorted(seen) == ["x", "x", "y", "y"]
    assert [(r.position, r.trial, r.trials) for r in report] == [(0, n, 4) for n in range(1, 5)]


@pytest.mark.parametrize(
    ("trials_by", "said"),
    [
        ("names", "trials_by is 'name', 'id' or a function of an example, got 'names'"),
        ("name", "example 2 is a trial of nothing: it has no name"),
        (lambda example: None, "example 1 is a trial of nothing: trials_by gave None"),
        (lambda example: [], "trials_by gave list for example 1; wanted a text, a number or a tuple"),
    ],
)
def test_a_grouping_that_cannot_work_is_an_error_before_anything_runs(trials_by, said):
    calls = []
    with pytest.raises(ConfigError, match=said):
        run_evaluation([Example(name="a"), Example()], [reward], function=calls.append, trials_by=trials_by)
    assert calls == []


@pytest.mark.shared
@pytest.mark.skipif(not AIRLINE.exists(), reason="needs the real data beside the project")
def test_pass_hat_k_of_the_airline_runs_takes_five_lines():
    records = map(json.loads, gzip.decompress(AIRLINE.read_bytes()).splitlines())
    runs = [Example(name=str(record["task_id"]), additional_metadata=record) for record in records]
    reward = scorer(lambda metadata: metadata["reward"], name="reward")
    pass_hat = run_evaluation(runs, [reward], trials_by="name").summary().pass_hat
    # As published with the runs.
    assert [round(value, 3) for value in pass_hat.values()] == [0.42, 0.273, 0.22, 0.2]


@pytest.mark.shared
@pytest.mark.skipif(not AIRLINE.exists(), reason="needs the real data beside the project")
def test_pass_hat_k_of_the_airline_runs_by_the_order_of_their_writes():
    def writes(calls):
        return [
            {"name": call["name"], "arguments": call["args"]} for call in calls if call.get("kind") == "write"
        ]

    runs = []
    for record in map(json.loads, gzip.decompress(AIRLINE.read_bytes()).splitlines()):
        expected = [
            {"tool_name": c["name"], "parameters": c["arguments"]} for c in writes(record["expected"])
        ]
        runs.append(
            Example(
                name=str(record["task_id"]), expected_tools=expected, tools_called=writes(record["actual"])
            )
        )
    pass_hat = run_evaluation(runs, [ToolOrderScorer()], trials_by="name").summary().pass_hat
    assert [round(value, 2) for value in pass_hat.values()] == [0.46, 0.34, 0.29, 0.26]


def test_recorded_runs_of_one_id_are_trials_of_one_example():
    runs = [Example(example_id="a", actual_output=n) for n in (1, 2)] + [Example(actual_output=3)]
    assert examples_of_trials(runs, "id") == (0, 0, 1)
