"""What a report repeats of a secret that its example or its trace has is neither stored nor shown."""

import json
import multiprocessing
from concurrent.futures import ProcessPoolExecutor

import pytest

from agenttrace.core.example import Example
from agenttrace.core.report import EvaluationFailed
from agenttrace.core.score import Score
from agenttrace.evaluation import assert_test, run_evaluation
from agenttrace.expectations import call
from agenttrace.redaction import Redaction
from agenttrace.scorers import ContainsScorer, StateScorer, ToolCallOutputScorer, ToolOrderScorer
from agenttrace.scoring.redacted import redacted_example, redacted_report
from agenttrace.tracer import Tracer
from tests.evaluation.evaluation_fakes import Does, scored
from tests.stored_text import everything_in

PASSWORD = "brimstoneQ47x"
RECORDED = [{"name": "get_password", "arguments": {"user": "ann"}, "output": PASSWORD}]
ANY = [ContainsScorer(["zz"])]
tracer = Tracer("repeats", store="memory")


@tracer.observe(span_type="tool")
def login(password):
    return "x"


@tracer.observe(span_type="tool")
def get_password(user):
    return PASSWORD


@tracer.observe(span_type="tool")
def refuse(password):
    raise ValueError(f"no: {password}")


def answers_with_an_argument(q):
    login(PASSWORD)
    return f"done {PASSWORD}"


def answers_with_a_result(q):
    return {"text": f"done {get_password('ann')}"}


def raises_an_argument(q):
    login(PASSWORD)
    raise ValueError(f"boom {PASSWORD}")


def raises_a_result(q):
    raise ValueError(f"boom {get_password('ann')}")


def stored_text(path, examples, scorers, **options):
    """All that a run leaves in a new store; what it returns still has the secret."""
    report = run_evaluation(examples, scorers, store=path, **options)
    assert PASSWORD in json.dumps(report.to_dict())
    return everything_in(path)


@pytest.mark.parametrize(
    "expected",
    [
        [call("get_password", output="zz")],
        [{"tool_name": "get_password", "output": "zz"}],
        call("get_password", output="zz") >> "login",
    ],
    ids=["call", "mapping", "pattern"],
)
def test_a_diff_does_not_show_the_secret_that_a_recorded_call_returned(tmp_path, expected):
    example = Example(tools_called=RECORDED, expected_tools=expected)
    stored = stored_text(tmp_path / "a.db", [example], [ToolOrderScorer()])
    assert PASSWORD not in stored
    assert "[redacted]" in stored
    with pytest.raises(EvaluationFailed) as failed:
        assert_test([example], [ToolOrderScorer()], store="memory")
    assert PASSWORD not in str(failed.value)


@pytest.mark.parametrize("output", [PASSWORD, {"$has": PASSWORD}, {"$in": ["zz", PASSWORD]}])
def test_an_expected_output_that_is_a_secret_is_not_stored(tmp_path, output):
    recorded = [{"name": "get_password", "output": "other"}]
    wanted = [{"tool_name": "get_password", "output": output}]
    example = Example(tools_called=recorded, expected_tools=wanted)
    assert PASSWORD not in stored_text(tmp_path / "a.db", [example], [ToolOrderScorer()])


def test_an_output_in_the_options_of_a_scorer_that_is_a_secret_is_not_stored(tmp_path):
    example = Example(tools_called=[{"name": "get_password", "output": "other"}])
    scorer = ToolCallOutputScorer([{"name": "get_password", "output": PASSWORD}])
    assert PASSWORD not in stored_text(tmp_path / "a.db", [example], [scorer])


@pytest.mark.parametrize(
    "agent", [answers_with_an_argument, answers_with_a_result, raises_an_argument, raises_a_result]
)
def test_a_result_does_not_repeat_what_its_trace_redacts(tmp_path, agent):
    example = Example(
        input={"q": 1}, expected_output=f"done {PASSWORD}", expected_tools=["login"], context=[PASSWORD]
    )
    scorers = [ToolOrderScorer(), ContainsScorer(["zz", PASSWORD])]
    stored = stored_text(tmp_path / "a.db", [example], scorers, function=agent, metadata={"note": PASSWORD})
    assert PASSWORD not in stored
    assert ("boom [redacted]" if "raises" in agent.__name__ else "done [redacted]") in stored


def test_a_word_that_a_failed_call_was_given_stands_in_no_error(tmp_path):
    def agent(q):
        refuse("swordfish")

    report = run_evaluation([Example(input={"q": 1})], ANY, function=agent, store=tmp_path / "a.db")
    assert "no: swordfish" in report[0].error
    stored = everything_in(tmp_path / "a.db")
    assert "swordfish" not in stored.replace('refuse(\\"swordfish\\")', "").replace('refuse("swordfish")', "")


