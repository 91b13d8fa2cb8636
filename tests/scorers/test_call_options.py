"""What every scorer of tool calls offers: a choice of calls, three kinds of runs, sync and async callers."""

import json
from functools import partial

import pytest

from agenttrace.core.errors import ExpectationError, ScorerError
from agenttrace.core.example import Example
from agenttrace.core.tool import Parameter, ToolDefinition
from agenttrace.core.trace import Trace
from agenttrace.expectations import expect
from agenttrace.scorers import (
    BudgetScorer,
    ExecutionOrderScorer,
    FunctionCallCoverageScorer,
    LoopScorer,
    ToolCallArgsScorer,
    ToolCallCountScorer,
    ToolCallOrderScorer,
    ToolCallOutputScorer,
    ToolDependencyScorer,
    ToolOrderScorer,
    ToolPermissionScorer,
    TrajectoryScorer,
)
from agenttrace.scorers.call_scorer import CallOptions
from agenttrace.scoring.score_options import options_of
from agenttrace.scoring.scorer_options import OF_CALL_SCORERS, option_value
from agenttrace.store import SQLiteStore
from agenttrace.tracer import Tracer


def test_their_options_are_known_with_their_defaults():
    assert OF_CALL_SCORERS.keys() == CallOptions.__annotations__.keys()
    scorer = ToolPermissionScorer(deny="pay")
    assert {name: option_value(scorer, name) for name in OF_CALL_SCORERS} == OF_CALL_SCORERS
    assert options_of(ToolPermissionScorer(deny="pay", gate=False)).get("gate") is False


DEPENDING = [{"tool_name": "pay", "result_dependencies": ["find"]}]

KINDS = {
    "order": lambda **o: (ToolCallOrderScorer(["find", "pay"], **o), None),
    "count": lambda **o: (ToolCallCountScorer({"find": ("=", 1), "pay": ("=", 2)}, **o), None),
    "args": lambda **o: (
        ToolCallArgsScorer([{"name": "pay", "args": {"order": "order-7", "tip": 0}}], **o),
        None,
    ),
    "output": lambda **o: (ToolCallOutputScorer([{"name": "find", "output": {"id": "order-7"}}], **o), None),
    "coverage": lambda **o: (FunctionCallCoverageScorer(["find", "pay"], **o), None),
    "permission": lambda **o: (ToolPermissionScorer(deny="pay", **o), None),
    "budget": lambda **o: (BudgetScorer(calls=2, **o), None),
    "loop": lambda **o: (LoopScorer(**o), None),
    "trajectory": lambda **o: (TrajectoryScorer(metric="f1", expected=["find", "pay"], **o), None),
    "tool order": lambda **o: (ToolOrderScorer(exact_match=True, **o), ["find", "pay"]),
    "dependency": lambda **o: (ToolDependencyScorer(**o), DEPENDING),
}


def scored(kind, trace=None, tools_called=None, **options):
    scorer, expected = KINDS[kind](**options)
    return scorer.score(Example(expected_tools=expected, tools_called=tools_called), trace)


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    """One run, as it was captured, as it was stored, and as a plain list."""
    path = tmp_path_factory.mktemp("store") / "traces.db"
    tracer = Tracer(project_name="scorers", store=str(path))

    @tracer.observe(span_type="tool", tags=["read"])
    def find(word):
        return {"id": "order-7"}

    @tracer.observe(span_type="tool", tags=["write"])
    def pay(order, tip=0):
        if tip < 0:
            raise ValueError("no such tip")
        return "paid"

    @tracer.observe(span_type="agent")
    def booker():
        found = find("shoes")
        for tip in (-1, 0):
            try:
                pay(found["id"], tip=tip)
            except ValueError:
                pass

    with tracer.capture() as captured:
        booker()
    tracer.flush(timeout=10.0)
    stored = SQLiteStore(path).trace(captured.trace.trace_id)
    tracer.shutdown()
    plain = [
        {
            "name": c.name,
            "arguments": c.arguments,
            "output": c.output,
            "error": c.error and {"type": c.error.type, "message": c.error.message},
            "agent": c.agent,
        }
        for c in captured.trace.tool_calls
    ]
    return {"live": captured.trace, "stored": stored, "plain": plain}


