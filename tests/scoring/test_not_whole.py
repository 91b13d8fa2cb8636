"""A score of the user's own scorer says what it was shown that was not recorded whole."""

import asyncio

import pytest

from agenttrace.core.errors import ScorerError
from agenttrace.core.example import Example
from agenttrace.core.score import Score
from agenttrace.core.trace import Trace
from agenttrace.evaluation import run_evaluation
from agenttrace.scorers import ContainsScorer, ToolOrderScorer, not_whole, scorer
from tests.scoring.test_apply import score_at_once

CUT = "abc…[+7 chars]"
LONG = "x" * 200_000 + " BANNED"
DETAIL = "not_recorded_whole"


@scorer
def no_banned_word(output):
    return "BANNED" not in output


@scorer
def all_calls(tool_calls):
    return True, "as called"


@scorer
async def asked_later(input):  # noqa: A002 - the field's own word
    await asyncio.sleep(0)
    return 1.0


class Own:
    name, threshold = "Own", 0.5

    def score(self, example, trace):
        return Score.of(self.name, 1.0, self.threshold, reason="fine", details={"mine": 1})


def test_a_score_of_what_was_cut_says_so_in_production_and_from_the_store(tracer):
    @tracer.observe(span_type="agent", scorers=[no_banned_word, Own()])
    def agent(question):
        return LONG

    (in_ci,) = run_evaluation([Example(input="q")], [no_banned_word], function=agent, tracer=tracer)
    assert (in_ci.scores[0].outcome, in_ci.scores[0].reason, in_ci.scores[0].details) == ("failed", "", {})

    (asked,) = tracer.async_evaluate([no_banned_word], actual_output=LONG).result(60)
    agent("q")
    assert tracer.wait_for_evaluations(60)
    tracer.flush()
    newest = tracer.store.trace(tracer.store.traces(limit=1, name="agent")[0].trace_id)
    observed = {score.name: score for _, score in tracer.store.scores(newest.trace_id)}
    for score in (asked, observed["no_banned_word"], no_banned_word.score(Example(), newest)):
        assert (score.outcome, score.details[DETAIL]) == ("passed", {"actual_output": "cut"})
        assert score.reason == "(The scorer did not see everything: actual_output was cut.)"
    own = observed["Own"]
    assert (
        own.reason == "fine (The scorer did not see everything: actual_output was cut; trace.output was cut.)"
    )
    assert own.details == {"mine": 1, DETAIL: {"actual_output": "cut", "trace.output": "cut"}}


def test_arguments_outputs_and_errors_of_calls_are_named_each_with_its_call():
    calls = [
        {"name": "a", "arguments": {"x": 1, "deep": [{"k": CUT}]}, "output": {"[redacted]": 1}},
        {"name": "b", "arguments": {"$truncated": 3}, "error": CUT},
        {"name": "c", "output": {"$not_recorded": "say so"}},
    ]
    score = all_calls.score(Example(tools_called=calls))
    assert score.details[DETAIL] == {
        "tool_calls[0].arguments.deep": "cut",
        "tool_calls[0].output": "redacted",
        "tool_calls[1].arguments": "cut",
        "tool_calls[1].error": "cut",
        "tool_calls[2].output": "not recorded",
    }
    assert score.reason.startswith(
        "as called (The scorer did not see everything: deep of a (call 1) was cut; output of a"
    )


def test_only_what_a_function_asks_for_counts():
    example = Example(input=CUT, actual_output="whole", tools_called=[{"name": "a", "output": CUT}])
    assert no_banned_word.score(example).details == {}
    assert asyncio.run(asked_later.score(example)).details[DETAIL] == {"input": "cut"}
    assert list(all_calls.score(example).details[DETAIL]) == ["tool_calls[0].output"]
    own = score_at_once(Own(), example, Trace.from_calls(example.tools_called))
    assert list(own.details[DETAIL]) == ["input", "tools_called", "tool_calls[0].output"]


def test_what_was_not_opened_counts_in_an_answer_and_not_in_a_call():
    mark = {"$type": "shop.Cart"}
    assert no_banned_word.score(Example(actual_output=mark)).details[DETAIL] == {
        "actual_output": "not opened"
    }
    assert all_calls.score(Example(tools_called=[{"name": "a", "output": [mark]}])).details == {}
    both = [{"name": "a", "output": [CUT, mark]}]
    assert all_calls.score(Example(tools_called=both)).details[DETAIL] == {"tool_calls[0].output": "cut"}


def test_a_scorer_that_could_not_tell_stays_as_it_is():
    @scorer
    def raises(output):
        raise ScorerError("no")

    @scorer
    def skips(output):
        return Score.skipped("skips", 0.5, "by design")

    errored = score_at_once(raises, Example(actual_output=CUT), None)
    assert (errored.outcome, errored.reason, errored.details) == ("errored", "no", {})
    assert skips.score(Example(actual_output=CUT)) == Score.skipped("skips", 0.5, "by design")


def test_scorers_of_ours_say_it_in_their_own_way():
    class Renamed(ContainsScorer):
        pass

    example = Example(actual_output=CUT, expected_output="abc", expected_tools=[], tools_called=[])
    for ours in (ContainsScorer(), Renamed(), ToolOrderScorer()):
        score = score_at_once(ours, example, None)
        assert score.passed
        assert DETAIL not in score.details


def test_it_is_said_once_where_one_scorer_asks_another():
    class Asks(Own):
        def score(self, example, trace):
            return no_banned_word.score(example, trace)

    score = score_at_once(Asks(), Example(actual_output=CUT), None)
    assert score.reason.count("did not see everything") == 1


@pytest.mark.parametrize("value", [[{"k": "v"}] * 3, {"k": [None, 1.5, b"x"]}, "plain"])
def test_a_value_that_is_whole_changes_no_score(value):
    score = score_at_once(Own(), Example(actual_output=value, input={"a": value}), None)
    assert (score.reason, score.details) == ("fine", {"mine": 1})


def test_a_value_within_itself_is_looked_at_once():
    loop = [CUT]
    loop[:0] = [loop]
    assert no_banned_word.score(Example(actual_output=loop)).details[DETAIL] == {"actual_output": "cut"}


def test_a_huge_value_is_looked_at_up_to_a_bound_and_the_score_says_so(monkeypatch):
    monkeypatch.setattr(not_whole, "MOST_PARTS", 100)
    score = no_banned_word.score(Example(actual_output=["x"] * 500))
    assert score.details[DETAIL] == {"(the rest)": "not looked at"}
    assert score.reason == "(Only 100 parts of what it saw were looked at for what is missing.)"


def test_of_very_many_such_values_the_first_are_named():
    calls = [{"name": "a", "output": CUT} for _ in range(80)]
    score = all_calls.score(Example(tools_called=calls))
    assert len(score.details[DETAIL]) == 51
    assert score.reason.endswith("output of a (call 5) was cut; so were parts of 75 more values.)")
