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


def test_a_long_text_is_searched_up_to_a_limit_beyond_which_nothing_is_claimed():
    assert scored("needle", "needle" + "x" * 200_000).value == 1.0
    for pattern, options in (("needle", {}), ("x$", {}), ("x*", {"full": True})):
        with pytest.raises(ScorerError, match=r"first 100,000 of 200,006 characters"):
            scored(pattern, "x" * 200_000 + "needle", **options)
    assert scored("x*", "x" * 100_000, full=True).value == 1.0
