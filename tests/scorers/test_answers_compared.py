"""What the scorers of answers have in common: where the two answers come from."""

import pytest

from agenttrace.core.errors import ScorerError
from agenttrace.core.example import Example
from agenttrace.core.trace import Trace
from agenttrace.scorers import (
    ContainsScorer,
    ExactMatchScorer,
    JSONCorrectnessScorer,
    JSONSimilarityScorer,
    NumericDifferenceScorer,
    RegexScorer,
)

KINDS = [
    ExactMatchScorer(),
    ContainsScorer(),
    RegexScorer(),
    JSONSimilarityScorer(),
    NumericDifferenceScorer(),
    JSONCorrectnessScorer({"type": "integer"}),
]
COMPARING = KINDS[:-1]


@pytest.mark.parametrize("scorer", KINDS, ids=lambda scorer: scorer.name)
def test_the_answer_is_the_example_s_else_the_trace_s(scorer):
    expected = Example(expected_output="7")
    said = Example(expected_output="7", actual_output="7")
    assert scorer.score(said).value == 1.0
    assert scorer.score(expected, Trace.from_calls([], output="7")).value == 1.0
    assert scorer.score(said, Trace.from_calls([], output="other")).value == 1.0


@pytest.mark.parametrize("scorer", KINDS, ids=lambda scorer: scorer.name)
def test_no_answer_is_an_error(scorer):
    with pytest.raises(ScorerError, match="needs the example's actual_output, or a trace with an output"):
        scorer.score(Example(expected_output="7"), Trace.from_calls([]))


@pytest.mark.parametrize("scorer", COMPARING, ids=lambda scorer: scorer.name)
def test_no_expected_answer_is_an_error_before_anything_runs(scorer):
    with pytest.raises(ScorerError, match="needs the example's expected_output"):
        scorer.check(Example())


@pytest.mark.parametrize("kind", [type(scorer) for scorer in COMPARING])
def test_a_threshold_is_checked_when_built(kind):
    with pytest.raises(ScorerError, match="threshold is a number from 0 to 1"):
        kind(threshold=1.5)
