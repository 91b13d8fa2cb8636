"""Whether the answer contains the texts that it should."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Literal

from agenttrace.core.errors import ScorerError
from agenttrace.core.example import Example
from agenttrace.core.marks import Cause, cause_of, known_pieces
from agenttrace.core.score import Score, checked_flag
from agenttrace.core.text import shorten
from agenttrace.core.trace import Trace
from agenttrace.expectations.reading import cannot_tell, in_both_readings
from agenttrace.scorers.answer_scorer import AnswerScorer


class ContainsScorer(AnswerScorer):
    """The share of texts that `actual_output` contains; with ``mode="any"``, 1.0 where it contains one of
    them.

    The texts are `texts`, or the example's `expected_output` (a text or a list of texts). Where
    `actual_output` is a list, its items are searched as lines. `ignore_case` compares in lower case.
    """

    def __init__(
        self,
        texts: str | Sequence[str] | None = None,
        threshold: float = 1.0,
        *,
        mode: Literal["all", "any"] = "all",
        ignore_case: bool = False,
        name: str = "Contains",
        gate: bool = True,
    ) -> None:
        super().__init__(name, threshold, gate)
        if mode not in ("all", "any"):
            raise ScorerError(f"{name}: mode is 'all' or 'any', got {mode!r}")
        self.texts = texts
        self.mode = mode
        self.ignore_case = checked_flag(ignore_case, "ignore_case", name)

    @in_both_readings
    def score(self, example: Example, trace: Trace | None = None) -> Score:
        """Count the texts that the answer contains.

        Raises:
            ScorerError: a field is missing, or is not text.
        """
        texts = self._expected(example)
        answer = self._actual(example, trace)
        lines = answer if isinstance(answer, list | tuple) else [answer]
        pieces, cause = _known_pieces(map(self._text, lines))
        missing = [item for item in texts if not self._is_in(item, list(map(self._plain, pieces)), cause)]
        count = len(texts) - len(missing)
        value = float(count > 0) if self.mode == "any" else count / len(texts)
        reason = f"{count} of {len(texts)} texts found ({self.mode} wanted)"
        if missing:
            reason += "; missing: " + ", ".join(f"{shorten(repr(item), 60)}" for item in missing[:10])
        return self.scored(value, reason, {"missing": missing})

    def _expected(self, example: Example) -> list[str]:
        raw = self.texts if self.texts is not None else super()._expected(example)
        texts = [self._text(item) for item in (raw if isinstance(raw, list | tuple) else [raw])]
        if not texts:
            raise ScorerError(f"{self.name}: there is no text to look for, got {raw!r}")
        if not all(texts):
            raise ScorerError(f"{self.name}: an empty text is contained in everything, got {raw!r}")
        return texts

    def _is_in(self, item: str, pieces: list[str], cause: Cause | None) -> bool:
        """Whether the answer contains a text, which may not be known whole either."""
        cause = cause_of(item) or (cause if all(self._plain(item) not in piece for piece in pieces) else None)
        if cause is not None:
            return cannot_tell(cause) == 1.0
        return any(self._plain(item) in piece for piece in pieces)

    def _plain(self, text: str) -> str:
        return text.casefold() if self.ignore_case else text


def _known_pieces(lines: Iterable[str]) -> tuple[list[str], Cause | None]:
    """What is known of the text that these lines make, in pieces, and why it is not known whole."""
    pieces, cause = [""], None
    for number, line in enumerate(lines):
        first, *others = known_pieces(line)
        pieces[-1] += f"\n{first}" if number else first
        pieces += others
        cause = cause or cause_of(line)
    return pieces, cause
