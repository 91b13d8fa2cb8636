import pytest

from agenttrace.core.errors import ScorerError
from agenttrace.core.example import Example
from agenttrace.scorers import ContainsScorer


def scored(texts, actual, **options):
    return ContainsScorer(texts, **options).score(Example(actual_output=actual))


def test_the_score_is_the_share_of_texts_found():
    score = scored(["Paris", "Rome"], "From Paris with love")
    assert (score.value, score.details) == (0.5, {"missing": ["Rome"]})
    assert score.reason == "1 of 2 texts found (all wanted); missing: 'Rome'"


def test_any_of_them_may_be_enough():
    assert scored(["Paris", "Rome"], "From Paris", mode="any").value == 1.0
    assert scored(["Oslo", "Rome"], "From Paris", mode="any").value == 0.0


def test_case_counts_unless_it_is_ignored():
    assert scored("PARIS", "paris").value == 0.0
    assert scored("PARIS", "paris", ignore_case=True).value == 1.0


def test_numbers_are_texts_and_lists_are_lines():
    assert scored("42", 42).value == 1.0
    assert scored(["a", "b"], ["has a", "has b"]).value == 1.0


def test_the_texts_are_the_expected_output_by_default():
    example = Example(expected_output=["a", "b"], actual_output="ab")
    assert ContainsScorer().score(example).value == 1.0


@pytest.mark.parametrize("texts", ["", ["a", ""]])
def test_an_empty_text_would_be_in_everything_and_is_refused(texts):
    with pytest.raises(ScorerError, match="empty text"):
        scored(texts, "a")


def test_so_is_a_list_of_no_texts():
    with pytest.raises(ScorerError, match="there is no text to look for"):
        scored([], "a")


def test_what_is_no_text_is_an_error():
    with pytest.raises(ScorerError, match="compares texts, got dict"):
        scored("a", {"a": 1})
    with pytest.raises(ScorerError, match="'all' or 'any', got 'some'"):
        ContainsScorer("a", mode="some")
