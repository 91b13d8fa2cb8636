import pytest

from agenttrace.core.errors import ExpectationError, ScorerError
from agenttrace.core.example import Example
from agenttrace.scorers import ToolDependencyScorer


def entry(name="book", **more):
    return {"tool_name": name, **more}


def scored(expected, called, **options):
    example = Example(expected_tools=expected, tools_called=called)
    return ToolDependencyScorer(**options).score(example)


def test_what_must_come_before_must_come_before():
    expected = [entry("pay", action_dependencies=["login"])]
    assert scored(expected, ["login", "pay"]).value == 1.0
    score = scored(expected, ["pay", "login"])
    assert score.value == 0.0
    assert score.reason == "0 of 1 tools have what they depend on; pay: call 1 is not after login"
    assert score.details["tools"] == [{"tool": "pay", "held": False, "found": "call 1 is not after login"}]


def test_every_call_of_the_tool_must_have_what_it_depends_on():
    expected = [entry("pay", action_dependencies=["login"])]
    assert scored(expected, ["pay", "login", "pay"]).value == 0.0


def test_a_tool_that_was_not_called_does_not_hold():
    score = scored([entry("pay", action_dependencies=["login"])], ["login"])
    assert (score.value, score.details["tools"][0]["found"]) == (0.0, "not called")


@pytest.mark.parametrize(
    ("output", "arguments", "value"),
    [
        ({"id": "o-7"}, {"order": "o-7"}, 1.0),
        ({"items": [{"id": 7}]}, {"order": {"id": 7.0}}, 1.0),
        ("o-7", {"note": "for o-7, please"}, 1.0),
        ({"id": "o-7"}, {"order": "o-8"}, 0.0),
        ("7", {"note": "room 17"}, 0.0),
        ({"ok": True, "next": None, "text": ""}, {"ok": True, "next": None, "text": ""}, 0.0),
        ({}, {"order": "o-7"}, 0.0),
    ],
)
def test_a_result_must_turn_up_among_the_arguments(output, arguments, value):
    called = [{"name": "find", "output": output}, {"name": "book", "arguments": arguments}]
    assert scored([entry(result_dependencies=["find"])], called).value == value


def test_a_later_result_is_none():
    called = [{"name": "book", "arguments": {"id": "o-7"}}, {"name": "find", "output": "o-7"}]
    assert scored([entry(result_dependencies=["find"])], called).value == 0.0


def test_one_of_several_is_enough_where_not_all_are_required():
    expected = [entry(action_dependencies=["find", "ask"], require_all=False)]
    assert scored(expected, ["ask", "book"]).value == 1.0
    assert scored(expected, ["book"]).value == 0.0
    assert scored([entry(action_dependencies=["find", "ask"])], ["ask", "book"]).value == 0.0


def test_dependencies_may_name_agents_and_parameters():
    wanted = {"tool_name": "find", "agent_name": "scout", "parameters": {"q": "x"}}
    expected = [entry(action_dependencies=[wanted])]
    find = {"name": "find", "agent": "scout", "arguments": {"q": "x", "limit": 3}}
    assert scored(expected, [find, "book"]).value == 1.0
    assert scored(expected, [{**find, "agent": "other"}, "book"]).value == 0.0
    assert scored(expected, [{**find, "arguments": {"q": "y"}}, "book"]).value == 0.0


def test_the_score_is_the_share_of_tools_with_dependencies():
    expected = [entry("a", action_dependencies=["z"]), "free", entry("b", action_dependencies=["z"])]
    assert scored(expected, ["a", "z", "b"]).value == 0.5


def test_aliases_are_resolved_in_dependencies():
    expected = [entry("pay", action_dependencies=["sign_in"])]
    score = scored(expected, ["login", "pay"], names={"sign_in": "login"})
    assert (score.value, score.metadata) == (1.0, {"names": {"sign_in": "login"}})


@pytest.mark.parametrize("expected", [None, [], ["a"]])
def test_no_dependency_at_all_is_an_error(expected):
    with pytest.raises(ScorerError, match="action_dependencies or result_dependencies"):
        ToolDependencyScorer().check(Example(expected_tools=expected))


def test_a_dependency_that_cannot_be_read_is_an_error():
    with pytest.raises(ExpectationError, match="did you mean 'name'"):
        scored([entry(action_dependencies=[{"nmae": "x"}])], ["book"])
