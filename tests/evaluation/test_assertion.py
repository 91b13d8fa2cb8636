import pytest

from agenttrace.core.errors import ConfigError, DatasetError, ScorerError
from agenttrace.core.example import Example
from agenttrace.core.report import EvaluationFailed
from agenttrace.core.tool import ToolDefinition
from agenttrace.core.trace import Trace
from agenttrace.evaluation import assert_test
from agenttrace.expectations import expect
from agenttrace.reports import report_text
from agenttrace.scorers import ExactMatchScorer, ToolOrderScorer
from agenttrace.tracer import Tracer
from tests.evaluation.evaluation_fakes import Answer, Does, scored


def good():
    return Example(input={"x": 1}, expected_output=2, name="good")


def bad():
    return Example(input={"x": 1}, expected_output=3, name="bad")


def double(x):
    return 2 * x


def flaky(every):
    """An agent that is right all but each `every`-th time."""
    calls = iter(range(1, 1000))
    return lambda x: 2 * x if next(calls) % every else None


def test_a_passing_test_returns_its_report(tracer):
    assert assert_test([good()], [Answer()], function=double, tracer=tracer).passed


def test_a_failing_test_raises_an_assertion_error_with_the_printed_report(tracer):
    with pytest.raises(AssertionError) as caught:
        assert_test(examples=[good(), bad()], scorers=[Answer()], function=double, tracer=tracer)
    text = str(caught.value)
    assert "TEST RESULTS: 1/2 passed (1 failed)" in text
    assert "✗ Test 2: FAILED" in text
    assert "Scorer: Answer" in text
    assert "Reason: output against expectation" in text
    assert isinstance(caught.value, EvaluationFailed)
    assert not caught.value.errored
    assert [result.outcome for result in caught.value.report] == ["passed", "failed"]


def test_an_errored_test_raises_and_says_that_it_is_no_failure(tracer):
    def breaks(example, trace):
        raise KeyError("judge")

    with pytest.raises(EvaluationFailed, match="1 errored") as caught:
        assert_test([good()], [Does(breaks)], function=double, tracer=tracer)
    assert caught.value.errored


def test_examples_come_from_a_file(tracer, tmp_path):
    path = tmp_path / "tests.yaml"
    path.write_text("examples:\n  - input:\n      x: 1\n    expected_output: 3\n")
    with pytest.raises(EvaluationFailed, match=r"expected at .*tests.yaml:2"):
        assert_test(test_file=path, scorers=[Answer()], function=double, tracer=tracer)


def test_a_file_that_is_missing_or_empty_is_a_dataset_error(tmp_path):
    with pytest.raises(DatasetError, match=r"none\.yaml"):
        assert_test(test_file=tmp_path / "none.yaml", scorers=[Answer()], function=double)
    (tmp_path / "empty.yaml").write_text("")
    with pytest.raises(DatasetError, match=r"empty\.yaml"):
        assert_test(test_file=tmp_path / "empty.yaml", scorers=[Answer()], function=double)


def test_a_file_without_examples_is_named(tmp_path):
    path = tmp_path / "none.yaml"
    path.write_text("examples: []\n")
    with pytest.raises(DatasetError) as caught:
        assert_test(test_file=path, scorers=[Answer()], function=double)
    assert str(caught.value).startswith(f"{path}: there are no examples")


def test_an_example_of_a_file_that_lacks_what_a_scorer_needs_is_told_with_its_line(tmp_path):
    path = tmp_path / "bare.yaml"
    path.write_text("examples:\n  - name: bare\n    input: a\n")
    with pytest.raises(ScorerError) as caught:
        assert_test(test_file=path, scorers=[ToolOrderScorer()], function=double)
    assert str(caught.value).startswith(f"{path}:2: example 1 ('bare'): Tool Order needs the example's")


def test_examples_and_a_file_are_one_or_the_other():
    with pytest.raises(ConfigError, match="both given"):
        assert_test(examples=[good()], test_file="tests.yaml", scorers=[Answer()])
    with pytest.raises(ConfigError, match="neither given"):
        assert_test(scorers=[Answer()])


def test_a_requirement_allows_for_flakiness(tracer):
    report = assert_test(
        [good()], [Answer()], function=flaky(5), tracer=tracer, trials=10, require="pass_rate >= 0.8"
    )
    assert report.counts == {"passed": 8, "failed": 2, "errored": 0}
    with pytest.raises(EvaluationFailed, match=r"^required pass_rate >= 0.9, got 0.8 "):
        assert_test(
            [good()], [Answer()], function=flaky(5), tracer=tracer, trials=10, require="pass_rate >= 0.9"
        )


def test_a_requirement_never_covers_an_errored_result(tracer):
    calls = iter(range(100))

    def breaks_once(example, trace):
        return scored(1.0) if next(calls) else None

    with pytest.raises(EvaluationFailed) as caught:
        assert_test(
            [good()],
            [Does(breaks_once)],
            function=double,
            tracer=tracer,
            trials=10,
            require="pass_rate >= 0.5",
        )
    assert caught.value.errored


