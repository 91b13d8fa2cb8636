import click
import pytest

from agenttrace.cli.loading import load_scorer
from agenttrace.judges import FaithfulnessScorer
from agenttrace.scorers import ExecutionOrderScorer, ToolOrderScorer


@pytest.mark.parametrize("name", ["ToolOrderScorer", "ToolOrder", "tool_order", "tool-order", "TOOLORDER"])
def test_a_scorer_goes_by_several_spellings(name):
    assert isinstance(load_scorer(name), ToolOrderScorer)


def test_options_are_json_or_text():
    scorer = load_scorer("ExecutionOrder:threshold=0.8,should_consider_ordering=true")
    assert isinstance(scorer, ExecutionOrderScorer)
    assert scorer.threshold == 0.8
    assert load_scorer("ToolOrder:parameters=ignore").parameters == "ignore"


def test_options_may_be_nested_json_with_commas_in_it():
    text = 'ToolCallCount:counts={"a": [">=", 1], "b": ["=", 0]},tools=["a", "b"],name=Counts, threshold=0.5'
    scorer = load_scorer(text)
    assert scorer.counts == {"a": (">=", 1), "b": ("=", 0)}
    assert (scorer.selection.tools, scorer.name, scorer.threshold) == (("a", "b"), "Counts", 0.5)


def test_judges_are_known_by_name_too():
    assert isinstance(load_scorer("faithfulness:threshold=0.7"), FaithfulnessScorer)
    assert load_scorer("LLMJudgeTrajectory:expected_behavior=polite").expected_behavior == "polite"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("ToolOdrer", "did you mean 'ToolOrderScorer'"),
        ("ToolOrder:exact=true", "did you mean 'exact_match'"),
        ("ToolOrder:exact_match", "wanted option=value"),
        ("ToolOrder:threshold=7", "threshold"),
        ("ToolOrder:threshold=1,exact_match", "wanted option=value"),
        ("ToolOrder:threshold,exact_match=true", "wanted option=value"),
        ("ToolCallCount", "needs the option 'counts'"),
        ("Faithfullness", "did you mean 'FaithfulnessScorer'"),
    ],
)
def test_what_makes_no_scorer_says_why(text, said):
    with pytest.raises(click.BadParameter, match=said):
        load_scorer(text)


@pytest.mark.parametrize("word", ["no", "off", '"false"', "0"])
def test_a_word_that_is_neither_true_nor_false_is_refused_where_one_of_them_belongs(word):
    with pytest.raises(click.BadParameter, match="write exact_match=false"):
        load_scorer(f"ToolOrder:exact_match={word}")
