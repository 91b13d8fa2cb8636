import pytest

from agenttrace.core.errors import ExpectationError, ScorerError
from agenttrace.core.example import Example
from agenttrace.expectations import expect, par
from agenttrace.scorers import ToolCallOrderScorer


def scored(expected, actual, **options):
    return ToolCallOrderScorer(expected, **options).score(Example(tools_called=list(actual)))


def test_the_score_is_the_lcs_by_the_expected_calls():
    score = scored(["A", "B", "C", "D"], ["A", "X", "B", "D"])
    assert score.value == 0.75
    assert score.details == {
        "actual_tool_calls_order": ["A", "X", "B", "D"],
        "expected_tool_calls_order": ["A", "B", "C", "D"],
        "lcs": ["A", "B", "D"],
    }
    assert score.reason == "LCS 3 of 4 expected: A, B, D"
    assert score.outcome == "failed"


def test_extra_calls_are_free():
    assert scored(["a"], ["x"] * 50 + ["a"]).value == 1.0


@pytest.mark.parametrize(
    ("actual", "expected", "lcs"),
    [("cdab", "abcd", ["a", "b"]), ("ab", "ba", ["b"]), ("abc", "cba", ["c"]), ("aab", "aba", ["a", "b"])],
)
def test_ties_are_broken_from_the_end(actual, expected, lcs):
    assert scored(list(expected), actual).details["lcs"] == lcs


@pytest.mark.parametrize(
    ("actual", "value"), [("ab", 1.0), ("abx", 0.0), ("a", 0.0), ("ba", 0.0), ("", 0.0), ("AB", 0.0)]
)
def test_strict_is_equal_or_not(actual, value):
    score = scored(["a", "b"], actual, strict=True)
    assert (score.value, score.strict) == (value, True)
    equal = "" if value else "not "
    assert score.reason == f"the {len(actual)} calls are {equal}the 2 expected ones"


def test_no_calls_score_zero():
    assert scored(["a"], []).value == 0.0


def test_an_empty_order_is_refused_when_built_and_in_an_example():
    with pytest.raises(ScorerError, match="expected order is empty"):
        ToolCallOrderScorer([])
    with pytest.raises(ScorerError, match="expected order is empty"):
        ToolCallOrderScorer().check(Example(expected_tools=[]))


def test_the_example_s_expected_tools_are_the_order_by_default():
    example = Example(
        expected_tools=["a", {"tool_name": "b", "parameters": {"x": 1}}], tools_called=["a", {"name": "b"}]
    )
    assert ToolCallOrderScorer().score(example).value == 1.0


def test_no_order_at_all_is_an_error():
    with pytest.raises(ScorerError, match="needs to be told which calls are expected"):
        ToolCallOrderScorer().check(Example())


@pytest.mark.parametrize(
    "pattern", [par("a", "b"), expect(["a"], never="b"), {"path": ["a"], "max_calls": 3}]
)
def test_patterns_and_constraints_are_referred_to_the_trajectory_scorer(pattern):
    with pytest.raises(ScorerError, match="TrajectoryScorer takes patterns"):
        ToolCallOrderScorer().check(Example(expected_tools=pattern))


def test_what_is_no_call_is_refused_when_built():
    with pytest.raises(ExpectationError):
        ToolCallOrderScorer([7])


def test_where_all_expected_tools_are_out_of_scope_nothing_may_be_called_in_it():
    assert scored(["read"], ["read"], tools="write*").value == 1.0
    assert scored(["read"], ["read", "write_it"], tools="write*").value == 0.0


def test_the_threshold_decides():
    assert scored(["a", "b"], ["a"], threshold=0.5).passed
    with pytest.raises(ScorerError, match="threshold is a number from 0 to 1"):
        ToolCallOrderScorer(["a"], threshold=2)
