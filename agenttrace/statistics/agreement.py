"""How far two raters agree: Cohen's kappa of a confusion table, with an interval."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random

from agenttrace.statistics.proportions import Interval, normal_quantile

Table = Sequence[Sequence[int]]
"""Counts: a row for each verdict of the first rater, a column for each of the second, in the same order."""

_DRAWS = 4_000
_PRIOR = 0.5


def cohens_kappa(table: Table) -> float | None:
    """Return the agreement beyond chance: 1 is full, 0 what chance gives, below 0 less than that.

    (observed − expected) / (1 − expected), Cohen 1960. None where nothing was rated, and where both raters
    only ever said one and the same thing: chance alone explains that.

    Raises:
        ValueError: the table is not square, or holds something else than counts.
    """
    total = _checked(table)
    return None if total == 0 else _kappa(table)


def kappa_interval(table: Table, confidence: float = 0.95) -> Interval:
    """Return an interval for the kappa of which the table is a sample.

    The middle share of the posterior under Jeffreys' prior (half a case in each cell), by drawing, always
    the same for the same table. Unlike kappa ± 2 standard errors it is no point where few cases all agree,
    and stays within −1 and 1.

    Raises:
        ValueError: as `cohens_kappa`, or a confidence that is not between 0 and 1.
    """
    normal_quantile(confidence)  # checks it
    if _checked(table) == 0:
        return Interval(-1.0, 1.0)
    random, width = Random(0), len(table)  # noqa: S311 - the same table, the same interval
    cells = [count + _PRIOR for row in table for count in row]
    kappas = []
    for _ in range(_DRAWS):
        shares = [random.gammavariate(cell, 1.0) for cell in cells]
        drawn = [shares[at : at + width] for at in range(0, len(shares), width)]
        kappa = _kappa(drawn)
        if kappa is not None:
            kappas.append(kappa)
    kappas.sort()
    tail = (1 - confidence) / 2
    return Interval(
        kappas[int(tail * len(kappas))], kappas[min(int((1 - tail) * len(kappas)), len(kappas) - 1)]
    )


def observed_agreement(table: Table) -> float | None:
    """Return the share of cases on which both say the same; None where nothing was rated.

    Raises:
        ValueError: as `cohens_kappa`.
    """
    total = _checked(table)
    return sum(table[at][at] for at in range(len(table))) / total if total else None


def _kappa(table: Sequence[Sequence[float]]) -> float | None:
    total = sum(map(sum, table))
    rows = [sum(row) / total for row in table]
    columns = [sum(column) / total for column in zip(*table, strict=True)]
    expected = sum(row * column for row, column in zip(rows, columns, strict=True))
    observed = sum(table[at][at] for at in range(len(table))) / total
    return None if 1 - expected < 1e-12 else (observed - expected) / (1 - expected)


def _checked(table: Table) -> int:
    """The number of cases of a table."""
    size = len(table)
    if size < 2 or any(len(row) != size for row in table):
        raise ValueError(f"a confusion table is square, with two verdicts at least, got {table!r}")
    if any(
        not isinstance(count, int) or isinstance(count, bool) or count < 0 for row in table for count in row
    ):
        raise ValueError(f"a confusion table holds counts, got {table!r}")
    return sum(map(sum, table))
