"""`judged`: a comparison whose `semantic` matchers a judge decides.

The comparison itself stays synchronous and pure: one that leaves questions open is thrown away, the judge is
asked, and the same comparison is made again with the answers.
"""

from __future__ import annotations

import inspect
from collections.abc import Awaitable, Callable
from typing import Any

from agenttrace.core.errors import ScorerError
from agenttrace.core.value_key import value_key
from agenttrace.matching.comparison import Comparison

Ask = Callable[[str, Any], bool | Awaitable[bool]]
"""Whether a value means what a text says; ``def`` or ``async def``."""


class Answers:
    """The judge's answers so far, and the questions that are still open."""

    def __init__(self) -> None:
        self._verdicts: dict[tuple[str, str], bool] = {}
        self.open_questions: dict[tuple[str, str], tuple[str, Any]] = {}

    def answer(self, text: str, value: Any) -> bool:
        """The answer. Where there is none yet, the question is noted as open, and the answer is True."""
        key = (text, value_key(value))
        if key in self._verdicts:
            return self._verdicts[key]
        self.open_questions[key] = (text, value)
        return True

    async def ask_open(self, ask: Ask) -> None:
        """Ask the open questions.

        Raises:
            ScorerError: the judge's answer is not a bool.
        """
        for key, (text, value) in self.open_questions.items():
            reply = ask(text, value)
            verdict = await reply if inspect.isawaitable(reply) else reply
            if not isinstance(verdict, bool):
                raise ScorerError(f"semantic({text!r}): the judge answers true or false, got {verdict!r}")
            self._verdicts[key] = verdict
        self.open_questions = {}


async def judged(comparing: Callable[[Answers], Comparison], ask: Ask) -> Comparison:
    """Make a comparison whose `semantic` matchers are decided by a judge.

    ``await judged(lambda answers: compare(expected, trace, answers=answers), ask)``. Each text is asked once
    for each value that it meets.
    """
    answers = Answers()
    while True:
        comparison = comparing(answers)
        _ = comparison.rows  # computing the differences may open questions that the alignment did not
        if not answers.open_questions:
            return comparison
        await answers.ask_open(ask)