@pytest.mark.parametrize("kind", KINDS)
def test_a_live_trace_a_stored_one_and_a_plain_list_score_the_same(kind, run):
    options = {} if kind == "tool order" else {"attempts": "successes"}
    scores = [
        scored(kind, run["live"], **options),
        scored(kind, run["stored"], **options),
        scored(kind, Trace.from_calls(run["plain"]), **options),
        scored(kind, None, run["plain"], **options),
    ]
    told = [(score.value, score.reason, score.outcome, score.diff) for score in scores]
    assert told == [told[0]] * 4


@pytest.mark.parametrize("kind", KINDS)
def test_the_details_are_json_data(kind, run):
    details = scored(kind, run["live"]).details
    assert json.loads(json.dumps(details)) == details


@pytest.mark.parametrize("kind", KINDS)
def test_nothing_that_says_what_was_called_is_an_error(kind):
    with pytest.raises(ScorerError, match="nothing says what was called"):
        scored(kind)


@pytest.mark.parametrize("kind", KINDS)
def test_a_run_without_calls_is_not_a_run_that_is_missing(kind):
    assert scored(kind, tools_called=[]).value is not None


@pytest.mark.parametrize("kind", KINDS)
def test_an_unknown_way_to_count_attempts_is_an_error_with_a_suggestion(kind):
    with pytest.raises(ScorerError, match="did you mean 'collapse'"):
        KINDS[kind](attempts="colapse")


@pytest.mark.parametrize(
    ("kind", "options", "value"),
    [
        ("order", {"agent": "booker"}, 1.0),
        ("order", {"agent": "nobody"}, 0.0),
        ("count", {}, 1.0),
        ("count", {"attempts": "successes"}, 0.5),
        ("count", {"attempts": "collapse"}, 0.5),
        ("coverage", {"tools": "tag:write"}, 1.0),
        ("permission", {}, pytest.approx(1 / 3)),
        ("permission", {"tools": "find"}, 1.0),
        ("budget", {}, 0.0),
        ("budget", {"attempts": "collapse"}, 1.0),
        ("budget", {"tools": ["f*"]}, 1.0),
        ("trajectory", {}, pytest.approx(0.8)),
        ("trajectory", {"attempts": "collapse"}, 1.0),
        ("tool order", {}, 0.0),
        ("tool order", {"attempts": "collapse"}, 1.0),
        ("dependency", {"tools": "pay"}, 0.0),
    ],
)
def test_options_choose_the_calls(kind, options, value, run):
    assert scored(kind, run["live"], **options).value == value


@pytest.mark.parametrize("kind", ["order", "count", "args", "coverage", "trajectory", "tool order"])
def test_expected_tools_out_of_scope_are_left_out_with_the_calls(kind, run):
    score = scored(kind, run["live"], tools="pay", attempts="successes")
    if kind == "count":
        assert (score.value, list(score.details)) == (0.0, ["pay"])
    else:
        assert score.value == 1.0, score.reason


def test_aliases_are_resolved_on_both_sides_and_shown(run):
    names = {"find": "search", "lookup": "search"}
    score = ToolCallOrderScorer(["lookup", "pay"], names=names).score(Example(), run["live"])
    assert score.details["expected_tool_calls_order"] == ["search", "pay"]
    assert score.details["actual_tool_calls_order"] == ["search", "pay", "pay"]
    assert score.metadata == {"names": names}
    trajectory = TrajectoryScorer(expected=["lookup", "pay"], names=names).score(Example(), run["live"])
    assert (trajectory.value, trajectory.details["names"]) == (1.0, names)


