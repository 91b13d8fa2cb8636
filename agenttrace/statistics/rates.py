"""Do two groups pass at different rates? Fisher's exact test."""

from __future__ import annotations

from math import comb

from agenttrace.statistics.inputs import check_counts


def fisher_exact(a: int, b: int, c: int, d: int) -> float:
    """Return the two-sided p-value of a table: `a` passed and `b` failed here, `c` passed and `d` failed
    there.

    The probability, with all sums of the table fixed, of this table and of all that are no likelier (Fisher
    1935). 1 where a whole row or column is 0.

    Raises:
        ValueError: a count is negative, or no whole number.
    """
    check_counts(a, b, c, d)
    here, there, passed = a + b, c + d, a + c
    least, most = max(0, passed - there), min(here, passed)
    observed = comb(here, a) * comb(there, c)
    ways = comb(here, least) * comb(there, passed - least)
    total = as_rare = 0
    for x in range(least, most + 1):  # each from the one before: a product of two numbers anew takes long
        total += ways
        as_rare += ways if ways <= observed else 0
        ways = ways * (here - x) * (passed - x) // ((x + 1) * (there - passed + x + 1))
    return as_rare / total
