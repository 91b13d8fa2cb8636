"""Whether the answer matches a pattern."""

from __future__ import annotations

import re

from agenttrace.core.errors import ScorerError
from agenttrace.core.example import Example
from agenttrace.core.score import Score
from agenttrace.core.trace import Trace
from agenttrace.scorers.answer import actual_answer, as_text, expected_answer
from agenttrace.scorers.threshold import checked_threshold

SEARCHED = 100_000
"""Characters that are searched. `re` holds the interpreter's lock, so that no deadline ends a search: every
thread of the process waits for it."""


class RegexScorer:
    """1.0 where a regular expression is found in `actual_output`, else 0.0; with `full`, where it matches all
    of it.

    The pattern is `pattern`, or the example's `expected_output`, in Python's `re` syntax. The first 100,000
    characters are searched; where they hold no match and the text goes on, the scorer cannot tell. A search
    stops every thread of the process while it lasts: write patterns that cannot backtrack for ever.

    Raises:
        ScorerError: a pattern that is none.
    """

    def __init__(
        self,
        pattern: str | None = None,
        threshold: float = 1.0,
        *,
        full: bool = False,
        ignore_case: bool = False,
        name: str = "Regex",
    ) -> None:
        self.name = name
        self.threshold = checked_threshold(threshold, name)
        self.full = full
        self.flags = re.IGNORECASE if ignore_case else re.NOFLAG
        self.pattern = None if pattern is None else self._compiled(pattern)

    def check(self, example: Example) -> None:
        """Raise ScorerError where there is no pattern."""
        self._pattern(example)

    def score(self, example: Example, trace: Trace | None = None) -> Score:
        """Search.

        Raises:
            ScorerError: a field is missing, or is no text, or no match is found in a text that is longer than
                what is searched.
        """
        pattern = self._pattern(example)
        text = as_text(self.name, actual_answer(self.name, example, trace))
        match = (pattern.fullmatch if self.full else pattern.search)(text, 0, SEARCHED)
        # A match that ends at the cut may owe that to the cut.
        if len(text) > SEARCHED and (match is None or match.end() == SEARCHED):
            raise ScorerError(
                f"{self.name}: no match in the first {SEARCHED:,} of {len(text):,} characters; the rest is "
                "not searched: give a shorter actual_output, or use ContainsScorer"
            )
        reason = (
            f"/{pattern.pattern}/ matches {match[0]!r:.80}"
            if match
            else f"/{pattern.pattern}/ does not match"
        )
        details = {"pattern": pattern.pattern, "match": match[0] if match else None}
        return Score.of(self.name, float(match is not None), self.threshold, reason=reason, details=details)

    def _pattern(self, example: Example) -> re.Pattern[str]:
        if self.pattern is not None:
            return self.pattern
        return self._compiled(as_text(self.name, expected_answer(self.name, example)))

    def _compiled(self, pattern: str) -> re.Pattern[str]:
        try:
            return re.compile(pattern, self.flags)
        except (re.error, TypeError) as error:
            raise ScorerError(f"{self.name}: {pattern!r} is no regular expression: {error}") from None
