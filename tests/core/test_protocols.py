"""Every extension point stands on one page, the optional ones too."""

import ast
from pathlib import Path

import pytest

import agenttrace
from agenttrace.core import protocols
from agenttrace.core.protocols import (
    OPTIONAL_HOOKS,
    ChecksExamples,
    FencesAlike,
    GetsReady,
    HasPath,
    Identified,
    KeepsReplies,
    Named,
    TakesModel,
    TakesScores,
    TellsHealth,
    name_of_model,
    optional,
)
from agenttrace.exporters.otlp import OTLPExporter
from agenttrace.judges import AnswerRelevancyScorer, CachedModel, FakeChatModel
from agenttrace.scorers import ToolOrderScorer
from agenttrace.store import MemoryStore, SQLiteStore

PACKAGE = Path(agenttrace.__file__).parent
OF_ANY_STORE = [
    *(
        "BeginsAnew",
        "KeepsUnsent",
        "KeepsWatch",
        "QueuesWork",
        "ReadsTraces",
        "StreamsTraces",
        "TakesScores",
        "TellsHealth",
    ),
]
OF_A_STORE = sorted(
    [
        *("EndsWriting", "GetsReady", "HasPath", "KeepsResults", "ReadsOutlines", "TakesRows"),
        *OF_ANY_STORE,
    ]
)
OF_A_SCORER = ["Gates", "ChecksExamples", "ChecksModel", "TakesModel"]
OF_A_MODEL = ["FencesAlike", "Identified", "KeepsReplies", "Named"]


def hooks_of(thing):
    """The optional hooks that a thing has, by name."""
    return sorted(hook.__name__ for hook in OPTIONAL_HOOKS if optional(thing, hook) is not None)


def test_each_optional_hook_is_known_by_one_member_and_says_its_contract():
    for hook, member in OPTIONAL_HOOKS.items():
        assert getattr(protocols, hook.__name__) is hook
        members = [name for name in vars(hook) if not name.startswith("_")]
        assert member in members, hook
        assert hook.__doc__.startswith("Optional"), hook
        assert [name for name in members if not vars(hook)[name].__doc__] == [], hook


def test_no_module_asks_for_a_hook_in_another_way():
    """`name` is what scorers must have, and foreign things too."""
    hidden = set(OPTIONAL_HOOKS.values()) - {"name"}
    asked = [
        f"{path.relative_to(PACKAGE)}:{node.lineno} {node.args[1].value}"
        for path in sorted(PACKAGE.rglob("*.py"))
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and len(node.args) > 1
        if node.func.id in ("getattr", "hasattr") and isinstance(node.args[1], ast.Constant)
        if node.args[1].value in hidden
    ]
    assert asked == []


def test_what_we_ship_has_the_hooks_that_are_its_own(tmp_path):
    store = SQLiteStore(tmp_path / "traces.db")
    assert hooks_of(store) == OF_A_STORE
    assert hooks_of(MemoryStore()) == sorted([*OF_ANY_STORE, "ReplacesScores"])
    assert "Sender" in hooks_of(OTLPExporter("http://127.0.0.1:9/v1/traces"))
    assert hooks_of(AnswerRelevancyScorer()) == sorted([*OF_A_SCORER, "Named"])
    assert hooks_of(CachedModel(FakeChatModel("{}"), tmp_path / "replies")) == OF_A_MODEL
    store.close()


def test_a_wrapper_that_passes_everything_on_has_the_hooks_of_what_it_wraps():
    class Wrapper:
        def __init__(self, wrapped):
            self.wrapped = wrapped

        def __getattr__(self, name):
            return getattr(self.wrapped, name)

    assert optional(Wrapper(MemoryStore()), TellsHealth) is not None
    assert optional(Wrapper(MemoryStore()), GetsReady) is None


@pytest.mark.parametrize("value", [True, "yes", None])
def test_an_attribute_that_is_no_method_is_not_taken_for_one(value):
    scorer = ToolOrderScorer()
    scorer.with_model = value
    assert optional(scorer, TakesModel) is None


def test_what_is_none_is_not_there():
    class Model:
        name = identity = fence_secret = path = None

    for hook in (Named, Identified, FencesAlike, HasPath, KeepsReplies, ChecksExamples, TakesScores):
        assert optional(Model(), hook) is None
    assert name_of_model(Model()) == "Model"
    assert name_of_model(FakeChatModel("{}", name="small")) == "small"
