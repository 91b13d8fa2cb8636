"""Guards that look at no call, because the run has no agent or turn of the name that they say."""

from __future__ import annotations

import pytest

from agenttrace.core.span import Span
from agenttrace.core.trace import Trace
from agenttrace.expectations import call, expect
from agenttrace.matching import Selection, compare, explain

CALLS = [
    {"name": "find", "agent": "desk", "turn": 1},
    {"name": "delete_all", "agent": "desk/booking", "turn": 2},
]
RUN = Trace.from_calls(CALLS)
NO_AGENT = "the run has no agent 'boking'; did you mean 'booking'?"


def agents(*names: str, **fields: object) -> Trace:
    """A run of agents, each below the one before, that call no tool."""
    return Trace(
        Span(trace_key=1, span_key=n, parent_key=n - 1 or None, index=n, name=name, span_type="agent",
             **fields)  # type: ignore[arg-type]
        for n, name in enumerate(names, 1)
    )  # fmt: skip


GUARDS = {
    "never": "delete_*",
    "only": "find",
    "max_calls": 0,
    "at_most": {"delete_all": 0},
    "before": [("find", "delete_all")],
    "tool_errors": 0,
    "no_repeats": True,
}


@pytest.mark.parametrize("word", GUARDS)
def test_a_guard_of_a_misspelt_agent_is_vacuous(word: str) -> None:
    misspelt = compare(expect(**{word: GUARDS[word]}, agent="boking"), RUN)  # type: ignore[arg-type]
    assert [(check.held, check.vacuous) for check in misspelt.checks] == [(True, True)]
    assert misspelt.empty_scope == NO_AGENT
    assert misspelt.constraints_hold
    right = compare(expect(**{word: GUARDS[word]}, agent="booking"), RUN)  # type: ignore[arg-type]
    assert not right.checks[0].vacuous


def test_so_is_one_of_a_scorer_that_looks_at_a_misspelt_agent() -> None:
    comparison = compare(expect(never="x"), RUN, selection=Selection(agent="boking"))
    assert comparison.vacuous == ["never x"]


@pytest.mark.parametrize("turn", [0, 9])
def test_a_guard_of_a_turn_that_the_run_does_not_have_is_vacuous(turn: int) -> None:
    comparison = compare(expect(never="delete_*", turn=turn), RUN)
    assert comparison.vacuous == ["never delete_*"]
    assert comparison.empty_scope == f"the run has no turn {turn}, only 1, 2"
    assert compare(expect(never="delete_*", turn=turn), RUN.tool_calls).empty_scope == comparison.empty_scope


@pytest.mark.parametrize(
    ("agent", "known"),
    [
        ("desk", True), ("booking", True), ("desk/booking", True), ("desk/*", True), ("*ook*", True),
        ("boo*", False), ("book", False), ("desk/boking", False), ("booking/desk", False),
    ],
)  # fmt: skip
@pytest.mark.parametrize(
    "run", [RUN, agents("desk", "booking"), RUN.tool_calls], ids=["calls", "spans", "list"]
)
def test_an_agent_is_known_by_its_name_the_end_of_its_path_or_a_glob(
    run: Trace, agent: str, known: bool
) -> None:
    comparison = compare(expect(never="x", agent=agent), run)
    assert bool(comparison.empty_scope) is not known
    assert bool(comparison.vacuous) is not known


def test_a_path_is_told_by_the_path_that_is_nearest() -> None:
    (text,) = {compare(expect(never="x", agent="desk/boking"), RUN).empty_scope}
    assert text == "the run has no agent 'desk/boking'; did you mean 'desk/booking'?"
    assert compare(expect(never="x", agent="pay"), RUN).empty_scope.endswith("; known: booking, desk")


def test_an_agent_that_called_nothing_in_a_turn_is_no_misspelt_one() -> None:
    assert compare(expect(never="x", agent="booking", turn=1), RUN).empty_scope == ""


def test_nothing_is_vacuous_where_the_run_tells_of_no_agents() -> None:
    plain = Trace.from_calls(["find"])
    comparison = compare(expect(never="x", agent="boking"), plain)
    assert (comparison.vacuous, comparison.empty_scope) == ([], "")


def test_an_agent_that_only_its_model_calls_name_is_known() -> None:
    model = {"span_type": "llm", "attributes": {"gen_ai.agent.name": "booking"}}
    run = Trace([Span(trace_key=1, span_key=1, name="chat", **model)])  # type: ignore[arg-type]
    assert compare(expect(never="x", agent="booking"), run).vacuous == []
    assert compare(expect(never="x", agent="boking"), run).empty_scope == NO_AGENT


def test_limits_of_the_whole_run_are_not_vacuous() -> None:
    said = expect(tokens=5, never="x", agent="boking")
    run = agents("booking", usage={"total_tokens": 3})
    assert [check.vacuous for check in compare(said, run).checks] == [True, False]


@pytest.mark.parametrize(
    ("said", "vacuous"),
    [
        (expect([], agent="boking"), ["no calls expected"]),
        (expect(["find"], mode="only", agent="boking"), ["the path (only)"]),
        (expect(["find"], agent="boking"), []),
        (expect(call("find"), agent="booking"), []),
    ],
)
def test_a_path_that_holds_of_the_calls_of_no_agent_is_vacuous(said: object, vacuous: list[str]) -> None:
    assert compare(said, RUN).vacuous == vacuous


def test_the_diff_says_once_why() -> None:
    shown = explain(compare(expect(never=["x", "y"], agent="boking"), RUN))
    assert shown.split("\n")[-3:] == [
        "    ? never: never x: vacuous",
        "    ? never: never y: vacuous",
        f"    ? {NO_AGENT}",
    ]
