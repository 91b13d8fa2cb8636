"""What an evaluation stores holds no secret; what it returns holds what there was."""

import json
import threading
import time

import pytest

from agenttrace.client import Client
from agenttrace.core.example import Example
from agenttrace.core.report import EvaluationFailed
from agenttrace.core.score import Score
from agenttrace.evaluation import assert_test, run_evaluation
from agenttrace.redaction import Redaction
from agenttrace.scorers import StateScorer, ToolCallArgsScorer, ToolOrderScorer
from agenttrace.scoring.redacted import redacted_report
from agenttrace.store import MemoryStore, SQLiteStore
from agenttrace.tracer import Tracer
from tests.evaluation.evaluation_fakes import Answer, Does, MemoryResults, scored
from tests.stored_text import everything_in

PASSWORD = "hunter2"
KEY = "sk-0123456789abcdefABCDEF"
EXAMPLE = {
    "input": {"password": PASSWORD, "question": f"is {KEY} valid?"},
    "actual_output": f"the key is {KEY}",
    "expected_output": {"api_key": KEY},
    "context": [f"Bearer {KEY}"],
    "tools_called": [{"name": "login", "arguments": {"password": PASSWORD}, "output": {"token": KEY}}],
    "expected_tools": [{"tool_name": "login", "parameters": {"password": PASSWORD}}],
    "additional_metadata": {"secret": PASSWORD},
    "name": f"with {KEY}",
}


def telling(example, trace):
    """A score that says in every place what it has seen."""
    return scored(
        0.0,
        reason=f"got {KEY}",
        diff=f"- {KEY}",
        details={"password": PASSWORD, "seen": [KEY]},
        metadata={"token": KEY},
    )


def breaking(example, trace):
    raise ValueError(f"cannot judge {KEY}")


SCORERS = [Does(telling, f"Tells {KEY}"), Does(breaking, "Breaks")]


@pytest.fixture
def path(tmp_path):
    return tmp_path / "traces.db"


def raises(**_):
    raise ValueError(f"refused {KEY}")


@pytest.mark.parametrize("function", [None, raises], ids=["recorded", "run"])
def test_no_secret_of_an_evaluation_is_stored(path, function):
    example = Example(**EXAMPLE)
    example._source = f"{KEY}.yaml:3"
    tracer = Tracer("secrets", store=path)
    report = run_evaluation(
        [example],
        SCORERS,
        function=function,
        tracer=tracer,
        eval_run_name=f"run with {KEY}",
        model=KEY,
        metadata={"password": PASSWORD, "note": KEY},
    )
    tracer.shutdown()
    stored = everything_in(path)
    assert len(tracer.store.runs()) == 1
    assert PASSWORD not in stored
    assert KEY not in stored
    assert "[redacted]" in stored
    told = json.dumps(report.to_dict())
    assert PASSWORD in told
    assert KEY in told


def test_what_an_error_repeats_of_a_secret_input_is_not_stored(path):
    """The agent's message is that of its span, and of its result."""

    def agent(password, n):
        raise ValueError(f"{password} is not the word")

    def judging(example, trace):
        raise LookupError(f"nothing known of {example.input['password']}")

    tracer = Tracer("secrets", store=path)
    example = Example(input={"password": "open-sesame", "n": 1})
    report = run_evaluation([example], [Does(judging, "Judges")], function=agent, tracer=tracer)
    run_evaluation([example], [Does(judging, "Judges")], tracer=tracer)
    tracer.shutdown()
    stored = everything_in(path)
    assert "open-sesame" not in stored
    assert "[redacted] is not the word" in stored
    assert "nothing known of [redacted]" in stored
    assert "open-sesame is not the word" in report[0].error


def test_what_was_expected_of_a_secret_in_a_state_is_not_stored(path):
    """The diff of a state has a line for each change, or several where it is long."""
    tracer = Tracer("secrets", store=path)

    def agent(long):
        state = {"api_key": "zq-before" * long, "n": 1, "gone": {"password": "zq-gone"}}
        tracer.state("db", lambda: dict(state))
        with tracer.span("work"):
            state.update(n=2, api_key="zq-after" * long)
            del state["gone"]

    expected = {
        "db": {
            "added": {"client_secret": "zq-added"},
            "changed": {"api_key": "zq-expected", "n": 3},
            "removed": ["gone.password"],
            "only": True,
        }
    }
    for long in (1, 20):
        example = Example(input={"long": long}, expected_state=expected)
        report = run_evaluation([example], [StateScorer()], function=agent, tracer=tracer)
        assert report[0].outcome == "failed"
    tracer.shutdown()
    stored = everything_in(path)
    assert stored.split("zq-")[1:] == []
    assert "expected 3" in stored


