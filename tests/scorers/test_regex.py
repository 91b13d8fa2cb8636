import pytest

from agenttrace.core.errors import ScorerError
from agenttrace.core.example import Example
from agenttrace.scorers import RegexScorer


def scored(pattern, actual, **options):
    return RegexScorer(pattern, **options).score(Example(actual_output=actual))


def test_a_pattern_is_searched_or_matches_all():
    score = scored(r"\d+ EUR", "It costs 12 EUR.")
    assert (score.value, score.details) == (1.0, {"pattern": r"\d+ EUR", "match": "12 EUR"})
    assert score.reason == r"/\d+ EUR/ matches '12 EUR'"
    assert scored(r"\d+ EUR", "It costs 12 EUR.", full=True).value == 0.0
    assert scored(r"\d+ EUR", "12 EUR", full=True).value == 1.0


def test_case_counts_unless_it_is_ignored():
    assert scored("paris", "PARIS").value == 0.0
    assert scored("paris", "PARIS", ignore_case=True).value == 1.0


def test_the_pattern_is_the_expected_output_by_default():
    assert RegexScorer().score(Example(expected_output="^a", actual_output="ab")).value == 1.0


def test_a_pattern_that_is_none_is_refused_when_built_and_when_checked():
    with pytest.raises(ScorerError, match="is no regular expression"):
        RegexScorer("(")
    with pytest.raises(ScorerError, match="is no regular expression"):
        RegexScorer().check(Example(expected_output="("))
    with pytest.raises(ScorerError, match="is no regular expression: it is for bytes"):
        RegexScorer(b"a")
    with pytest.raises(ScorerError, match="is no regular expression"):
        RegexScorer("a{99999999999999}")


def test_a_long_text_is_searched_whole():
    assert scored("needle", "x" * 200_000 + "needle").value == 1.0
    assert scored("(needle)", "x" * 2_000_000 + "needle").details["match"] == "needle"
    assert scored("needle", "x" * 200_000).value == 0.0
    assert scored("x*", "x" * 200_000, full=True).value == 1.0


def test_the_time_of_a_search_is_a_parameter():
    with pytest.raises(ScorerError, match=r"^Mine: /\(a\+\)\+\$/ found no answer within 0.05 s"):
        scored("(a+)+$", "a" * 30 + "!", timeout=0.05, name="Mine")
    with pytest.raises(ScorerError, match="Regex: timeout is a number of seconds above 0"):
        RegexScorer("a", timeout=0)
