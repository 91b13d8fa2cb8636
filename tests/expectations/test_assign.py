"""The pairing of greatest weight."""

from __future__ import annotations

from itertools import permutations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agenttrace.expectations.assign import Assignment, best_pairs

TABLES = st.integers(1, 4).flatmap(
    lambda places: st.lists(
        st.dictionaries(st.integers(0, places - 1), st.integers(1, 9), max_size=places), max_size=5
    ).map(lambda calls: (places, calls))
)


def brute_force(places: int, calls: list[dict[int, int]]) -> int:
    slots = [*range(places), *([None] * len(calls))]
    best = 0
    for order in set(permutations(slots, len(calls))):
        best = max(
            best, sum(call.get(slot, 0) for call, slot in zip(calls, order, strict=True) if slot is not None)
        )
    return best


@given(TABLES)
def test_it_is_optimal_after_every_call(table: tuple[int, list[dict[int, int]]]) -> None:
    places, calls = table
    assignment = Assignment(places)
    for number, weights in enumerate(calls):
        before = assignment.total
        gain = assignment.add(number, weights)
        assert assignment.total == before + gain == brute_force(places, calls[: number + 1])
        assert assignment.total == sum(calls[call][place] for place, call in assignment.pairs())


@given(
    st.lists(st.lists(st.sampled_from([0, 0.25, 0.5, 1.0]), min_size=3, max_size=3), min_size=1, max_size=4)
)
def test_a_matrix_is_paired_as_well_as_brute_force_pairs_it(matrix: list[list[float]]) -> None:
    pairs = best_pairs(matrix)
    best = max(
        sum(matrix[row][column] for row, column in enumerate(order) if column is not None)
        for order in permutations([0, 1, 2, *([None] * len(matrix))], len(matrix))
    )
    assert sum(matrix[row][column] for row, column in pairs) == pytest.approx(best)
    assert len({row for row, _ in pairs}) == len({column for _, column in pairs}) == len(pairs)


def test_ties_go_to_the_earliest_columns() -> None:
    assert best_pairs([[1.0, 1.0, 1.0]]) == [(0, 0)]
    assert sorted(column for _, column in best_pairs([[0.5] * 4, [0.5] * 4])) == [0, 1]


def test_nothing_is_paired_at_weight_zero() -> None:
    assert best_pairs([[0.0, 0.0]]) == best_pairs([]) == []
