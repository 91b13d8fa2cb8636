"""The Execution Order scorer."""

from __future__ import annotations

import pytest

from agenttrace.core.errors import ScorerError
from agenttrace.core.example import Example
from agenttrace.core.protocols import Scorer
from agenttrace.core.score import Score
from agenttrace.core.span import Span
from agenttrace.core.trace import Trace
from agenttrace.scorers import ExecutionOrderScorer


def scored(actual: object, expected: object, trace: Trace | None = None, **options: object) -> Score:
    scorer = ExecutionOrderScorer(**options)  # type: ignore[arg-type]
    return scorer.score(Example(actual_output=actual, expected_output=expected), trace)


def test_the_sample_of_the_documentation() -> None:
    score = scored(["GoogleSearch", "Perplexity"], ["DBQuery", "GoogleSearch"], threshold=0.8)
    assert (score.value, score.outcome) == (0.5, "failed")
    assert score.reason == "1 of 2 expected actions done, in any order; missing [DBQuery]"


def test_it_is_a_scorer_with_threshold_one() -> None:
    assert isinstance(ExecutionOrderScorer(), Scorer)
    assert ExecutionOrderScorer().threshold == 1.0


@pytest.mark.parametrize(
    ("options", "actual", "expected", "value"),
    [
        ({}, "ba", "ab", 1.0), ({}, "a", "aa", 0.5), ({}, "aa", "aa", 1.0), ({}, "aba", "aab", 1.0),
        ({"should_consider_ordering": True}, "abc", "acb", 2 / 3),
        ({"should_consider_ordering": True}, "axb", "ab", 1.0),
        ({"should_consider_ordering": True, "strict_mode": True}, "abc", "acb", 0.0),
        ({"should_exact_match": True}, "ab", "ab", 1.0), ({"should_exact_match": True}, "axb", "ab", 0.0),
        ({"should_exact_match": True, "should_consider_ordering": True}, "axb", "ab", 0.0),
        ({"strict_mode": True}, "a", "ab", 0.0), ({"strict_mode": True}, "ba", "ab", 1.0),
        ({}, "", "", 1.0), ({}, "a", "", 0.0), ({"should_consider_ordering": True}, "a", "", 0.0),
        ({"should_exact_match": True}, "", "", 1.0), ({}, "", "a", 0.0),
    ],
)  # fmt: skip
def test_what_each_mode_gives(options: dict[str, bool], actual: str, expected: str, value: float) -> None:
    assert scored(list(actual), list(expected), **options).value == pytest.approx(value)


def test_the_reason_restates_the_arithmetic_and_the_details_hold_it() -> None:
    score = scored(list("abc"), list("acb"), should_consider_ordering=True)
    assert score.reason == "LCS 2 of 3 expected: [a, c]"
    assert score.details["lcs"] == ["a", "c"]
    strict = scored(list("abc"), list("acb"), should_consider_ordering=True, strict_mode=True, threshold=0.1)
    assert strict.reason.endswith("strict: 0 unless 1")
    assert (strict.threshold, strict.strict, strict.outcome) == (1.0, True, "failed")


def test_actions_are_compared_as_json_values() -> None:
    assert scored([{"a": 1}, 2], [2.0, {"a": 1.0}]).value == 1.0
    assert scored([True], [1]).value == 0.0
    assert scored(["1"], [1]).value == 0.0


TRACE = Trace(
    [
        Span(trace_key=1, span_key=1, name="run", span_type="agent"),
        Span(trace_key=1, span_key=2, parent_key=1, index=1, name="plan", span_type="chain"),
        Span(trace_key=1, span_key=3, parent_key=2, index=2, name="search", span_type="tool"),
        Span(trace_key=1, span_key=4, parent_key=1, index=3, name="answer", span_type="chain"),
    ]
)


def test_where_the_output_is_no_list_the_tools_of_the_trace_stand_for_it() -> None:
    assert scored(None, ["search"], TRACE, should_exact_match=True).value == 1.0
    assert scored("Here is what I found", ["search"], TRACE).value == 1.0
    assert scored(["other"], ["search"], TRACE).value == 0.0


def test_or_the_nodes_of_the_trace() -> None:
    assert scored(None, ["plan", "answer"], TRACE, should_exact_match=True, actions="nodes").value == 1.0


def test_or_the_calls_of_a_recorded_example() -> None:
    example = Example(tools_called=["a", "b"], expected_output=["a", "b"])
    assert ExecutionOrderScorer(should_exact_match=True).score(example).value == 1.0
    assert ExecutionOrderScorer(should_exact_match=True).score(example, Trace()).value == 1.0


def test_options_choose_which_calls() -> None:
    run = Trace.from_calls([{"name": "a", "error": "x"}, "a", {"name": "b", "agent": "x"}])
    assert scored(None, ["a", "b"], run, should_exact_match=True, attempts="collapse").value == 1.0
    assert scored(None, ["b"], run, should_exact_match=True, agent="x").value == 1.0
    assert scored(None, ["b"], run, should_exact_match=True, tools="b").value == 1.0
    assert scored(None, ["c"], run, should_exact_match=True, tools="c", names={"b": "c"}).value == 1.0


@pytest.mark.parametrize(
    ("actual", "expected", "said"),
    [
        (["a"], None, "expected_output"), (None, ["a"], "actual_output"),
        ("a", ["a"], "actual_output is a list"),
        (["a"], "a", "expected_output is a list"), (["a"], {"a": 1}, "expected_output is a list"),
    ],
)  # fmt: skip
def test_a_missing_field_is_an_error_that_names_it(actual: object, expected: object, said: str) -> None:
    with pytest.raises(ScorerError, match=said):
        scored(actual, expected)


def test_the_check_before_a_run_looks_at_the_expectation_only() -> None:
    ExecutionOrderScorer().check(Example(expected_output=["a"]))
    with pytest.raises(ScorerError, match="expected_output"):
        ExecutionOrderScorer().check(Example(actual_output=["a"]))


@pytest.mark.parametrize("options", [{"threshold": -0.1}, {"threshold": 1.1}, {"actions": "spans"}])
def test_a_wrong_option_is_an_error_when_the_scorer_is_made(options: dict[str, object]) -> None:
    with pytest.raises(ScorerError):
        ExecutionOrderScorer(**options)  # type: ignore[arg-type]