def test_a_guard_that_no_run_can_break_is_a_warning_of_a_test_that_passes():
    known = {"delete_order": ToolDefinition(name="delete_order")}
    trace = Trace(Trace.from_calls(["find"]).spans, tools=known)

    class Guarded:
        name, threshold = "Tool Order", 1.0

        def score(self, example, _):
            return ToolOrderScorer().score(example, trace)

    with pytest.warns(UserWarning, match=r"Tool Order: never delte_\*: vacuous in 1 of 1"):
        report = assert_test([Example(expected_tools=expect(never="delte_*"))], [Guarded()])
    assert "? Tool Order: never delte_*: vacuous" in report_text(report)
    assert "vacuous, no known tool has such a name: never delte_*" in report[0].scores[0].reason


def test_the_first_line_says_what_failed_for_lists_of_failed_tests():
    examples = [
        Example(name=name, actual_output="x", expected_output="y")
        for name in ("first", "second", "third", "fourth")
    ]
    with pytest.raises(EvaluationFailed) as caught:
        assert_test(examples=examples, scorers=[ExactMatchScorer()])
    first = str(caught.value).splitlines()[0]
    assert first.startswith("4 failed of 4: first, second, third, … 1 more: differs in 1 place")


def test_the_first_line_ends_with_what_the_agent_raised_on_one_safe_line():
    def agent(prompt):
        raise ValueError("no\nroute \x1b[31m to the host")

    with pytest.raises(EvaluationFailed) as caught:
        assert_test(
            function=agent,
            examples=[Example(input="a", name="route", expected_output="b")],
            scorers=[ExactMatchScorer()],
        )
    first = str(caught.value).splitlines()[0]
    assert first.startswith("route: route")
    assert "\x1b" not in first


def test_several_requirements_must_all_hold_and_the_first_that_does_not_comes_first(tracer):
    def run(*lines):
        return assert_test(
            [good()], [Answer()], function=flaky(5), tracer=tracer, trials=10, require=list(lines)
        )

    report = run("pass_rate >= 0.8", "mean(Answer) >= 0.8")
    assert [verdict["holds"] for verdict in report.metadata["requirements"]] == [True, True]
    assert report.metadata["require"] == ["pass_rate >= 0.8", "mean(Answer) >= 0.8"]
    with pytest.raises(
        EvaluationFailed, match=r"✗ required: pass\^2 >= 0.9, got 0.622 .*\n✓ required: pass_rate >= 0.8, got"
    ):
        run("pass_rate >= 0.8", "pass^2 >= 0.9")


@pytest.mark.parametrize(
    ("require", "said"),
    [
        ("mean(Answr) >= 0.8", "there is no scorer 'Answr'; did you mean 'Answer'"),
        (["pass_rate >= 0.8", "pass^4 >= 0.1"], r"'pass\^4 >= 0.1' needs 4 trials of each example, got 3"),
        ("pas_rate >= 0.8", "no measure 'pas_rate'; did you mean 'pass_rate'"),
    ],
)
def test_a_requirement_that_cannot_be_is_an_error_before_any_agent_runs(tracer, require, said):
    calls = []
    with pytest.raises(ConfigError, match=said):
        assert_test([good()], [Answer()], function=calls.append, tracer=tracer, trials=3, require=require)
    assert calls == []


def test_trials_stop_when_what_is_required_is_settled(tracer):
    report = assert_test(
        [good()], [Answer()], function=double, tracer=tracer, trials="auto", require="pass_rate >= 0.8"
    )
    assert len(report) == 12


def test_recorded_runs_can_be_required_to_pass_as_trials(tracer):
    runs = [Example(name="one", expected_output=1, actual_output=output) for output in (1, 1, 1, 2)]
    assert_test(runs, [Answer()], trials_by="name", require="pass^2 >= 0.5")
    with pytest.raises(ConfigError, match="needs 5 trials"):
        assert_test(runs, [Answer()], trials_by="name", require="pass^5 >= 0.5")


@pytest.mark.parametrize(("name", "hint"), [("only", "; choose among the examples"), ("trails", "'trials'")])
def test_an_unknown_option_is_an_error_in_the_name_of_the_function_that_was_called(name, hint):
    with pytest.raises(TypeError) as error:
        assert_test([good()], [Answer()], **{name: ["good"]})
    assert str(error.value).startswith(f"assert_test() got an unexpected keyword argument {name!r}")
    assert hint in str(error.value)


def test_what_is_printed_of_a_failure_has_no_secrets_and_the_report_has_them():
    tracer = Tracer("shop", store="memory", redact=["loyalty"])
    expected = [
        {"tool_name": "login", "parameters": {"user": "ada", "password": "hunter2", "loyalty": "gold-7"}}
    ]
    calls = [{"name": "login", "arguments": {"user": "bob", "password": "hunter3", "loyalty": "gold-8"}}]
    example = Example(expected_tools=expected, tools_called=calls)
    with pytest.raises(EvaluationFailed) as failed:
        assert_test([example], [ToolOrderScorer()], tracer=tracer)
    text = str(failed.value)
    assert not any(secret in text for secret in ("hunter2", "hunter3", "gold-7", "gold-8"))
    assert "bob" in text
    assert failed.value.report[0].example.expected_tools == expected
    tracer.shutdown()
