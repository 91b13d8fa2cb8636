"""A value that JSON has no word for comes back from every format of a file."""

from __future__ import annotations

import math
import tempfile
from datetime import UTC, datetime
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agenttrace.core.example import Example
from agenttrace.datasets.dataset import EvalDataset
from agenttrace.expectations import approx, call
from agenttrace.scorers import ToolOrderScorer

FORMATS = ["json", "jsonl", "csv", "yaml"]
NOON = datetime(2025, 6, 1, 12, tzinfo=UTC)
NUMBERS = (int, float, Decimal, bytes)
WORDS = st.sampled_from(["a", "$float", "$$float", "$int", "$bytes", "size", "$decimal", "$type", "NaN"])
VALUES = st.recursive(
    st.booleans()
    | st.integers()
    | st.sampled_from([10**700, -(10**4_000), 2**60])
    | st.floats()
    | st.decimals(allow_nan=False, allow_infinity=False)
    | st.binary(max_size=2_000)
    | WORDS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(WORDS, inner, max_size=2),
    max_leaves=8,
)


def there_and_back(example, form):
    with tempfile.TemporaryDirectory() as directory:
        path = EvalDataset([example]).save_as(form, directory, "values")
        (back,) = EvalDataset.from_file(path)
    return back


@pytest.mark.parametrize("form", FORMATS)
@given(value=VALUES)
def test_a_value_is_the_same_after_a_file(form, value):
    back = there_and_back(Example(actual_output={"value": value}, input={"value": value}), form)
    assert same(back.actual_output["value"], value)
    assert same(back.input["value"], value)


def same(one, other):
    """Compared part by part: Python does not print the longest integers, and NaN does not equal itself."""
    if isinstance(one, list):
        return isinstance(other, list) and len(one) == len(other) and all(map(same, one, other))
    if isinstance(one, dict):
        return one.keys() == other.keys() and all(same(one[key], other[key]) for key in one)
    return type(one) is type(other) and (one == other or (one != one and other != other))


@pytest.mark.parametrize("form", FORMATS)
@pytest.mark.parametrize("value", [2**60, 10**900, math.nan, Decimal("1.10"), b"ab", approx(1.5), NOON])
def test_an_expected_argument_is_compared_after_a_file_as_before(form, value):
    actual = 1.5 if value is not NOON and not isinstance(value, NUMBERS) else value
    example = Example(
        expected_tools=[call("pay", amount=value)],
        tools_called=[{"name": "pay", "arguments": {"amount": actual}}],
    )
    other = Example(
        expected_tools=example.expected_tools, tools_called=[{"name": "pay", "arguments": {"amount": 3}}]
    )
    for before, score in ((example, 1.0), (other, 0.0)):
        assert ToolOrderScorer().score(before).value == score
        assert ToolOrderScorer().score(there_and_back(before, form)).value == score
