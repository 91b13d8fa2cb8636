import pytest
from hypothesis import given
from hypothesis import strategies as st

from agenttrace.core.errors import ScorerError
from agenttrace.core.example import Example
from agenttrace.scorers import NumericDifferenceScorer


def scored(expected, actual):
    return NumericDifferenceScorer().score(Example(expected_output=expected, actual_output=actual))


@pytest.mark.parametrize(
    ("expected", "actual", "value"),
    [
        (10, 10, 1.0), (10, "10.0", 1.0), (0, 0, 1.0), (10, 0, 0.0), (10, -10, 0.0),
        (100, 50, 1 - 50 / 150), (3, 1, 0.5), (1e308, 1.7e308, pytest.approx(1 - 0.7 / 2.7)),
    ],
)  # fmt: skip
def test_the_formula(expected, actual, value):
    assert scored(expected, actual).value == value


def test_the_reason_restates_the_arithmetic():
    assert scored(3, 1).reason == "1 − |1.0 − 3.0| / (|1.0| + |3.0|)"


@given(st.floats(allow_nan=False, allow_infinity=False), st.floats(allow_nan=False, allow_infinity=False))
def test_it_is_a_score_and_symmetric(one, other):
    value = scored(one, other).value
    assert 0 <= value <= 1
    assert scored(other, one).value == value


@pytest.mark.parametrize("bad", ["ten", True, [1], float("inf"), "nan", 10**400, "1_000", "٣"])
def test_what_is_no_finite_number_is_an_error_that_names_the_field(bad):
    with pytest.raises(ScorerError, match="actual_output is a finite number"):
        scored(1, bad)
    with pytest.raises(ScorerError, match="expected_output is a finite number"):
        NumericDifferenceScorer().check(Example(expected_output=bad))
