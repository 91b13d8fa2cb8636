"""Whether the answer matches a regular expression."""

from __future__ import annotations

import re

from agenttrace.core.errors import ScorerError
from agenttrace.core.example import Example
from agenttrace.core.marks import cause_of, known_pieces
from agenttrace.core.score import Score, checked_flag
from agenttrace.core.text import shorten
from agenttrace.core.trace import Trace
from agenttrace.expectations.reading import cannot_tell, in_both_readings
from agenttrace.expectations.scalar_matchers import LOOKS_AHEAD
from agenttrace.process.bounded_search import SECONDS, bounded_search, checked_seconds, compiled
from agenttrace.scorers.answer_scorer import AnswerScorer


class RegexScorer(AnswerScorer):
    """1.0 where a regular expression is found in `actual_output`, else 0.0; with `full`, where it matches all
    of it.

    The pattern is `pattern`, or the example's `expected_output`, in Python's `re` syntax. A search may take
    `timeout` seconds of processor time, at most 60; a pattern that backtracks for longer gives no score.

    Raises:
        ScorerError: the pattern is not a regular expression, or the timeout is not a number from 0 to 60.
    """

    def __init__(
        self,
        pattern: str | None = None,
        threshold: float = 1.0,
        *,
        full: bool = False,
        ignore_case: bool = False,
        timeout: float = SECONDS,
        name: str = "Regex",
        gate: bool = True,
    ) -> None:
        super().__init__(name, threshold, gate)
        self.full = checked_flag(full, "full", name)
        self.timeout = checked_seconds(timeout, name)
        self.flags = re.IGNORECASE if checked_flag(ignore_case, "ignore_case", name) else re.NOFLAG
        self.pattern = None if pattern is None else self._compiled(pattern)

    @property
    def ignore_case(self) -> bool:
        """Whether upper and lower case are the same."""
        return bool(self.flags & re.IGNORECASE)

    @in_both_readings
    def score(self, example: Example, trace: Trace | None = None) -> Score:
        """Search for the pattern.

        Raises:
            ScorerError: a field is missing or is not text, or the search did not end in time.
        """
        pattern = self._expected(example)
        text = self._text(self._actual(example, trace))
        cause = cause_of(text)
        if cause is not None:  # only of the first piece is known how it begins
            text = known_pieces(text)[0]
        try:
            span = bounded_search(pattern, text, "fullmatch" if self.full else "search", self.timeout)
        except ScorerError as error:
            raise ScorerError(f"{self.name}: {error}") from None
        if cause is not None and (span is None or self.full or LOOKS_AHEAD.search(pattern.pattern)):
            details = {"pattern": pattern.pattern, "match": None}
            return self.scored(cannot_tell(cause), f"/{pattern.pattern}/ on a text that was {cause}", details)
        match = None if span is None else text[slice(*span)]
        matches = "does not match" if match is None else f"matches {shorten(repr(match), 80)}"
        details = {"pattern": pattern.pattern, "match": match}
        return self.scored(float(match is not None), f"/{pattern.pattern}/ {matches}", details)

    def _expected(self, example: Example) -> re.Pattern[str]:
        if self.pattern is not None:
            return self.pattern
        return self._compiled(self._text(super()._expected(example)))

    def _compiled(self, pattern: str) -> re.Pattern[str]:
        if pattern == "":
            raise ScorerError(f"{self.name}: an empty pattern is found in everything")
        try:
            return compiled(pattern, self.flags)
        except ValueError as error:
            raise ScorerError(f"{self.name}: {pattern!r} is no regular expression: {error}") from None
