"""A bound is a sign and a number; a number alone is the least value."""

import pytest

from agenttrace.core.errors import ConfigError
from agenttrace.evaluation.bound import Bound


@pytest.mark.parametrize(
    ("value", "bound", "accepted", "refused"),
    [
        (">= 0.8", Bound(">=", 0.8), 0.8, 0.79),
        ("> 0.8", Bound(">", 0.8), 0.81, 0.8),
        ("==1", Bound("==", 1.0), 1.0, 0.99),
        (" <= -2. ", Bound("<=", -2.0), -2.0, -1.9),
        ("< .5", Bound("<", 0.5), 0.49, 0.5),
        (0.8, Bound(">=", 0.8), 1.0, 0.79),
        (12, Bound(">=", 12.0), 12.0, 11.9),
    ],
)
def test_a_bound_is_a_sign_and_a_number(value, bound, accepted, refused):
    read = Bound.parse(value)
    assert read == bound
    assert read.accepts(accepted)
    assert not read.accepts(refused)


def test_what_rounding_leaves_is_no_miss():
    assert Bound.parse(">= 0.3").accepts(0.1 + 0.1 + 0.1)
    assert Bound.parse("<= 0.3").accepts(0.1 + 0.2)
    assert not Bound.parse("> 0.3").accepts(0.1 + 0.2)


@pytest.mark.parametrize(
    "value", ["0.8", "=> 0.8", ">= ", ">= a", ">= nan", ">= 1e3", "", True, [0.8], float("nan"), 10**400]
)
def test_anything_else_is_an_error(value):
    with pytest.raises(ConfigError, match="require is a number, or a sign and a number such as"):
        Bound.parse(value)
