"""An expectation made of a run."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agenttrace.core.errors import ExpectationError
from agenttrace.core.example import Example
from agenttrace.core.trace import Trace
from agenttrace.expectations import expectation_of
from agenttrace.matching import compare
from agenttrace.scorers import ToolOrderScorer
from tests.expectations.strategies import trace_of

RUN = trace_of([{"name": "find", "arguments": {"city": "Paris"}}, "book"])

values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=3),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(["a", "$in", "$$x", "$float"]), inner, max_size=3)
    ),
    max_leaves=5,
)


def test_calls_are_taken_with_their_arguments_or_by_name() -> None:
    assert expectation_of(RUN) == [
        {"tool_name": "find", "parameters": {"city": "Paris"}},
        {"tool_name": "book", "parameters": {}},
    ]
    assert expectation_of(RUN, "names") == ["find", "book"]
    assert expectation_of(RUN.tool_calls) == expectation_of(RUN)
    assert expectation_of(Trace()) == []


@given(st.lists(st.dictionaries(st.sampled_from(["x", "$in", "$re"]), values, max_size=3), max_size=3))
def test_every_run_fulfils_its_own_expectation(arguments: list[dict[str, object]]) -> None:
    run = trace_of([{"name": "f", "arguments": one} for one in arguments])
    assert compare(expectation_of(run), run, mode="exact").value == 1.0
    example = Example.from_dict(Example(expected_tools=expectation_of(run)).to_dict())
    assert ToolOrderScorer(exact_match=True).score(example, run).value == 1.0


def test_of_unreadable_arguments_only_the_name_is_taken() -> None:
    run = trace_of([{"name": "f", "arguments": "{not json"}])
    assert expectation_of(run) == ["f"]


@pytest.mark.parametrize(
    "recorded",
    ["[redacted]", {"token": "[redacted]", "id": 7}, [1, 2, {"$truncated": 9}], "abc…[+7 chars]",
     {"cart": {"$type": "shop.Cart"}}, {"a": 1, "$truncated": 3}, [[{"$truncated": "depth"}]]],
)  # fmt: skip
def test_what_was_not_recorded_whole_may_be_anything(recorded: object) -> None:
    run = trace_of([{"name": "f", "arguments": {"x": recorded, "y": 1}}])
    example = Example.from_dict(Example(expected_tools=expectation_of(run)).to_dict())
    assert ToolOrderScorer(exact_match=True).score(example, run).passed
    assert "truncated" not in str(example.expected_tools)
    other = trace_of([{"name": "f", "arguments": {"x": recorded, "y": 2}}])
    assert ToolOrderScorer(exact_match=True).score(example, other).outcome == "failed"


def test_what_is_no_run_is_refused() -> None:
    with pytest.raises(ExpectationError, match="a run is a Trace"):
        expectation_of(["a"])  # type: ignore[list-item]
    with pytest.raises(ExpectationError, match="did you mean 'names'"):
        expectation_of(RUN, "name")  # type: ignore[arg-type]