def test_the_report_that_is_returned_is_not_touched():
    store = MemoryResults()
    example = Example(**EXAMPLE)
    before = example.to_dict()
    report = run_evaluation([example], [Does(telling)], store=store)
    (stored,) = store.reports
    assert example.to_dict() == before
    assert report[0].example.to_dict() == before
    assert report[0].scores[0].details == {"password": PASSWORD, "seen": [KEY]}
    (call,) = report[0].trace.tool_calls
    assert dict(call.arguments) == {"password": PASSWORD}
    assert stored[0].example.input["password"] == "[redacted]"
    (call,) = stored[0].trace.tool_calls
    assert (dict(call.arguments), call.output) == ({"password": "[redacted]"}, {"token": "[redacted]"})
    assert stored[0].trace_id == report[0].trace_id


def test_what_holds_no_secret_is_stored_as_it_is():
    store = MemoryResults()
    example = Example(
        input={"city": "Oslo"},
        expected_output=["rain", {"degrees": 4.5}],
        actual_output=["rain", {"degrees": 4.5}],
        expected_tools=["forecast", {"tool_name": "book", "parameters": {"nights": 2}}],
        tools_called=[
            "forecast",
            {"name": "book", "args": {"nights": 2}, "error": {"type": "E", "message": "no"}},
        ],
        context=["a"],
        additional_metadata={"customer": 7},
        name="Oslo",
    )
    report = run_evaluation([example], [Answer()], store=store, metadata={"branch": "main"})
    assert [stored.to_dict() for stored in store.reports] == [report.to_dict()]


@pytest.mark.parametrize("way", ["assert_test", "client", "interrupted"])
def test_every_way_to_evaluate_stores_without_secrets(path, way):
    def interrupts(**given):
        if "again" in given:
            raise KeyboardInterrupt

    examples = [Example(**EXAMPLE)]
    store = SQLiteStore(str(path))
    if way == "assert_test":
        with pytest.raises(EvaluationFailed) as failed:
            assert_test(examples, SCORERS, store=store)
        assert KEY not in str(failed.value)  # a test's output stands in the logs of a CI
        assert KEY in str(failed.value.report)
    elif way == "client":
        assert KEY in str(Client("secrets", store=store).run_evaluation(examples, SCORERS)[0].error or KEY)
    else:
        with pytest.raises(KeyboardInterrupt):
            run_evaluation(
                [*examples, Example(input={"again": 1})], SCORERS, store=store, function=interrupts
            )
    (run,) = store.runs()
    assert run.passed + run.failed + run.errored == 1
    store.close()
    stored = everything_in(path)
    assert PASSWORD not in stored
    assert KEY not in stored


@pytest.mark.parametrize(
    ("names", "gone"),
    [
        (["ssn"], "123-45-6789"),
        (["output"], "the answer"),
        (["actual_output"], "the answer"),
        (["input"], "123-45-6789"),
    ],
)
def test_the_names_that_a_tracer_redacts_are_redacted_in_examples(names, gone):
    tracer = Tracer("names", store=MemoryStore(), redact=names)
    example = Example(input={"ssn": "123-45-6789"}, actual_output="the answer")
    run_evaluation([example], [Answer()], tracer=tracer, store=(store := MemoryResults()))
    tracer.shutdown()
    assert gone in json.dumps(example.to_dict())
    assert gone not in json.dumps(store.reports[0].to_dict())


def test_a_tracer_s_own_rule_sees_the_values_under_the_names_that_spans_give_them():
    tracer = Tracer("rule", store=MemoryStore(), redact=lambda name, value: f"<{name}>")
    example = Example(
        input={"ssn": "1"},
        actual_output={"a": 1},
        tools_called=[{"name": "file", "arguments": {"form": "2"}, "output": "3", "kind": "slow"}],
        expected_tools=[
            {"tool_name": "file", "parameters": {"form": "4"}, "output": ["8"]},
            {"mail": {"to": "5", "name": "9"}},
            {"opt": {"tool_name": "call", "parameters": {"phone": "0"}}},
            {"any_of": ["wait", {"tool_name": "pay", "result_dependencies": ["file"]}]},
        ],
        additional_metadata={"owner": "6"},
        name="first",
    )
    run_evaluation(
        [example], [Answer()], tracer=tracer, store=(store := MemoryResults()), metadata={"ci": "7"}
    )
    tracer.shutdown()
    stored = store.reports[0][0].example
    assert stored.input == {"ssn": "<ssn>"}
    assert stored.actual_output == "<output>"
    assert stored.tools_called == [
        {"name": "file", "arguments": {"form": "<form>"}, "output": "<output>", "kind": "<kind>"}
    ]
    assert stored.expected_tools == [
        {"tool_name": "file", "parameters": {"form": "<form>"}, "output": "<output>"},
        {"mail": {"to": "<to>", "name": "<name>"}},
        {"opt": {"tool_name": "call", "parameters": {"phone": "<phone>"}}},
        {"any_of": ["wait", {"tool_name": "pay", "result_dependencies": ["file"]}]},
    ]
    assert stored.additional_metadata == {"owner": "<owner>"}
    assert store.reports[0].metadata["ci"] == "<ci>"
    assert len(store.reports[0].metadata["examples"][0]["fingerprint"]) == 16


