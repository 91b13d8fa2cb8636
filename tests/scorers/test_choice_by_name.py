"""`tools=` that chooses nothing: misspelt it is an error, of no known tool what passes is vacuous."""

import pytest

from agenttrace import Tracer, call, expect
from agenttrace.core.errors import ScorerError
from agenttrace.core.example import Example
from agenttrace.core.trace import Trace
from agenttrace.scorers import (
    BudgetScorer,
    LoopScorer,
    ToolCallArgsScorer,
    ToolCallCountScorer,
    ToolOrderScorer,
    ToolPermissionScorer,
    TrajectoryScorer,
)

EXPECTED = ["find", call("refund", id=1)]
SCORERS = [
    (ToolOrderScorer, {}),
    (TrajectoryScorer, {}),
    (ToolCallArgsScorer, {}),
    (ToolCallCountScorer, {"counts": {"refund": ("=", 0)}}),
    (ToolPermissionScorer, {"deny": "refund"}),
    (LoopScorer, {}),
    (BudgetScorer, {"calls": 0}),
]
MISSPELT = [
    ("refnd", "tools='refnd' chooses no tool that is known; did you mean 'refund'?"),
    (["find", "rfund*"], "tools='rfund*' chooses no tool that is known; did you mean 'refund'?"),
    ("tag:writ", "tools='tag:writ' chooses no tag that is known; did you mean 'write'?"),
]


@pytest.fixture(scope="module")
def trace():
    tracer = Tracer("choice", store="memory")

    @tracer.observe(span_type="tool", tags=["read"])
    def find(customer):
        return {"id": 1}

    @tracer.observe(span_type="tool", tags=["write"])
    def refund(id):  # noqa: A002 - the tool's own word
        return "ok"

    with tracer.capture() as captured, tracer.span("agent", span_type="agent"):
        refund(999)
        refund(999)
    yield captured.trace
    tracer.shutdown()


@pytest.mark.parametrize(("scorer", "options"), SCORERS)
@pytest.mark.parametrize(("tools", "text"), MISSPELT)
def test_a_misspelt_tool_or_tag_is_an_error_where_all_tools_are_known(trace, scorer, options, tools, text):
    with pytest.raises(ScorerError) as raised:
        scorer(**options, tools=tools).score(Example(expected_tools=EXPECTED), trace)
    assert str(raised.value) == text


@pytest.mark.parametrize("tools", ["wire_*", "tag:money", ["wire", "tag:money"]])
def test_a_guard_of_tools_that_there_are_not_is_vacuous(trace, tools):
    example = Example(expected_tools=expect(never="refund"))
    for scorer in (ToolOrderScorer(tools=tools), ToolPermissionScorer(deny="refund", tools=tools)):
        score = scorer.score(example, trace)
        assert score.details["vacuous"]
        assert score.details["vacuous_because"].startswith("no known tool is ")
    assert LoopScorer(tools=tools).score(example, trace).details["vacuous"] == ["no redundant calls"]


def test_the_path_of_such_a_choice_is_vacuous_too(trace):
    score = ToolOrderScorer(tools="wire_*").score(Example(expected_tools=EXPECTED), trace)
    assert score.details["vacuous"] == ["no calls expected"]


@pytest.mark.parametrize("tools", ["refund", "ref*", "tag:write", ["pay", "refund"]])
def test_what_chooses_a_known_tool_is_compared(trace, tools):
    score = ToolOrderScorer(tools=tools).score(Example(expected_tools=[call("refund", id=1)]), trace)
    assert (score.outcome, "vacuous" in score.details) == ("failed", False)


def test_nothing_is_refused_where_not_all_tools_are_known():
    recorded = Trace.from_calls([{"name": "refund"}])
    score = ToolOrderScorer(tools="refnd").score(Example(expected_tools=["refnd"]), recorded)
    assert score.outcome == "failed"
    assert ToolOrderScorer(tools="refnd").score(Example(expected_tools=[]), recorded).passed


def test_a_choice_that_none_of_the_expected_tools_is_among_is_vacuous():
    run = Example(expected_tools=["refund"], tools_called=["lookup", "refund"])
    for tools in ("refnd", "tg:write", "re_fund*"):
        score = ToolOrderScorer(tools=tools).score(run)
        assert score.details["vacuous"] == ["no calls expected"]
        assert "chooses no tool that is expected or was called" in score.details["vacuous_because"]
    assert "vacuous" not in ToolOrderScorer(tools="refund").score(run).details
    assert (
        "vacuous"
        not in ToolOrderScorer(tools="lookup").score(Example(**run.model_dump(exclude_unset=True))).details
    )


@pytest.mark.parametrize(
    "scorer", [ToolPermissionScorer(deny="wire_*"), LoopScorer()], ids=lambda scorer: scorer.name
)
def test_a_guard_of_a_run_of_which_nothing_was_recorded_is_vacuous(scorer):
    from agenttrace import run_evaluation

    tracer = Tracer("shop", store="memory")
    tracer.observe(lambda: 1, span_type="tool", name="wire_money")
    (result,) = run_evaluation([Example(input="x")], [scorer], function=lambda x: "done", tracer=tracer)
    assert result.scores[0].details["vacuous"]
    assert "nothing was recorded of the run" in result.scores[0].details["vacuous_because"]
    agent = tracer.observe(lambda x: "done", span_type="agent")
    (result,) = run_evaluation([Example(input="x")], [scorer], function=agent, tracer=tracer)
    assert "vacuous" not in result.scores[0].details
    tracer.shutdown()
