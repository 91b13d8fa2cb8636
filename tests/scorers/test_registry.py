import inspect
import pkgutil
from importlib import import_module

import pytest

import agenttrace.scorers as room
from agenttrace.core.errors import ScorerError
from agenttrace.core.protocols import Scorer
from agenttrace.scorers import (
    LoopScorer,
    ToolCallCountScorer,
    ToolOrderScorer,
    known_scorers,
    register_scorer,
    registry,
    scorer,
    scorer_named,
)


@pytest.fixture
def _own_registry(monkeypatch):
    monkeypatch.setattr(registry, "_scorers", dict(registry._scorers))


def scorers_of_the_room():
    """Every class of a scorer in any module of the room, whether something imports that module or not."""
    modules = [import_module(f"{room.__name__}.{item.name}") for item in pkgutil.iter_modules(room.__path__)]
    return {
        name: kind
        for module in modules
        for name, kind in vars(module).items()
        if inspect.isclass(kind) and name.endswith("Scorer") and hasattr(kind, "score")
        if kind.__module__ == module.__name__ and not inspect.isabstract(kind)
    }


def test_every_scorer_of_the_room_is_offered_and_known_by_its_name():
    """A new scorer is its file, a line in the room's `__init__` and a row in its document."""
    classes = scorers_of_the_room()
    assert classes.keys() - set(room.__all__) == set()
    made_by_a_decorator = classes.pop("FunctionScorer")
    assert classes.items() <= known_scorers().items()
    assert made_by_a_decorator not in known_scorers().values()


@pytest.mark.parametrize("name", ["ToolOrderScorer", "ToolOrder", "tool_order", "tool-order", "Tool Order"])
def test_a_scorer_goes_by_several_spellings(name):
    assert isinstance(scorer_named(name), ToolOrderScorer)


def test_options_are_passed_on():
    made = scorer_named(
        "tool_call_count", {"counts": {"a": [">=", 1]}, "attempts": "collapse", "strict": True}
    )
    assert isinstance(made, ToolCallCountScorer)
    assert (made.counts, made.strict, made.selection.attempts) == ({"a": (">=", 1)}, True, "collapse")


@pytest.mark.parametrize(
    ("name", "options", "said"),
    [
        ("ToolOdrer", {}, "there is no scorer 'ToolOdrer'; did you mean 'ToolOrderScorer'"),
        ("ToolOrder", {"exact_mach": True}, "has no option 'exact_mach'; did you mean 'exact_match'"),
        ("Loop", {"agnet": "x"}, "LoopScorer has no option 'agnet'; did you mean 'agent'"),
        ("ToolCallCount", {}, "ToolCallCountScorer needs the option 'counts'"),
        ("JSONCorrectness", {}, "needs the option 'json_schema'"),
        ("ToolOrder", {"threshold": 7}, "threshold is a number from 0 to 1, got 7"),
    ],
)
def test_what_makes_no_scorer_says_why(name, options, said):
    with pytest.raises(ScorerError, match=said):
        scorer_named(name, options)


@pytest.mark.usefixtures("_own_registry")
def test_scorers_of_one_s_own_can_be_registered():
    class Mine:
        name = "mine"
        threshold = 0.5

        def __init__(self, level=1):
            self.level = level

        def score(self, example, trace):
            raise NotImplementedError

    register_scorer(Mine)
    register_scorer(lambda: scorer(lambda: 1), name="always")
    assert scorer_named("mine", {"level": 3}).level == 3
    assert isinstance(scorer_named("Always"), Scorer)
    assert {"Mine", "always"} <= known_scorers().keys()
    register_scorer(Mine)
    with pytest.raises(ScorerError, match="already ToolOrderScorer's"):
        register_scorer(Mine, name="tool_order")


@pytest.mark.parametrize("word", ["no", "off", "false", "False", "0", 0, "n", None])
def test_a_word_for_false_where_a_truth_belongs_is_an_error_that_says_what_to_write(word):
    with pytest.raises(ScorerError, match=r"exact_match is true or false, got .* write exact_match=false"):
        scorer_named("ToolOrder", {"exact_match": word})


@pytest.mark.parametrize("word", ["yes", "on", 1, "True"])
def test_so_is_one_for_true(word):
    with pytest.raises(ScorerError, match="write exact_match=true"):
        scorer_named("ToolOrder", {"exact_match": word})


@pytest.mark.usefixtures("_own_registry")
def test_a_scorer_that_is_made_is_registered_as_it_is():
    @scorer(name="My reward")
    def reward(metadata):
        return metadata["reward"]

    register_scorer(reward)
    register_scorer(reward)
    made = scorer_named("my-reward", {"threshold": 0.9})
    assert (made.name, made.threshold, made.function) == ("My reward", 0.9, reward.function)
    loops = LoopScorer(name="Loops")
    register_scorer(loops, "rounds")
    assert scorer_named("rounds") is loops
    assert known_scorers()["My reward"]
    with pytest.raises(ScorerError, match="no option 'threshold'"):
        scorer_named("rounds", {"threshold": 1})
    with pytest.raises(ScorerError, match="already My reward's"):
        register_scorer(loops, "my_reward")
    with pytest.raises(ScorerError, match="wanted a scorer, or what makes one"):
        register_scorer(7)
