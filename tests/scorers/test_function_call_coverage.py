import pytest
from hypothesis import given
from hypothesis import strategies as st

from agenttrace.core.errors import ScorerError
from agenttrace.core.example import Example
from agenttrace.expectations import par
from agenttrace.scorers import FunctionCallCoverageScorer


def scored(required, called, **options):
    return FunctionCallCoverageScorer(required, **options).score(Example(tools_called=list(called)))


def test_the_six_numbers():
    score = scored(["search", "calculator"], ["search", "lookup", "search"])
    assert score.details == {
        "all_required_calls_made": 0.0,
        "required_calls_coverage": 0.5,
        "num_required_calls_made": 1,
        "num_required_calls_not_made": 1,
        "num_unrequired_calls": 2,
        "num_required_calls_total": 2,
    }
    assert score.value == 0.0
    assert score.reason == "1 of 2 required calls made; missing: calculator"


def test_the_metric_says_which_number_is_the_value():
    assert scored(["a", "b"], "a", metric="required_calls_coverage").value == 0.5


def test_a_name_that_is_listed_twice_is_required_twice():
    assert scored(["a", "a"], "a").details["num_required_calls_made"] == 1
    assert scored(["a", "a"], "aa").value == 1.0


def test_in_order_decides_the_verdict_and_nothing_else():
    score = scored(["a", "b"], "ba", mode="in_order")
    assert (score.value, score.details["required_calls_coverage"]) == (0.0, 1.0)
    assert score.reason == "2 of 2 required calls made, not in the required order"
    assert scored(["a", "b"], "axb", mode="in_order").value == 1.0


def test_nothing_required_is_1_and_every_call_unrequired():
    details = scored([], "ab").details
    assert (details["all_required_calls_made"], details["required_calls_coverage"]) == (1.0, 1.0)
    assert details["num_unrequired_calls"] == 2


names = st.lists(st.sampled_from("abc"), max_size=6)


@given(names, names)
def test_the_counts_add_up(required, called):
    any_order = scored(required, called).details
    in_order = scored(required, called, mode="in_order").details
    assert any_order["num_required_calls_made"] + any_order["num_unrequired_calls"] == len(called)
    assert any_order["num_required_calls_made"] + any_order["num_required_calls_not_made"] == len(required)
    assert in_order["all_required_calls_made"] <= any_order["all_required_calls_made"]


def test_the_example_s_expected_tools_are_required_by_default():
    example = Example(
        expected_tools=["a", {"tool_name": "b", "parameters": {"x": 1}}], tools_called=["b", "a"]
    )
    assert FunctionCallCoverageScorer().score(example).value == 1.0
    with pytest.raises(ScorerError, match="needs function_calls"):
        FunctionCallCoverageScorer().check(Example())
    with pytest.raises(ScorerError, match="plain list"):
        FunctionCallCoverageScorer().check(Example(expected_tools=par("a", "b")))


@pytest.mark.parametrize(
    ("given", "said"),
    [(["a", 1], "list of names"), ([""], "list of names"), ("{}", "list of names"), ("a, b", "JSON list")],
)
def test_function_calls_that_are_no_names_are_refused(given, said):
    with pytest.raises(ScorerError, match=said):
        scored(given, "a")


@pytest.mark.parametrize("option", [{"mode": "ordered"}, {"metric": "coverage"}])
def test_unknown_options_are_refused(option):
    with pytest.raises(ScorerError, match="got"):
        FunctionCallCoverageScorer(["a"], **option)