def test_a_result_holds_only_those_secrets_that_it_repeats():
    def silent(q):
        login(PASSWORD)
        return "done"

    examples = [Example(input={"q": 1})]
    repeated = [
        run_evaluation(examples, ANY, function=agent, store="memory")[0].repeated_secrets
        for agent in (silent, answers_with_an_argument)
    ]
    assert repeated == [frozenset(), {PASSWORD}]


def test_what_an_agent_in_another_process_repeats_is_not_stored(tmp_path):
    with ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn")) as executor:
        stored = stored_text(
            tmp_path / "a.db",
            [Example(input={"q": 1})],
            [ContainsScorer(["zz"])],
            function=answers_with_a_result,
            executor=executor,
        )
    assert PASSWORD not in stored
    assert "done [redacted]" in stored


@pytest.mark.parametrize("secret", [PASSWORD, "swordfish"])
def test_a_diff_of_a_state_does_not_show_the_secret_that_was_expected(tmp_path, secret):
    state = {"u": {"password": "first2Q"}}

    def agent(q):
        tracer.state("db", lambda: state)
        state["u"]["password"] += "second"
        login("x")

    example = Example(input={"q": 1}, expected_state={"db": {"changed": {"u.password": secret}}})
    report = run_evaluation([example], [StateScorer()], function=agent, store=tmp_path / "a.db")
    assert secret in report[0].scores[0].diff
    assert secret not in everything_in(tmp_path / "a.db")


def test_numbers_are_those_of_the_values_and_not_of_what_is_shown():
    example = Example(tools_called=RECORDED, expected_tools=[call("get_password", output=PASSWORD)])
    report = run_evaluation([example], [ToolOrderScorer()], store="memory")
    shown = redacted_report(report, Redaction())
    assert report[0].scores[0].value == shown[0].scores[0].value == 1.0


def test_a_score_does_not_repeat_a_secret_of_its_own_details():
    score = Score.of(
        "s",
        0.0,
        1.0,
        reason=f"got {PASSWORD}",
        diff=f"- {PASSWORD}",
        details={"password": PASSWORD, "seen": [PASSWORD]},
        metadata={"note": PASSWORD},
    )
    assert PASSWORD not in json.dumps(Redaction().score(score).to_dict())


def test_fields_of_an_example_repeat_no_secret_of_one_another():
    fields = Example(input={"api_key": PASSWORD}, expected_output=f"is {PASSWORD}", name=PASSWORD).to_dict()
    redacted = redacted_example(fields, Redaction())
    assert PASSWORD not in json.dumps(redacted)
    assert redacted["expected_output"] == "is [redacted]"


def test_words_dates_and_short_texts_stay_where_they_stand_by_chance(tmp_path):
    def agent(q):
        login("Oslo")
        login("a1b2")
        return "Oslo is fine, a1b2 too"

    run_evaluation(
        [Example(input={"q": 1})], ANY, function=agent, store=tmp_path / "a.db", metadata={"city": "Oslo"}
    )
    assert "Oslo is fine, a1b2 too" in everything_in(tmp_path / "a.db")


def test_a_run_of_which_a_secret_was_taken_out_of_an_option_is_resumed(tmp_path):
    examples, path = [Example(input={"q": n}, name=str(n)) for n in (1, 2)], tmp_path / "a.db"
    scorers = [ContainsScorer([PASSWORD])]
    first = run_evaluation(examples[:2], scorers, function=answers_with_an_argument, store=path, stop_after=1)
    again = run_evaluation(
        examples, scorers, function=answers_with_an_argument, store=path, resume=first.run_id
    )
    assert again.run_id == first.run_id
    assert PASSWORD not in everything_in(path)


def test_online_scores_repeat_no_secret_of_the_example_and_of_the_trace(tmp_path):
    def judging(example, trace):
        output = example.actual_output
        return scored(0.0, reason=output, details={"seen": (output,)})

    online = Tracer("online", store=tmp_path / "a.db")

    @online.observe(span_type="tool")
    def sign_in(password):
        return "x"

    @online.observe
    def agent():
        sign_in(PASSWORD)
        output = f"done {PASSWORD} and pearl9Hx3w"
        return online.async_evaluate(
            [Does(judging, "Judges")], input={"api_key": "pearl9Hx3w"}, actual_output=output
        )

    handle = agent()
    (score,) = handle.result(timeout=30)
    online.shutdown()
    assert PASSWORD in score.reason
    stored = everything_in(tmp_path / "a.db")
    assert PASSWORD not in stored
    assert "pearl9Hx3w" not in stored
    assert "done [redacted] and [redacted]" in stored


def test_a_reason_does_not_repeat_a_word_that_is_a_secret_of_the_input():
    example = Example(input={"password": "swordfish"}, actual_output="x")
    judges = Does(lambda example, trace: scored(0.0, reason="swordfish is wrong"), "Judges")
    report = run_evaluation([example], [judges], store="memory")
    assert redacted_report(report, Redaction())[0].scores[0].reason == "[redacted] is wrong"
