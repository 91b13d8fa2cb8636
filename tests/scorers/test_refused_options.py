"""Options that would quietly mean something else are refused when a scorer is made."""

import math

import pytest

from agenttrace import Example, call, gt, gte, lt, lte
from agenttrace.core.errors import ExpectationError, ScorerError
from agenttrace.core.trace import Trace
from agenttrace.scorers import (
    ContainsScorer,
    ExactMatchScorer,
    ExecutionOrderScorer,
    RegexScorer,
    StateScorer,
    ToolCallArgsScorer,
    ToolCallCountScorer,
    ToolCallOrderScorer,
    ToolCallOutputScorer,
    ToolOrderScorer,
)

FLAGS = [
    (ContainsScorer, "ignore_case"),
    (ExactMatchScorer, "ignore_case"),
    (ExactMatchScorer, "strip"),
    (ExecutionOrderScorer, "should_exact_match"),
    (ExecutionOrderScorer, "should_consider_ordering"),
    (ExecutionOrderScorer, "strict_mode"),
    (RegexScorer, "full"),
    (RegexScorer, "ignore_case"),
    (StateScorer, "only"),
    (ToolCallArgsScorer, "strict"),
    (ToolCallOrderScorer, "strict"),
    (ToolCallOutputScorer, "strict"),
    (ToolOrderScorer, "exact_match"),
]


@pytest.mark.parametrize("value", ["no", "false", 0, 1, None])
@pytest.mark.parametrize(("scorer", "option"), FLAGS)
def test_what_is_on_or_off_is_true_or_false(scorer, option, value):
    with pytest.raises(ScorerError, match=f"{option} is True or False, got {value!r}"):
        scorer(**{option: value})


def test_a_strict_count_is_true_or_false():
    with pytest.raises(ScorerError, match="strict is True or False, got 'no'"):
        ToolCallCountScorer({"search": ("=", 1)}, strict="no")


def test_a_pattern_that_is_found_in_everything_is_refused():
    with pytest.raises(ScorerError, match="an empty pattern is found in everything"):
        RegexScorer("")
    example = Example(expected_output="", actual_output="anything")
    with pytest.raises(ScorerError, match="an empty pattern is found in everything"):
        RegexScorer().score(example, Trace())


@pytest.mark.parametrize("bound", [gt, gte, lt, lte])
def test_a_bound_that_nothing_can_be_compared_with_is_refused(bound):
    with pytest.raises(ExpectationError, match="can be compared with, got nan"):
        bound(math.nan)


@pytest.mark.parametrize("turn", ["1", 1.0, True, -1])
def test_the_turn_of_an_expected_call_is_a_whole_number(turn):
    with pytest.raises(ExpectationError, match=r"the turn of 'search' is a number of 0 or more, got"):
        call("search", turn=turn)