def test_a_tool_that_nothing_knows_is_an_error_with_a_suggestion(run):
    for scorer in (
        ToolCallOrderScorer(["fnid"]),
        FunctionCallCoverageScorer(["fnid"]),
        ToolCallCountScorer({"fnid": (">=", 1)}),
        ToolCallArgsScorer([{"name": "fnid", "args": {}}]),
        ToolCallOutputScorer([{"name": "fnid", "output": 1}]),
        TrajectoryScorer(expected=["fnid"]),
    ):
        with pytest.raises(ExpectationError, match="did you mean 'find'"):
            scorer.score(Example(), run["live"])


def test_where_a_call_has_no_definition_not_all_tools_are_known():
    known = {"find": ToolDefinition(name="find", parameters=(Parameter(name="word"),))}
    spans = Trace.from_calls(["framework_tool"]).spans
    score = ToolCallOrderScorer(["framework_tool", "another"]).score(Example(), Trace(spans, tools=known))
    assert score.value == 0.5


def test_a_recorded_trace_goes_before_tools_called(run):
    example = Example(tools_called=["something", "else"])
    assert ToolCallOrderScorer(["find", "pay"]).score(example, run["live"]).value == 1.0


def test_details_index_the_calls_that_they_list():
    example = Example(expected_tools=["b"], tools_called=["a", "b", "c", "b"])
    details = ToolOrderScorer(tools=["b", "c"]).score(example).details
    assert details["actual"] == ["b", "c", "b"]
    assert details["pairs"] == [[0, 0, 1.0]]
    assert [details["actual"][at] for at in details["extra"]] == ["c", "b"]
    assert details["indexes"] == [1, 2, 3]
    assert "indexes" not in ToolOrderScorer().score(example).details


def test_orders_of_names_index_the_calls_too():
    example = Example(expected_output=["b", "c"], tools_called=["a", "b", {"name": "c", "agent": "x"}, "b"])
    order = ToolCallOrderScorer(["b", "c"], tools=["b", "c"]).score(example).details
    assert (order["actual_tool_calls_order"], order["indexes"]) == (["b", "c", "b"], [1, 2, 3])
    actions = ExecutionOrderScorer(agent="x").score(example).details
    assert (actions["actual"], actions["indexes"]) == (["c"], [2])
    for scorer in (ToolCallOrderScorer(["b", "c"]), ExecutionOrderScorer()):
        assert "indexes" not in scorer.score(example).details
    answer = Example(expected_output=["b"], actual_output=["b"], tools_called=["a", "b"])
    assert "indexes" not in ExecutionOrderScorer(tools="b").score(answer).details


@pytest.mark.parametrize(
    "options", [{}, {"attempts": "successes"}, {"attempts": "collapse"}, {"tools": "p*"}, {"agent": "other"}]
)
def test_whatever_is_left_out_the_details_lead_to_the_calls_of_the_trace(options):
    calls = [
        {"name": "find", "error": "timeout"},
        {"name": "find", "arguments": {"id": 1}},
        {"name": "chat", "agent": "other"},
        {"name": "pay", "arguments": {"id": 1}},
        {"name": "pay", "arguments": {"id": 1}},
    ]
    trace = Trace.from_calls(calls)

    def details(scorer, **fields):
        return scorer(**options).score(Example(**fields), trace).details

    actual = details(ToolOrderScorer, expected_tools=["find", "pay"])
    indexes = actual.get("indexes", list(range(len(actual["actual"]))))
    assert [trace.tool_calls[index].name for index in indexes] == actual["actual"]
    assert details(ToolCallOrderScorer, expected_tools=["pay"]).get("indexes", indexes) == indexes
    assert details(ExecutionOrderScorer, expected_output=["pay"]).get("indexes", indexes) == indexes

    pays = [index for index in indexes if calls[index]["name"] == "pay"]
    assert details(LoopScorer)["redundant"] == pays[1:]
    assert details(partial(ToolPermissionScorer, deny="pay"))["refused"] == pays
    depends = [{"tool_name": "pay", "action_dependencies": ["nothing"]}]
    assert details(ToolDependencyScorer, expected_tools=depends)["tools"][0]["broken_by"] == pays
    limited = partial(TrajectoryScorer, expected=expect(max_calls=0))
    assert details(limited)["checks"][0]["broken_by"] == indexes
