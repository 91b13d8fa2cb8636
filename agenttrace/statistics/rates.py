"""Do two groups pass at different rates? Fisher's exact test."""

from __future__ import annotations

from math import comb


def fisher_exact(a: int, b: int, c: int, d: int) -> float:
    """Return the two-sided p-value of a table: `a` passed and `b` failed here, `c` passed and `d` failed
    there.

    The probability, with all sums of the table fixed, of this table and of all that are no likelier (Fisher
    1935). 1 where a whole row or column is 0.

    Raises:
        ValueError: a negative count.
    """
    if min(a, b, c, d) < 0:
        raise ValueError(f"counts are from 0, got {a!r}, {b!r}, {c!r}, {d!r}")
    here, there, passed = a + b, c + d, a + c

    def ways(x: int) -> int:
        return comb(here, x) * comb(there, passed - x)

    tables = [ways(x) for x in range(max(0, passed - there), min(here, passed) + 1)]
    return sum(count for count in tables if count <= ways(a)) / sum(tables)
