import pytest

from agenttrace.core.example import Example
from agenttrace.expectations import approx
from agenttrace.scorers import ExactMatchScorer


def scored(expected, actual, **options):
    return ExactMatchScorer(**options).score(Example(expected_output=expected, actual_output=actual))


@pytest.mark.parametrize(
    ("expected", "actual", "value"),
    [
        ("a", "a", 1.0),
        ("a", "A", 0.0),
        (1, 1.0, 1.0),
        (1, True, 0.0),
        ("1", 1, 0.0),
        ({"a": 1, "b": [2]}, {"b": [2], "a": 1}, 1.0),
        ([1, 2], [2, 1], 0.0),
        ({"n": approx(1.0)}, {"n": 1.0000001}, 1.0),
        ("", "", 1.0),
    ],
)
def test_answers_are_equal_as_json_values(expected, actual, value):
    assert scored(expected, actual).value == value


def test_case_and_white_space_may_be_left_out():
    assert scored("Paris", " paris\n").value == 0.0
    assert scored("Paris", " paris\n", ignore_case=True, strip=True).value == 1.0


def test_what_differs_is_told():
    score = scored({"a": 1, "b": 2}, {"a": 9})
    assert score.reason == "differs in 2 places: a: expected 1, got 9; b: expected 2, got None"
    assert [(d["path"], d["kind"]) for d in score.details["differences"]] == [
        ("a", "differs"),
        ("b", "missing"),
    ]
    assert scored("x", "y").reason == "differs in 1 place: the value: expected 'x', got 'y'"
    assert scored("x", "x").reason == "equal"
