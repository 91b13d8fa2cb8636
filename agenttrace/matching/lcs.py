"""The longest common subsequence of two sequences, on Python's big integers.

Hyyrö's bit-vector recurrence: bit j of a row is clear exactly where the table of lengths grows from column j
to j + 1. One row is kept for each actual item, and the subsequence is read from the rows without a table:
where the items differ, the entry above is strictly greater than the one to the left exactly where the length
grows there.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence

Pairs = list[tuple[int, int]]


def lcs_length(expected: Sequence[Hashable], actual: Sequence[Hashable]) -> int:
    """The length of the longest common subsequence."""
    rows = _rows(expected, actual)
    return len(expected) - rows[-1].bit_count() if rows else 0


def lcs_pairs(expected: Sequence[Hashable], actual: Sequence[Hashable]) -> Pairs:
    """(expected, actual) positions of a longest common subsequence, ascending.

    Ties: walk back from the end; take a match; where the table above is strictly greater, drop the actual
    item, else the expected one (actual ``cdab``, expected ``abcd`` gives ``ab``).
    """
    if expected == actual:
        return [(index, index) for index in range(len(expected))]
    rows = _rows(expected, actual)
    pairs: Pairs = []
    i, j = len(actual) - 1, len(expected) - 1
    while i >= 0 and j >= 0:
        if actual[i] == expected[j]:
            pairs.append((j, i))
            i -= 1
            j -= 1
        elif rows[i] >> j & 1:
            j -= 1
        else:
            i -= 1
    pairs.reverse()
    return pairs


def earliest_lcs_pairs(expected: Sequence[Hashable], actual: Sequence[Hashable]) -> Pairs:
    """Like `lcs_pairs`, but ties go to the earliest actual items: the same walk, from the front."""
    start = 0
    for e, a in zip(expected, actual, strict=False):
        if e != a:
            break
        start += 1
    head: Pairs = [(index, index) for index in range(start)]
    if start == len(expected) or start == len(actual):
        return head
    back = lcs_pairs(expected[start:][::-1], actual[start:][::-1])
    last_e, last_a = len(expected) - 1, len(actual) - 1
    return head + [(last_e - e, last_a - a) for e, a in reversed(back)]


def _rows(expected: Sequence[Hashable], actual: Sequence[Hashable]) -> list[int]:
    """One bit vector for each actual item: clear where the length grows with the expected item."""
    places: dict[Hashable, int] = {}
    bit = 1
    for item in expected:
        places[item] = places.get(item, 0) | bit
        bit <<= 1
    row = mask = bit - 1
    rows: list[int] = []
    find = places.get
    for item in actual:
        match = find(item)
        if match is not None:
            overlap = row & match
            row = ((row + overlap) | (row - overlap)) & mask
        rows.append(row)
    return rows
