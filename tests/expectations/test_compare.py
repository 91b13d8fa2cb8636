"""What `compare` refuses before it compares anything."""

from __future__ import annotations

import pytest

from agenttrace.core.errors import ScorerError
from agenttrace.expectations import compare, expect
from agenttrace.scorers import TrajectoryScorer
from tests.expectations.strategies import trace_of


def test_an_unknown_mode_is_an_error_that_says_which_one_is_meant() -> None:
    with pytest.raises(ScorerError, match=r"'only' allows no call outside .* 'contains' wants at least"):
        compare(["a"], trace_of("a"), mode="subset")  # type: ignore[arg-type]
    with pytest.raises(ScorerError, match="did you mean 'in_order'"):
        compare(["a"], trace_of("a"), mode="inorder")  # type: ignore[arg-type]
    with pytest.raises(ScorerError, match="did you mean 'any_order'"):
        compare(expect(["a"], mode="exact"), trace_of("a"), mode="unordered")  # type: ignore[arg-type]


def test_an_unknown_way_to_compare_arguments_lists_the_known_ones() -> None:
    with pytest.raises(ScorerError, match="one of exact, listed, ignore, got 'subset'"):
        compare(["a"], trace_of("a"), match="subset")  # type: ignore[arg-type]


@pytest.mark.parametrize("options", [{"mode": "subset"}, {"parameters": "subset"}])
def test_a_scorer_refuses_them_when_it_is_made(options: dict[str, str]) -> None:
    with pytest.raises(ScorerError, match="got 'subset'"):
        TrajectoryScorer(**options)  # type: ignore[arg-type]
