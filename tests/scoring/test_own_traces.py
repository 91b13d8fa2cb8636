"""What a scorer of one's own changes in its trace, no other scorer and no report sees."""

import asyncio
import pickle

import pytest

from agenttrace.core.example import Example
from agenttrace.core.score import Score
from agenttrace.core.trace import Trace
from agenttrace.evaluation import run_evaluation
from agenttrace.scorers import ContainsScorer, LoopScorer, ToolCallArgsScorer, ToolCallOutputScorer, scorer
from agenttrace.scoring.copies import copied_trace
from agenttrace.suite.damaged_run import ScoredRun
from tests.scoring.test_apply import score_at_once

CALL = {"name": "refund", "arguments": {"id": 7, "notes": ["x"]}, "output": {"ok": False}}
EXACT = (
    ToolCallArgsScorer([{"name": "refund", "args": {"id": 7}}]),
    ToolCallOutputScorer([{"name": "refund", "output": {"ok": True}}]),
)


def change(trace):
    for call in trace.tool_calls:
        call.arguments.pop("notes", None)
        call.output["ok"] = True
    for span in trace.spans:
        span.output = None
        span.attributes = {}
    trace.tool_calls = ()


class Changes:
    name, threshold = "Changes", 0.5

    def score(self, example, trace):
        change(trace)
        return Score.of(self.name, 1.0, self.threshold)


class ChangesLater(Changes):
    async def score(self, example, trace):
        await asyncio.sleep(0)
        return super().score(example, trace)


class ChangesAsOurs(LoopScorer):
    def score(self, example, trace=None):
        change(trace)
        return Score.of(self.name, 1.0, self.threshold)


@scorer(name="Function")
def changes(trace):
    change(trace)
    return True


@scorer(name="Calls")
def changes_calls(tool_calls):
    for call in tool_calls:
        call.arguments.clear()
        call.output["ok"] = True
    return True


OWN = [Changes(), ChangesLater(), ChangesAsOurs(), changes, changes_calls]


@pytest.fixture
def refund(tracer):
    @tracer.tool
    def refund(id, notes):  # noqa: A002 - the tool's own word
        return {"ok": False}

    return refund


@pytest.mark.parametrize("own", OWN, ids=lambda own: own.name)
def test_a_scorer_that_changes_the_trace_changes_no_other_score_and_no_report(own, refund, tracer):
    example = Example(input={"id": 7, "notes": ["x"]})
    for scorers in ([*EXACT, own], [own, *EXACT]):
        (result,) = run_evaluation([example], scorers, function=refund, tracer=tracer)
        outcomes = {score.name: score.outcome for score in result.scores}
        assert outcomes == {own.name: "passed", "Tool Call Args": "failed", "Tool Call Output": "failed"}
        (call,) = result.trace.tool_calls
        assert (call.arguments, call.output) == ({"id": 7, "notes": ["x"]}, {"ok": False})


@pytest.mark.parametrize("own", OWN, ids=lambda own: own.name)
def test_so_it_is_in_production(own, tracer):
    for scorers in ([*EXACT, own], [own, *EXACT]):
        scores = tracer.async_evaluate(scorers, tools_called=[CALL]).result(60)
        outcomes = {score.name: score.outcome for score in scores}
        assert outcomes == {own.name: "passed", "Tool Call Args": "failed", "Tool Call Output": "failed"}


def test_so_it_is_where_a_run_is_damaged_to_see_which_scorer_notices():
    trace = Trace.from_calls([CALL])
    run = ScoredRun(1, Example(), trace, (Changes(), *EXACT))
    outcomes = [score.outcome for score in run.scores(trace.tool_calls, None)]
    assert outcomes == ["passed", "failed", "failed"]


def test_a_scorer_of_ours_is_given_the_trace_itself():
    seen = []

    class Ours(ContainsScorer):
        def score(self, example, trace=None):
            seen.append(trace)
            return self.scored(1.0, "")

    trace = Trace.from_calls([CALL])
    score_at_once(Ours(), Example(), trace)
    Ours.__module__ = "agenttrace.scorers.ours"
    score_at_once(Ours(), Example(), trace)
    assert seen[0] is not trace
    assert seen[1] is trace


def test_a_copied_trace_tells_the_same_and_leaves_the_process_as_a_trace():
    trace = Trace.from_calls([CALL, "lookup"], output={"done": [1]}, tags=["t"], metadata={"m": {"n": 1}})
    own = copied_trace(trace)
    for one in (own, pickle.loads(pickle.dumps(own))):
        assert one.to_dict() == trace.to_dict()
        assert one.tool_calls == trace.tool_calls
        assert one.output == trace.output
        assert one.output is not trace.output
        assert one.tool_calls[0].arguments is not trace.tool_calls[0].arguments
    assert type(pickle.loads(pickle.dumps(own))) is Trace
    assert own.tool_calls[0].arguments is own.by_key[int(own.tool_calls[0].span_id, 16)].input
