import pytest

from agenttrace.core.errors import ExpectationError, ScorerError
from agenttrace.core.example import Example
from agenttrace.expectations import call, has
from agenttrace.scorers import ToolCallOutputScorer


def out(name, output, **more):
    return {"name": name, "output": output, **more}


def scored(expected, actual, **options):
    return ToolCallOutputScorer(expected, **options).score(Example(tools_called=actual))


def test_outputs_are_compared_as_values():
    actual = [out("a", {"total": 99.0, "lines": [1, 2]}), out("b", "ok")]
    score = scored([out("a", {"lines": [1, 2], "total": 99}), out("b", "no")], actual)
    assert score.value == 0.5
    assert score.reason == "1 of 2 expected calls matched"
    (difference,) = score.details["calls"][1]["differences"]
    assert (difference["path"], difference["got"]) == ("output", "ok")


def test_text_is_not_the_value_that_it_writes_down():
    assert scored([out("a", {"x": 1})], [out("a", '{"x": 1}')]).value == 0.0


def test_any_call_of_the_tool_may_have_given_the_output():
    actual = [out("t", "x"), out("t", "y")]
    assert scored([out("t", "y")], actual, strict=True).value == 1.0
    assert scored([out("t", "y"), out("t", "x")], actual, strict=True).value == 1.0
    assert scored([out("t", "y"), out("t", "y")], actual).value == 0.5
    assert scored([out("t", "y"), out("t", "y")], actual, strict=True).value == 0.0


def test_outputs_may_hold_matchers():
    assert scored([out("t", {"$has": ["a"]})], [out("t", ["b", "a"])]).value == 1.0
    assert scored([call("t", output=has("a"))], [out("t", ["b"])]).value == 0.0


def test_an_expected_null_is_an_output_and_not_whatever():
    assert scored([out("t", None)], [out("t", None)]).value == 1.0
    assert scored([out("t", None)], [out("t", "something")]).value == 0.0


def test_arguments_beside_an_output_are_not_compared():
    assert scored([out("t", 1, args={"x": 1})], [out("t", 1, args={"x": 2})]).value == 1.0


def test_nothing_expected_is_right_where_nothing_was_called():
    assert scored([], []).value == 1.0
    assert scored([], ["a"]).value == 0.0


@pytest.mark.parametrize("given", [["a"], [{"name": "a"}], [{"name": "a", "args": {}}], [call("a")]])
def test_a_call_without_an_output_is_refused_when_built(given):
    with pytest.raises(ScorerError, match="each expected output is"):
        ToolCallOutputScorer(given)


def test_an_unknown_key_is_refused_with_a_suggestion():
    with pytest.raises(ExpectationError, match="did you mean 'output'"):
        ToolCallOutputScorer([{"name": "a", "ouput": 1}])


def test_the_example_s_expected_tools_are_expected_by_default():
    example = Example(expected_tools=[out("a", 1)], tools_called=[out("a", 1)])
    assert ToolCallOutputScorer().score(example).value == 1.0
    with pytest.raises(ScorerError, match="each expected output is"):
        ToolCallOutputScorer().check(Example(expected_tools=["a"]))
