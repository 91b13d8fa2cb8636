"""``tools="tag:…"``: where nothing says which tags an expected tool has, both are considered."""

import gzip
import json
import random
from collections import Counter
from pathlib import Path

import pytest

from agenttrace import Example, ScorerError, Trace, any_of, many, opt, par
from agenttrace.expectations.expectation import MODES
from agenttrace.scorers import (
    BudgetScorer,
    ExecutionOrderScorer,
    FunctionCallCoverageScorer,
    LoopScorer,
    ToolCallArgsScorer,
    ToolCallCountScorer,
    ToolCallOrderScorer,
    ToolCallOutputScorer,
    ToolOrderScorer,
    ToolPermissionScorer,
    TrajectoryScorer,
)

PAY = {"name": "pay", "kind": "write", "output": None}
COMPARING = [
    ToolOrderScorer,
    TrajectoryScorer,
    ToolCallOrderScorer,
    FunctionCallCoverageScorer,
    ToolCallArgsScorer,
    ToolCallOutputScorer,
]


@pytest.mark.parametrize("scorer", COMPARING)
def test_whether_a_tool_counts_of_which_nothing_says_the_tags_cannot_be_told(scorer):
    expected = [{"name": name, "output": None} for name in ("pay", "refund")]

    def scored(*called):
        return scorer(tools="tag:write").score(Example(expected_tools=expected, tools_called=called))

    unknown = scored(PAY, {"name": "get_user", "kind": "read", "output": None})
    assert unknown.outcome == "errored"
    assert "the record does not tell: the expected tool refund was not tagged" in unknown.reason
    assert "choose the tools by name" in unknown.reason
    told = unknown.details["cannot_be_told"]
    assert told["against"] < told["in_favour"] == 1.0
    assert scored(PAY, {"name": "refund", "kind": "read", "output": None}).outcome == "passed"
    assert scored(PAY, {"name": "refund", "kind": "write", "output": None}).outcome == "passed"


@pytest.mark.parametrize("scorer", COMPARING)
def test_the_kind_of_an_expected_call_says_which_tools_count(scorer):
    def scored(kind, *called):
        expected = [{"name": "pay", "output": None}]
        expected += [{"name": "refund", "args": {}, "output": None, "kind": kind}]
        return scorer(tools="tag:write").score(Example(expected_tools=expected, tools_called=called))

    read = {"name": "get_user", "kind": "read", "output": None}
    assert scored("write", PAY, read).outcome == "failed"
    assert scored("read", PAY, read).outcome == "passed"
    assert (
        scored("write", PAY, {"name": "refund", "kind": "read", "output": None}).outcome == "passed"
    )  # the record knows
    assert (
        scored("write", PAY, {"name": "refund", "output": None}).outcome == "passed"
    )  # the record does not say


def test_a_verdict_that_does_not_depend_on_the_tags_stands():
    example = Example(expected_tools=["pay", "refund", "pay"], tools_called=[PAY])
    score = ToolOrderScorer(tools="tag:write").score(example)
    assert (score.outcome, score.value) == ("failed", 0.0)
    share = TrajectoryScorer(threshold=0.3, tools="tag:write").score(example)
    assert (share.outcome, share.value, share.details["cannot_be_told"]["in_favour"]) == (
        "passed",
        1 / 3,
        0.5,
    )


def test_a_count_is_read_in_its_own_direction():
    def scored(counts):
        return ToolCallCountScorer(counts, tools="tag:write").score(Example(tools_called=[PAY]))

    assert scored({"pay": ("=", 1), "refund": (">=", 1)}).outcome == "errored"
    assert scored({"pay": ("=", 1), "refund": ("=", 0)}).outcome == "passed"
    failing = scored({"pay": ("=", 2), "refund": ("=", 0)})
    assert (failing.outcome, failing.value) == ("failed", 0.0)
    assert failing.details["cannot_be_told"]["in_favour"] == 0.5


@pytest.mark.parametrize(
    "scorer",
    [
        lambda tools: ToolOrderScorer(tools=tools),
        lambda tools: ToolCallOrderScorer(tools=tools),
        lambda tools: ExecutionOrderScorer(tools=tools),
        lambda tools: LoopScorer(tools=tools),
        lambda tools: ToolPermissionScorer(deny="delete_*", tools=tools),
        lambda tools: BudgetScorer(calls=1, tools=tools),
    ],
)
def test_a_choice_by_tag_is_an_error_where_nothing_in_the_run_has_any(scorer):
    """It used to choose no call at all, so that all of these passed."""
    called = ["delete_all", "refund", "delete_all"]
    example = Example(expected_tools=["refund"], expected_output=["refund"], tools_called=called)
    with pytest.raises(ScorerError, match="'tag:write' chooses by tag, and nothing in the run says"):
        scorer("tag:write").score(example)


