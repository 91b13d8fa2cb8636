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


OWN = """\
from agenttrace.scorers import LoopScorer, scorer

@scorer(name="Reward")
def reward(metadata):
    return metadata["reward"]

def plain(metadata):
    return metadata["reward"]

def make(limit=1):
    return LoopScorer(threshold=limit)

class Polite:
    name, threshold = "Polite", 1.0

    def __init__(self, word="please"):
        self.word = word

    def score(self, example, trace):
        return None

class box:
    strict = Polite("bitte")

nothing = 7
"""


@pytest.fixture
def own(tmp_path, monkeypatch):
    """A module with scorers in the working directory; returns its name."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    name = f"own_{tmp_path.name.replace('-', '_')}"
    (tmp_path / f"{name}.py").write_text(OWN)
    return name


def test_a_scorer_of_ones_own_goes_by_its_module_and_name(own):
    reward = load_scorer(f"{own}:reward")
    assert (reward.name, reward.threshold, reward.gate) == ("Reward", 0.5, True)
    changed = load_scorer(f"{own}:reward:threshold=0.9,gate=false,name=Mine")
    assert (changed.name, changed.threshold, changed.gate) == ("Mine", 0.9, False)
    assert load_scorer(f"{own}:Polite").word == "please"
    assert load_scorer(f'{own}:Polite:word="s il vous plait"').word == "s il vous plait"
    assert load_scorer(f"{own}:box.strict").word == "bitte"
    assert load_scorer(f"{own}:make:limit=0.5").threshold == 0.5


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("rewad", "did you mean 'reward'"),
        ("plain", "put @scorer before it"),
        ("nothing", "got int 7, wanted a scorer"),
        ("box.strict:word=x", "has no option 'word'"),
        ("Polite:wrd=x", "did you mean 'word'"),
        ("reward:gate=maybe", "gate is True or False"),
    ],
)
def test_what_is_no_scorer_of_ones_own_says_why(own, name, said):
    with pytest.raises(click.BadParameter, match=said):
        load_scorer(f"{own}:{name}")


def test_a_module_that_is_not_there_is_named():
    with pytest.raises(click.BadParameter, match="there is no module 'nomodule'"):
        load_scorer("nomodule:reward")
