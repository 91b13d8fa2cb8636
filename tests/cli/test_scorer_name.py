import click
import pytest

from agenttrace.cli.scorer_name import load_scorer
from agenttrace.scorers import ExecutionOrderScorer, ToolOrderScorer


@pytest.mark.parametrize("name", ["ToolOrderScorer", "ToolOrder", "tool_order", "tool-order", "TOOLORDER"])
def test_a_scorer_goes_by_several_spellings(name):
    assert isinstance(load_scorer(name), ToolOrderScorer)


def test_options_are_json_or_text():
    scorer = load_scorer("ExecutionOrder:threshold=0.8,should_consider_ordering=true")
    assert isinstance(scorer, ExecutionOrderScorer)
    assert scorer.threshold == 0.8
    assert load_scorer("ToolOrder:parameters=ignore").parameters == "ignore"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("ToolOdrer", "did you mean 'ToolOrderScorer'"),
        ("ToolOrder:exact=true", "did you mean 'exact_match'"),
        ("ToolOrder:exact_match", "wanted option=value"),
        ("ToolOrder:threshold=7", "threshold"),
    ],
)
def test_what_makes_no_scorer_says_why(text, said):
    with pytest.raises(click.BadParameter, match=said):
        load_scorer(text)