def scorers(chance):
    """Functions that make one scorer for a choice of tools, and the calls that are expected of it."""
    names = chance.choices("abcd", k=chance.randrange(1, 4))
    first, other = chance.sample("abcd", 2)
    path = chance.choice(
        [names, [par(*names, "a")], [any_of(first, other), *names], [opt(first), other], [many(first), other]]
    )
    counts = {name: (chance.choice(("=", ">=", "<=", "!=")), chance.randrange(3)) for name in names}
    mode, threshold = chance.choice(MODES), chance.choice((0.4, 0.7, 1.0))

    def by(metric):
        return lambda tools: TrajectoryScorer(threshold, metric, expected=path, mode=mode, tools=tools)

    kinds = [by(metric) for metric in ("holds", "coverage", "precision", "f1", "order", "args")]
    kinds += [
        lambda tools: ToolOrderScorer(exact_match=True, tools=tools),
        lambda tools: ToolCallOrderScorer(names, threshold=threshold, tools=tools),
        lambda tools: FunctionCallCoverageScorer(
            names, threshold=threshold, metric="required_calls_coverage", tools=tools
        ),
        lambda tools: ToolCallCountScorer(counts, threshold=threshold, tools=tools),
    ]
    return chance.choice(kinds), names


def test_a_choice_by_tag_never_gives_more_than_the_same_choice_by_name():
    """1,500 runs: what the record does not tell makes a score errored, or changes no verdict."""
    chance = random.Random(5)
    outcomes = Counter()
    for _ in range(1_500):
        kinds = {name: chance.choice(("read", "write")) for name in "abcd"}
        called = [
            {"name": name, "kind": kinds[name]} for name in chance.choices("abcd", k=chance.randrange(5))
        ]
        scorer, names = scorers(chance)
        example = Example(expected_tools=names, tools_called=called)
        writing = [name for name, kind in kinds.items() if kind == "write"]
        by_name = scorer(writing or ["none of them"]).score(example)
        by_tag = scorer("tag:write").score(example)
        outcomes[by_tag.outcome] += 1
        assert by_tag.outcome in (by_name.outcome, "errored")
        assert by_tag.value is None or by_tag.value <= by_name.value + 1e-12
    assert min(outcomes[outcome] for outcome in ("passed", "failed", "errored")) > 150


DATA = Path(__file__).resolve().parents[3] / "shared" / "data"


@pytest.mark.shared
@pytest.mark.parametrize(
    ("file", "untold"),
    [
        ("tau_bench_airline_gpt-4o", 47),
        ("tau_bench_retail_grok-3_faults", 19),
        ("tau2_airline_trajectories", 90),
        ("tau2_telecom_trajectories", 15),
    ],
)
def test_on_recorded_runs_a_choice_by_tag_changes_no_verdict(file, untold):
    path = DATA / f"{file}.jsonl.gz"
    if not path.exists():
        pytest.skip(f"{path} is not here")
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        runs = [json.loads(line) for line in lines]
    calls = [call for run in runs for call in (*run["actual"], *run["expected"])]
    writes = {call["name"] for call in calls if call.get("kind") == "write"}
    by_name, by_tag = (
        ToolOrderScorer(exact_match=True, tools=tools) for tools in (sorted(writes), "tag:write")
    )
    outcomes = Counter()
    for run in runs:
        expected = [
            {"tool_name": call["name"], "parameters": call.get("args"), "match": "listed"}
            for call in run["expected"]
        ]
        example, trace = Example(expected_tools=expected), Trace.from_calls(run["actual"])
        score = by_tag.score(example, trace)
        outcomes[score.outcome] += 1
        assert score.outcome in (by_name.score(example, trace).outcome, "errored")
    assert outcomes["errored"] == untold


@pytest.mark.parametrize("tools", ["tag:writ*", "tag:*", "tag:w?ite", "tag:[vw]rite"])
def test_a_glob_of_tags_chooses_expected_tools_and_calls(tools):
    from agenttrace import Tracer

    tracer = Tracer("shop", store="memory")

    @tracer.observe(span_type="tool", tags=["write"])
    def refund(id):  # noqa: A002 - the tool's own word
        return "ok"

    with tracer.capture() as captured, tracer.span("agent", span_type="agent"):
        pass
    example = Example(expected_tools=["refund"])
    score = ToolOrderScorer(tools=tools).score(example, captured.trace)
    assert (score.passed, score.details.get("vacuous")) == (False, None)
    with tracer.capture() as captured, tracer.span("agent", span_type="agent"):
        refund(1)
    assert ToolOrderScorer(tools=tools).score(example, captured.trace).passed
    tracer.shutdown()
