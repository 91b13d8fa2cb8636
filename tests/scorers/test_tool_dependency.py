import re

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
    assert score.details["tools"] == [
        {"tool": "pay", "held": False, "found": "call 1 is not after login", "broken_by": [0]}
    ]


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


@pytest.mark.parametrize(
    ("output", "arguments", "outcome"),
    [
        ({"token": "[redacted]"}, {"token": "[redacted]"}, "errored"),
        ({"token": "[redacted]"}, {"token": "tok-1"}, "errored"),
        ({"token": "tok-1"}, {"token": "[redacted]"}, "errored"),
        ({"token": "tok-1"}, {"token": "Bearer [redacted]"}, "errored"),
        ({"token": "[redacted]", "id": 7}, {"token": "[redacted]", "id": 7}, "passed"),
        ({"$type": "shop.Cart"}, {"cart": {"$type": "shop.Cart"}}, "errored"),
        ([1, 2, {"$truncated": 7}], {"n": 5}, "errored"),
        ([1, 2, {"$truncated": 7}], {"n": 2}, "passed"),
        ([{"$truncated": 7}], {"items": [{"$truncated": 7}]}, "errored"),
        ("abc…[+7 chars]", {"text": "abc…[+7 chars]"}, "errored"),
        ("abc…[+7 chars]", {"text": "xyz"}, "errored"),
        ("abc…[+7 chars]", {}, "failed"),
        (None, {"token": "[redacted]"}, "failed"),
    ],
)
def test_a_result_that_was_not_recorded_whole_is_neither_there_nor_missing_for_sure(
    output, arguments, outcome
):
    called = [{"name": "find", "output": output}, {"name": "book", "arguments": arguments}]
    score = scored([entry(result_dependencies=["find"])], called)
    assert score.outcome == outcome
    if outcome == "errored":
        told = score.details["cannot_be_told"]
        assert (told["against"], told["in_favour"]) == (0.0, 1.0)
        assert re.search(r"an argument of book \(call 2\)|output of find \(call 1\)", score.reason)


def test_whether_a_call_is_the_one_that_depends_is_read_both_ways():
    secret = {"name": "pay", "arguments": {"card": "[redacted]"}}
    expected = [entry("pay", parameters={"card": "visa-1"}, action_dependencies=["login"])]
    assert scored(expected, ["login", secret]).outcome == "errored"
    assert scored(expected, [secret]).outcome == "failed"
    known = {"name": "pay", "arguments": {"card": "visa-1"}}
    assert scored(expected, ["login", known, secret]).outcome == "passed"
    assert scored(expected, [secret, "login", known]).outcome == "errored"
    assert scored(expected, [known, "login", secret]).outcome == "failed"


def test_whether_a_call_is_the_one_that_is_depended_on_is_read_both_ways():
    login = {"name": "login", "arguments": {"pin": "[redacted]"}}
    expected = [entry("pay", action_dependencies=[{"tool_name": "login", "parameters": {"pin": "1234"}}])]
    assert scored(expected, [login, "pay"]).outcome == "errored"
    assert scored(expected, ["pay", login]).outcome == "failed"


def test_large_results_and_many_arguments_are_compared_in_bounded_time():
    """Twenty results of twenty thousand values each, a thousand arguments: four hundred million pairs."""
    results = {f"k{at}": [f"v{at}"] * 20 for at in range(1000)}
    called = [{"name": "list", "output": results} for _ in range(20)]
    called.append({"name": "book", "arguments": {"ids": [f"w{at}" for at in range(1000)]}})
    assert scored([entry(result_dependencies=["list"])], called).value == 0.0
    called[-1]["arguments"]["ids"].append("see v999.")
    assert scored([entry(result_dependencies=["list"])], called).value == 1.0


@pytest.mark.parametrize(
    ("output", "argument", "value"),
    [
        ("a\0b", "xa\0by", 1.0),
        ("bcd\0efg", ["abcd", "efgh"], 0.0),
        (10**5000, "0000", 0.0),
        ("ab", "abc", 0.0),
    ],
    ids=["with a NUL", "over two arguments", "a number of 5,000 digits", "too short"],
)
def test_a_result_must_stand_in_one_argument_as_it_is_written(output, argument, value):
    called = [{"name": "list", "output": output}, {"name": "book", "arguments": {"x": argument}}]
    assert scored([entry(result_dependencies=["list"])], called).value == value
