"""`explained`: a score with the diff of its comparison, made when somebody reads it.

The diff takes ten times as long as the score. Of a million stored runs that are scored anew, it is read of
few; where a score is stored or printed, it is made then.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from agenttrace.core.changed import changed
from agenttrace.core.later import Later
from agenttrace.core.score import Score
from agenttrace.expectations.reading import current_reading, has_doubts, read_again
from agenttrace.expectations.values import PREDICATE_RAISED
from agenttrace.matching.comparison import Comparison
from agenttrace.matching.explain import explain
from agenttrace.matching.rows import Row, rows_data

Facts = Callable[[], Mapping[str, Any]]

MOST_CALLS = 200
"""Calls, expected and made, of which the diff is made later. That of longer runs is made within the scorer's
deadline, and does not keep them in memory."""


def explained(score: Score, comparison: Comparison, facts: Facts | None = None) -> Score:
    """The score with the diff, and with its rows among the details; before them stand the `facts`.

    They are made at once where making them runs code of the user's, may ask a judge, or may change what a
    score says cannot be told: that belongs to the scoring, and so do its errors.
    """
    if remarks := comparison.remarks:
        score = changed(score, reason="; ".join([score.reason, *remarks]))
    calls = len(comparison.calls) + len(comparison.alignment.places)
    if calls > MOST_CALLS or has_doubts() or not comparison.is_repeatable:
        reason = "; ".join(dict.fromkeys([score.reason, *_raised(comparison.rows)]))
        details = _details(score.details, comparison, facts)
        return changed(score, reason=reason, diff=explain(comparison), details=details)
    explanation = _Explanation(score.details, comparison, facts)
    return changed(score, diff=Later(explanation.diff), details=Later(explanation.details))


class _Explanation:
    """What explains a score, made later, as it is read now."""

    __slots__ = ("_comparison", "_details", "_facts", "_reading")

    def __init__(self, details: Mapping[str, Any], comparison: Comparison, facts: Facts | None) -> None:
        self._details, self._comparison, self._facts = details, comparison, facts
        self._reading = current_reading()

    def diff(self) -> str:
        """The aligned diff."""
        with read_again(self._reading):
            return explain(self._comparison)

    def details(self) -> dict[str, Any]:
        """The score's details with the facts and the rows."""
        with read_again(self._reading):
            return _details(self._details, self._comparison, self._facts)


def _raised(rows: Sequence[Row]) -> Iterator[str]:
    """What predicates raised, by path: a value that one cannot take fails as a slip in the predicate does."""
    for row in rows:
        for one in row.differences:
            if one.note.startswith(PREDICATE_RAISED):
                yield f"{one.path}: {one.note}"


def _details(details: Mapping[str, Any], comparison: Comparison, facts: Facts | None) -> dict[str, Any]:
    return {**(facts() if facts is not None else {}), **details, **rows_data(comparison.rows)}
