"""The constraints beside a path."""

from __future__ import annotations

import pytest

from agenttrace.core.errors import ScorerError
from agenttrace.core.span import Span
from agenttrace.core.tool import ToolDefinition
from agenttrace.core.trace import Trace
from agenttrace.expectations import expect
from agenttrace.matching import compare
from tests.expectations.strategies import trace_of


def failing(name: str) -> dict[str, object]:
    return {"name": name, "error": "boom"}


def with_x(value: object) -> dict[str, object]:
    return {"name": "a", "arguments": {"x": value}}


@pytest.mark.parametrize(
    ("constraint", "run", "held", "broken_by"),
    [
        ({"never": "delete_*"}, ["a", "delete_x"], False, (1,)),
        ({"never": "delete_*"}, ["a"], True, ()),
        ({"only": ["a", "get_*"]}, ["a", "get_x", "b"], False, (2,)),
        ({"only": []}, [], True, ()),
        ({"max_calls": 2}, ["a", "b", "c", "d"], False, (2, 3)),
        ({"max_calls": 2}, ["a", "b"], True, ()),
        ({"at_most": {"a": 1}}, ["a", "b", "a"], False, (2,)),
        ({"at_most": {"a": 0}}, ["b"], True, ()),
        ({"at_least": {"a": 2}}, ["a"], False, ()),
        ({"at_least": {"a": 2}}, ["a", "a"], True, ()),
        ({"before": [("auth", "pay")]}, ["pay", "auth", "pay"], False, (0,)),
        ({"before": [("auth", "pay")]}, ["auth", "pay"], True, ()),
        ({"before": [("auth", "pay")]}, ["auth"], True, ()),
        ({"before": [("auth", "pay")]}, ["pay"], False, (0,)),
        ({"tool_errors": 0}, [failing("a")], False, (0,)),
        ({"tool_errors": 1}, [failing("a"), "a"], True, ()),
        ({"no_repeats": True}, ["a", "b", "a"], False, (2,)),
        ({"no_repeats": True}, [with_x(1), with_x(2)], True, ()),
        ({"no_repeats": True}, [with_x(1), with_x(1.0)], False, (1,)),
    ],
)  # fmt: skip
def test_what_each_constraint_holds_for(constraint, run, held, broken_by) -> None:  # type: ignore[no-untyped-def]
    (check,) = compare(expect(**constraint), trace_of(run)).checks
    assert check.name == next(iter(constraint))
    assert (check.held, check.broken_by) == (held, broken_by)
    assert compare(expect(**constraint), trace_of(run)).constraints_hold is held


def test_a_warning_is_reported_and_does_not_fail() -> None:
    comparison = compare(expect(["a"], never="b", max_calls=1, severity={"never": "warn"}), trace_of("ab"))
    assert [(check.name, check.held, check.fails) for check in comparison.checks] == [
        ("never", False, False),
        ("max_calls", False, True),
    ]
    assert compare(expect(["a"], never="b", severity="warn"), trace_of("ab")).constraints_hold


def definitions_of(*names: str) -> dict[str, ToolDefinition]:
    return {name: ToolDefinition(name=name) for name in names}


def test_a_guard_on_a_tool_that_was_never_registered_is_vacuous() -> None:
    said = expect(never=["delte_*", "b"], at_most={"x": 1}, before=[("a", "zz")])
    comparison = compare(said, trace_of("a"), tools=definitions_of("a", "b", "delete_all"))
    assert [(c.wanted, c.vacuous) for c in comparison.checks] == [
        ("never delte_*", True), ("never b", False), ("at most 1 × x", True), ("a before zz", True),
    ]  # fmt: skip
    assert comparison.constraints_hold


def test_nothing_is_vacuous_where_the_tools_are_unknown() -> None:
    assert not compare(expect(never="x"), trace_of("a")).checks[0].vacuous


def spending_trace() -> Trace:
    common = {"trace_key": 1}
    return Trace(
        [
            Span(**common, span_key=1, name="run", end_ns=2_000_000_000, usage={"total_tokens": 30}),
            Span(**common, span_key=2, parent_key=1, index=1, name="llm", span_type="llm",
                 usage={"input_tokens": 10, "output_tokens": 5, "cost": 0.01}),
            Span(**common, span_key=3, parent_key=1, index=2, name="llm", span_type="llm",
                 usage={"prompt_tokens": 10, "completion_tokens": 5, "cost": 0.02}),
        ]
    )  # fmt: skip


def test_tokens_seconds_and_cost_bound_the_whole_run() -> None:
    said = expect(tokens=29, seconds=2, cost=0.03)
    tokens, seconds, cost = compare(said, spending_trace()).checks
    assert (tokens.held, tokens.found) == (False, "30 tokens")  # the root's sum is not counted twice
    assert seconds.held
    assert cost.held


@pytest.mark.parametrize("limit", [{"tokens": 5}, {"cost": 1}, {"seconds": 1}])
def test_a_bound_on_what_the_trace_does_not_tell_is_an_error(limit: dict[str, float]) -> None:
    with pytest.raises(ScorerError, match="does not tell"):
        compare(expect(**limit), trace_of("a"))  # type: ignore[arg-type]


def test_a_bound_that_only_some_calls_to_models_tell_of_can_be_broken_and_not_kept() -> None:
    silent = Span(trace_key=1, span_key=4, parent_key=1, index=3, name="llm", span_type="llm")
    run = Trace([*spending_trace().spans, silent])
    with pytest.raises(ScorerError, match="limits tokens to 30, and 1 of 3 calls to models report none"):
        compare(expect(tokens=30), run)
    (check,) = compare(expect(tokens=29), run).checks
    assert (check.held, check.found) == (False, "at least 30 tokens")


def test_failed_attempts_count_for_errors_even_where_they_are_collapsed() -> None:
    said = expect(["a"], tool_errors=0, max_calls=1, attempts="collapse", mode="exact")
    comparison = compare(said, trace_of([failing("a"), "a"]))
    assert comparison.holds
    assert [(check.name, check.held) for check in comparison.checks] == [
        ("max_calls", True),
        ("tool_errors", False),
    ]


@pytest.mark.parametrize(
    "tool",
    [
        {"type": "function", "function": {"name": "delete_order"}},
        {"type": "function", "name": "delete_order"},
        {"name": "delete_order", "input_schema": {}},
    ],
)
def test_tools_that_a_model_was_offered_are_known(tool: dict[str, object]) -> None:
    asked = Span(trace_key=1, span_key=1, name="chat", span_type="llm", start_ns=0, input={"tools": [tool]})
    checks = compare(expect(never=["delte_*", "delete_*"]), Trace([asked])).checks
    assert [check.vacuous for check in checks] == [True, False]
