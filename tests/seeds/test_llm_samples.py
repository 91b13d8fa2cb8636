"""The seeds' samples that ask a model run, against a model on loopback that speaks the real protocol.

The model stands in for the agent's and the judge's; nothing but import lines and the agent differ from the
seeds, to whose own text `test_seed_samples` holds the sample files.
"""

import importlib
import runpy
import shutil
import sys
import types
from pathlib import Path

import pytest

from agenttrace import EvalDataset, EvaluationFailed, Example
from agenttrace.judges import AnswerRelevancyScorer, ClassifierScorer, FaithfulnessScorer, PromptScorer
from agenttrace.scorers import scorer

HERE = Path(__file__).parent
EXAMPLES = HERE.parents[1] / "examples"
AGENT = types.SimpleNamespace(run=lambda task: "We offer a 30-day full refund at no extra cost.")


@pytest.fixture(scope="module")
def judge():
    sys.path.insert(0, str(EXAMPLES))
    made = importlib.import_module("local_judge").LocalJudge().start()
    yield made
    made.stop()
    sys.path.remove(str(EXAMPLES))


@pytest.fixture(autouse=True)
def _elsewhere(tmp_path, monkeypatch, judge):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("AGENTTRACE_STORE", str(tmp_path / "traces.db"))
    for name, value in judge.environment.items():
        monkeypatch.setenv(name, value)
    judge.model.requests.clear()


def run(name, **given):
    return runpy.run_path(str(HERE / name), init_globals=given)


def test_the_quickstart_of_the_evaluation_page_runs(judge, capsys):
    after = run("seed_002_evals.py", given_agent=AGENT)
    (result,) = after["results"]
    (data,) = result.scorers_data
    assert (data.name, data.score, data.success, data.evaluation_model) == (
        "Faithfulness",
        1.0,
        True,
        "gpt-4.1",
    )
    assert len(judge.model.requests) == 2  # the claims, then the verdicts
    assert "1/1 passed" in capsys.readouterr().out


def test_the_dataset_of_the_page_is_evaluated():
    examples = [
        Example(actual_output=f"Refunds take {days} days.", retrieval_context=["Refunds take 5 days."])
        for days in (5, 9)
    ]
    after = run("seed_002_evaluate_dataset.py", dataset=EvalDataset(examples=examples))
    assert [result.scorers_data[0].score for result in after["res"]] == [1.0, 0.0]


def test_the_unit_test_of_the_page_fails_and_says_what_the_seed_says():
    with pytest.raises(EvaluationFailed) as failed:
        run("seed_002_unit_testing.py", given_agent=AGENT)
    text = str(failed.value)
    assert "TEST RESULTS: 0/1 passed (1 failed)" in text
    assert "✗ Test 1: FAILED" in text
    assert "Scorer: Faithfulness" in text
    assert "Score: 0.0" in text
    assert "the text does not say 30" in text


def test_the_unit_test_under_pytest_raises_an_assertion_error():
    before = run("seed_002_evals.py", given_agent=AGENT)
    wrong = before["example"].model_copy(update={"retrieval_context": ["A full refund within 44 days."]})
    run("seed_002_unit_test_pytest.py", client=before["client"], example=wrong, scorer=before["scorer"])


def test_the_suite_in_yaml_says_that_its_example_has_no_answer_to_judge():
    """The seed's file has an expected output but no actual one, and its call names no agent to make one."""
    shutil.copy(HERE / "seed_002_unit_tests.yaml", "tests.yaml")
    before = run("seed_002_evals.py", given_agent=AGENT)
    with pytest.raises(EvaluationFailed, match="actual_output") as failed:
        run("seed_002_unit_test_yaml.py", client=before["client"], FaithfulnessScorer=FaithfulnessScorer)
    assert failed.value.errored


@pytest.mark.parametrize(
    ("given", "value"),
    [
        (AnswerRelevancyScorer(threshold=0.5), 0.5),
        (PromptScorer("Own", "Does {{actual_output}} answer {{input}}?"), 1.0),
        (
            ClassifierScorer(
                "Tone",
                "tone",
                threshold=0.5,
                conversation=[{"role": "system", "content": "Is {{actual_output}} an answer to {{input}}?"}],
                options={"refund": 1.0, "unrelated": 0.0},
            ),
            1.0,
        ),
        (scorer(name="Short")(lambda output: len(output) < 100), 1.0),
    ],
    ids=["AnswerRelevancy", "prompt", "classifier", "custom"],
)
def test_every_kind_of_scorer_runs_as_the_page_runs_it(given, value):
    example = Example(input="How do I get a refund?", actual_output="A refund takes 5 days. It is sunny.")
    after = run("seed_002_run_scorer.py", given_example=example, given_scorer=given)
    assert after["results"][0].scores[0].value == value


def test_the_online_evaluation_of_the_monitoring_page_runs(judge):
    pytest.importorskip("openai", reason="the sample calls a model through the package openai")
    after = run("seed_002_my_agent.py")
    tracer = after["judgment"]
    assert tracer.wait_for_evaluations(timeout=60)
    tracer.flush()
    (summary,) = tracer.store.traces(project="my_project")
    trace = tracer.store.trace(summary.trace_id)
    ((span_id, score),) = tracer.store.scores(trace.trace_id)
    assert (score.name, score.value, score.outcome) == ("Answer Relevancy", 1.0, "passed")
    assert next(span.name for span in trace.spans if span.span_id == span_id) == "main"
    assert [span.name for span in trace.spans] == ["main", "my_tool", "chat gpt-4.1"]
    after["client"].close()
    tracer.shutdown()
