"""Integers that Python refuses to print are compared and shown like all others."""

import json

import pytest

from agenttrace import Example, ScorerError, call, gt, one_of
from agenttrace.scorers import (
    ContainsScorer,
    ExactMatchScorer,
    ExecutionOrderScorer,
    NumericDifferenceScorer,
    ToolOrderScorer,
)

LONG = 10**5000
MORE = LONG + 1


EXPECTED = {
    "integer": MORE,
    "list": [MORE],
    "mapping": {"a": MORE},
    "set": {MORE, 3},
    "one_of": one_of(MORE, 3),
    "gt": gt(MORE),
    "nested": {"a": one_of([MORE])},
}


@pytest.mark.parametrize("kind", EXPECTED)
def test_a_call_with_another_long_integer_fails_with_its_diff(kind):
    expected = EXPECTED[kind]
    example = Example(
        expected_tools=[call("t", x=expected)], tools_called=[{"name": "t", "arguments": {"x": LONG}}]
    )
    score = ToolOrderScorer().score(example)
    assert score.outcome == "failed"
    assert "0x" in score.diff
    json.dumps(score.to_dict())
    same = Example(expected_tools=[call("t", x=LONG)], tools_called=example.tools_called)
    assert ToolOrderScorer().score(same).passed


@pytest.mark.parametrize(
    ("scorer", "expected", "actual"),
    [
        (ExactMatchScorer(), [MORE], [LONG]),
        (ExactMatchScorer(), {"a": [MORE]}, {"b": [LONG]}),
        (ExactMatchScorer(), {MORE}, [LONG]),
        (ExecutionOrderScorer(), [MORE, "a"], [LONG, "a"]),
    ],
)
def test_an_answer_with_another_long_integer_fails(scorer, expected, actual):
    score = scorer.score(Example(expected_output=expected, actual_output=actual), None)
    assert score.outcome == "failed"
    assert "0x" in score.reason


@pytest.mark.parametrize("scorer", [NumericDifferenceScorer(), ContainsScorer()])
def test_what_cannot_be_read_as_a_float_or_a_text_is_an_error(scorer):
    with pytest.raises(ScorerError, match="0x"):
        scorer.score(Example(expected_output=LONG, actual_output=LONG), None)
