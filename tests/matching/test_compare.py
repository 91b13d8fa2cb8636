"""What `compare` refuses before it compares anything."""

from __future__ import annotations

import pytest

from agenttrace.core.errors import ExpectationError, ScorerError
from agenttrace.core.example import Example
from agenttrace.core.protocols import Scorer
from agenttrace.core.trace import Trace
from agenttrace.expectations import call, expect
from agenttrace.matching import compare
from agenttrace.scorers import ExecutionOrderScorer, ToolOrderScorer, TrajectoryScorer
from tests.expectations.strategies import trace_of


def test_an_unknown_mode_is_an_error_that_says_which_one_is_meant() -> None:
    with pytest.raises(ScorerError, match=r"'only' allows no call outside .* 'contains' wants at least"):
        compare(["a"], trace_of("a"), mode="subset")  # type: ignore[arg-type]
    with pytest.raises(ScorerError, match="did you mean 'in_order'"):
        compare(["a"], trace_of("a"), mode="inorder")  # type: ignore[arg-type]
    with pytest.raises(ScorerError, match="did you mean 'any_order'"):
        compare(expect(["a"], mode="exact"), trace_of("a"), mode="unordered")  # type: ignore[arg-type]


def test_an_unknown_way_to_compare_arguments_lists_the_known_ones() -> None:
    with pytest.raises(ScorerError, match="one of exact, listed, ignore, got 'subset'"):
        compare(["a"], trace_of("a"), match="subset")  # type: ignore[arg-type]


@pytest.mark.parametrize("options", [{"mode": "subset"}, {"parameters": "subset"}])
def test_a_scorer_refuses_them_when_it_is_made(options: dict[str, str]) -> None:
    with pytest.raises(ScorerError, match="got 'subset'"):
        TrajectoryScorer(**options)  # type: ignore[arg-type]


def test_the_expectation_in_the_place_of_the_run_is_an_error_that_says_what_comes_second() -> None:
    for swapped in ([call("a")], ["a"], "a", [{"name": "a"}], None):
        with pytest.raises(ScorerError, match="what happened comes second"):
            compare(["a"], swapped)  # type: ignore[arg-type]


@pytest.mark.parametrize("happened", [trace_of("a"), trace_of("a").tool_calls])
def test_the_run_in_the_place_of_the_expectation_is_an_error_that_says_how_to_make_one(
    happened: object,
) -> None:
    with pytest.raises(ExpectationError, match=r"that is what happened: .*expectation_of"):
        compare(happened, trace_of("a"))
    if not isinstance(happened, Trace):
        with pytest.raises(ExpectationError, match=r"that is what happened: .*expectation_of"):
            expect(happened)


@pytest.mark.parametrize("scorer", [ToolOrderScorer(), TrajectoryScorer(), ExecutionOrderScorer()])
def test_a_scorer_called_with_trace_and_example_swapped_says_how_it_is_called(scorer: Scorer) -> None:
    example, trace = Example(expected_tools=["a"], expected_output=["a"]), trace_of("a")
    with pytest.raises(ScorerError, match=r"score\(example, trace\).* got Trace and Example"):
        scorer.score(trace, example)  # type: ignore[arg-type]
    with pytest.raises(ScorerError, match="got list and Trace"):
        scorer.score(["a"], trace)  # type: ignore[arg-type]
