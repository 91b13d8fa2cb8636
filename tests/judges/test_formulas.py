"""The arithmetic, against sums written out by hand."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agenttrace.judges import formulas

verdicts = st.lists(st.sampled_from(["yes", "no", "idk"]), max_size=12)


@given(verdicts)
def test_shares_are_counted(words: list[str]) -> None:
    n = len(words)
    yes, no = sum(w == "yes" for w in words), sum(w == "no" for w in words)
    assert formulas.share_not_denied(words) == pytest.approx(1 if n == 0 else float(Fraction(n - no, n)))
    assert formulas.share_denied(words) == pytest.approx(0 if n == 0 else float(Fraction(no, n)))
    for none in (0.0, 1.0):
        expected = none if n == 0 else float(Fraction(yes, n))
        assert formulas.share_affirmed(words, none=none) == pytest.approx(expected)


@given(verdicts)
def test_average_precision_is_the_mean_over_useful_ranks(words: list[str]) -> None:
    total, useful = Fraction(0), 0
    for k in range(1, len(words) + 1):
        if words[k - 1] == "yes":
            useful += 1
            total += Fraction(words[:k].count("yes"), k)
    assert formulas.average_precision(words) == pytest.approx(float(total / useful) if useful else 0)


@given(st.lists(st.tuples(st.sampled_from(["yes", "no", "idk"]), st.sampled_from(["yes", "no", "idk"]))))
def test_coverage_counts_what_the_source_affirms(answers: list[tuple[str, str]]) -> None:
    asked = [summary for source, summary in answers if source == "yes"]
    expected = float(Fraction(asked.count("yes"), len(asked))) if asked else 0
    assert formulas.coverage(answers) == pytest.approx(expected)
