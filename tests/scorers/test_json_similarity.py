import pytest

from agenttrace.core.example import Example
from agenttrace.expectations import ANY
from agenttrace.scorers import JSONSimilarityScorer


def scored(expected, actual):
    return JSONSimilarityScorer().score(Example(expected_output=expected, actual_output=actual))


@pytest.mark.parametrize(
    ("expected", "actual", "value"),
    [
        ({"a": 1, "b": 2}, {"a": 1, "b": 3}, 0.5),
        ({"a": 1}, {"a": 1, "b": 2}, 0.5),
        ([1, 2, 3, 4], [1, 2, 9], 0.5),
        ({"a": {"b": 1, "c": 2}, "d": 1}, {"a": {"b": 1, "c": 9}, "d": 1}, 0.75),
        ('{"a": 1}', '{"a": 1.0}', 1.0),
        ("plain", "plain", 1.0),
        ("plain", "other", 0.0),
        ({}, {}, 1.0),
        ({"a": ANY}, {"a": "whatever"}, 1.0),
        ("[" * 100_000, "[" * 100_000, 1.0),
    ],
)
def test_agreement_is_the_mean_over_keys_and_positions(expected, actual, value):
    assert scored(expected, actual).value == pytest.approx(value)


def test_what_differs_is_told():
    score = scored({"a": 1, "b": 2}, {"a": 1, "b": 3})
    assert score.reason == "agreement 0.5; differs in b"
    assert score.details["differences"] == [
        {"path": "b", "kind": "differs", "expected": 2, "got": 3, "note": ""}
    ]
