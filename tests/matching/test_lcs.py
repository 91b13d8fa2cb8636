"""The longest common subsequence, its length and its tie-breaks."""

from __future__ import annotations

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from agenttrace.matching.lcs import earliest_lcs_pairs, lcs_length, lcs_pairs

SEQUENCES = st.lists(st.sampled_from("abcd"), max_size=9)


def table(e: list[str], a: list[str]) -> list[list[int]]:
    rows = [[0] * (len(e) + 1) for _ in range(len(a) + 1)]
    for i, got in enumerate(a):
        for j, wanted in enumerate(e):
            rows[i + 1][j + 1] = rows[i][j] + 1 if got == wanted else max(rows[i][j + 1], rows[i + 1][j])
    return rows


def walk_back(e: list[str], a: list[str]) -> list[tuple[int, int]]:
    rows, i, j, pairs = table(e, a), len(a), len(e), []
    while i and j:
        if a[i - 1] == e[j - 1]:
            pairs.append((j - 1, i - 1))
            i, j = i - 1, j - 1
        elif rows[i - 1][j] > rows[i][j - 1]:
            i -= 1
        else:
            j -= 1
    return pairs[::-1]


@given(SEQUENCES, SEQUENCES)
def test_length_and_subsequence_are_those_of_the_plain_table(e: list[str], a: list[str]) -> None:
    assert lcs_length(e, a) == table(e, a)[-1][-1]
    assert lcs_pairs(e, a) == walk_back(e, a)


@given(SEQUENCES, SEQUENCES)
def test_the_earliest_subsequence_is_as_long_and_mirrors_the_walk(e: list[str], a: list[str]) -> None:
    pairs = earliest_lcs_pairs(e, a)
    assert len(pairs) == lcs_length(e, a)
    assert all(e[x] == a[y] for x, y in pairs)
    assert all(p[0] < q[0] and p[1] < q[1] for p, q in pairwise(pairs))


def test_the_tie_break_is_that_of_the_documented_walk() -> None:
    assert ["abcd"[e] for e, _ in lcs_pairs("abcd", "cdab")] == ["a", "b"]
    assert lcs_pairs("a", "aa") == [(0, 1)]
    assert earliest_lcs_pairs("a", "aa") == [(0, 0)]


def test_empty_sequences_have_nothing_in_common() -> None:
    assert lcs_pairs("", "abc") == lcs_pairs("abc", "") == lcs_pairs("", "") == []
    assert lcs_length("", "") == 0


def test_a_long_sequence_needs_no_table() -> None:
    e = [f"tool_{n % 17}" for n in range(3_000)]
    a = [name for n, name in enumerate(e) if n % 5]
    assert len(lcs_pairs(e, a)) == lcs_length(e, a) == len(a)
