"""Aliases: the names that a tool has beside its own hold for whatever guards, limits or chooses it."""

import pytest

from agenttrace import Example, Tracer, call, expect, ref
from agenttrace.scorers import (
    ToolCallCountScorer,
    ToolOrderScorer,
    ToolPermissionScorer,
    TrajectoryScorer,
)

RUN = Example(tools_called=["websearch", "refund"])
NAMES = {"websearch": "search"}


@pytest.mark.parametrize("name", ["websearch", "search", "web*", "sea*"])
@pytest.mark.parametrize(
    ("limits", "holds"),
    [
        (lambda name: {"never": [name]}, False),
        (lambda name: {"only": [name, "refund"]}, True),
        (lambda name: {"at_most": {name: 0}}, False),
        (lambda name: {"at_least": {name: 1}}, True),
        (lambda name: {"before": [("refund", name)]}, False),
        (lambda name: {"before": [(name, "refund")]}, True),
    ],
)
def test_a_limit_holds_for_a_tool_by_any_of_its_names(name, limits, holds):
    score = TrajectoryScorer(expected=expect(**limits(name)), names=NAMES).score(RUN)
    assert (score.passed, "vacuous" in score.reason) == (holds, False)


@pytest.mark.parametrize("name", ["websearch", "search", "web*", "sea*"])
def test_a_permission_holds_for_a_tool_by_any_of_its_names(name):
    assert ToolPermissionScorer(deny=name, names=NAMES).score(RUN).value == 0.5
    assert ToolPermissionScorer(allow=[name, "refund"], names=NAMES).score(RUN).value == 1.0


@pytest.mark.parametrize("name", ["websearch", "search", "web*", "sea*"])
def test_a_tool_is_chosen_by_any_of_its_names(name):
    only_search = TrajectoryScorer(expected=expect(never=["refund"]), names=NAMES, tools=name)
    assert only_search.score(RUN).value == 1.0
    assert (
        TrajectoryScorer(expected=expect(at_least={"search": 1}), names=NAMES, tools=name).score(RUN).passed
    )


def test_another_tool_is_none_of_them():
    run = Example(tools_called=["webhook", "refund"])
    assert TrajectoryScorer(expected=expect(never=["websearch", "search"]), names=NAMES).score(run).passed
    assert ToolPermissionScorer(deny="websearch", names=NAMES).score(run).value == 1.0


@pytest.mark.parametrize("name", ["websearch", "search"])
def test_a_value_comes_from_a_call_by_any_of_its_names(name):
    run = Example(
        expected_tools=["websearch", call("refund", id=ref(f"{name}.output.id"))],
        tools_called=[
            {"name": "websearch", "output": {"id": 3}},
            {"name": "refund", "arguments": {"id": 3}},
        ],
    )
    assert ToolOrderScorer(names=NAMES).score(run).passed


@pytest.mark.parametrize("compared", ["websearch", "search"])
@pytest.mark.parametrize("expected", ["websearch", "search"])
def test_a_comparator_compares_the_calls_of_a_tool_by_any_of_its_names(compared, expected):
    run = Example(
        expected_tools=[call(expected, q="A")], tools_called=[{"name": "websearch", "arguments": {"q": "a"}}]
    )
    comparators = {compared: {"q": lambda wanted, actual: wanted.lower() == actual.lower()}}
    assert ToolOrderScorer(names=NAMES, comparators=comparators).score(run).passed


def test_the_comparator_of_a_tools_own_name_goes_before_others():
    run = Example(
        expected_tools=[call("search", q="A")], tools_called=[{"name": "search", "arguments": {"q": "a"}}]
    )
    comparators = {
        "search": {"q": lambda wanted, actual: True},
        "websearch": {"q": lambda wanted, actual: False},
    }
    assert ToolOrderScorer(names=NAMES, comparators=comparators).score(run).passed


def test_a_count_by_another_name_of_a_known_tool_is_not_vacuous():
    tracer = Tracer("shop", store="memory")

    @tracer.observe(span_type="tool")
    def search(q):
        return q

    with tracer.capture() as captured:
        search("x")
    score = ToolCallCountScorer({"websearch": ("=", 1)}, names=NAMES).score(Example(), captured.trace)
    tracer.shutdown()
    assert (score.value, "vacuous" in score.reason) == (1.0, False)