@pytest.mark.parametrize("answer", [5, None, ["x"], {"y": 1}])
def test_a_rule_that_makes_no_text_of_a_text_loses_no_report(path, answer):
    tracer = Tracer("odd", store=path, redact=lambda name, value: answer)
    run_evaluation([Example(**EXAMPLE)], SCORERS, tracer=tracer)
    tracer.shutdown()
    (run,) = tracer.store.runs()
    assert (run.failed, run.project) == (1, "odd")
    assert tracer.store.run(run.run_id)["results"][0]["outcome"] == "failed"


def test_a_rule_that_breaks_costs_the_values_and_no_report(path):
    def broken(name, value):
        raise OSError("no rules today")

    tracer = Tracer("broken", store=path, redact=broken)
    run_evaluation([Example(**EXAMPLE)], SCORERS, tracer=tracer)
    tracer.shutdown()
    assert len(tracer.store.runs()) == 1
    assert tracer.stats()["redaction_failed"] > 0
    assert PASSWORD not in everything_in(path)


def test_what_a_later_process_is_to_judge_is_redacted_as_a_report_is():
    asked = []
    tracer = Tracer(
        "later", store=(store := MemoryStore()), redact=lambda name, value: asked.append(name) or "x"
    )
    gate = threading.Event()

    class Waits(ToolOrderScorer):
        def score(self, example, trace):
            gate.wait(60)
            return super().score(example, trace)

    tracer.async_evaluate([Waits()], input={"ssn": "1"}, actual_output="2")
    try:
        for _ in range(500):
            if store.pending_evaluations("later"):
                break
            time.sleep(0.01)
        (kept,) = store.pending_evaluations("later")
    finally:
        gate.set()
    tracer.shutdown()
    assert {"ssn", "output"} <= set(asked)
    assert (kept["example"]["input"], kept["example"]["actual_output"]) == ({"ssn": "x"}, "x")


def test_long_details_are_stored_as_they_were_when_nothing_was_redacted(path):
    """What is left out of them is counted once, though they are bounded twice on their way."""
    details = {"rows": list(range(3_000)), "by_name": {f"n{n}": [n] for n in range(2_000)}}
    scorer = Does(lambda example, trace: Score.of("Does", 1.0, 0.5, details=details))
    store = SQLiteStore(str(path))
    run_evaluation([Example(actual_output="x")], [scorer], store=store)
    (run,) = store.runs()
    kept = store.run(run.run_id)["results"][0]["scores"][0]["details"]
    store.close()
    assert kept["rows"][-1] == {"$truncated": 2_000}
    assert kept["by_name"]["$truncated"] == 1_000


def test_a_secret_argument_of_a_recorded_run_is_in_no_diff_reason_or_detail():
    run = [{"name": "login", "arguments": {"user": "ada", "password": PASSWORD, "auth": {"token": PASSWORD}}}]
    wanted = [{"login": {"user": "bob", "password": "another", "auth": {"token": "another"}}}]
    example = Example(tools_called=run, expected_tools=wanted)
    for scorer in (ToolOrderScorer(), ToolOrderScorer(exact_match=True), ToolCallArgsScorer()):
        report = run_evaluation([example], [scorer], store=MemoryStore())
        assert PASSWORD in str(report[0].scores[0].diff)
        stored = redacted_report(report, Redaction())
        (score,) = stored[0].scores
        assert PASSWORD not in json.dumps(score.to_dict())
        assert 'user: expected "bob", got "ada"' in score.diff


def test_what_is_redacted_already_keeps_its_line():
    diff = 'got login(password="[redacted]", user="ada", max_tokens=5)\nuser: expected "bob", got "ada"'
    assert Redaction().score(Score.of("s", 1.0, 1.0, diff=diff)).diff == diff
