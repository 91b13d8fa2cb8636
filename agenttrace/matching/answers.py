"""The judge behind `semantic`: questions are collected, asked outside the engine, and answered in a new pass.

The engine stays synchronous and pure: a comparison with open questions is thrown away, the questions are
asked, and the same comparison is made again with the answers.
"""

from __future__ import annotations

import inspect
from collections.abc import Awaitable, Callable
from typing import Any

from agenttrace.core.errors import ScorerError
from agenttrace.expectations.values import value_key
from agenttrace.matching.comparison import Comparison

Ask = Callable[[str, Any], bool | Awaitable[bool]]
"""Whether a value means what a text says; ``def`` or ``async def``."""


class Answers:
    """The answers given so far, and the questions that came up without one."""

    def __init__(self) -> None:
        self._given: dict[tuple[str, str], bool] = {}
        self.open: dict[tuple[str, str], tuple[str, Any]] = {}

    def answer(self, text: str, value: Any) -> bool:
        """The answer; where there is none yet, the question is noted, and yes stands in for it."""
        key = (text, value_key(value))
        if key in self._given:
            return self._given[key]
        self.open[key] = (text, value)
        return True

    async def ask_open(self, ask: Ask) -> None:
        """Ask what is open.

        Raises:
            ScorerError: the judge's answer is not a bool.
        """
        for key, (text, value) in self.open.items():
            reply = ask(text, value)
            verdict = await reply if inspect.isawaitable(reply) else reply
            if not isinstance(verdict, bool):
                raise ScorerError(f"semantic({text!r}): the judge answers true or false, got {verdict!r}")
            self._given[key] = verdict
        self.open = {}


async def judged(comparing: Callable[[Answers], Comparison], ask: Ask) -> Comparison:
    """Make a comparison whose `semantic` matchers are decided by a judge.

    ``await judged(lambda answers: compare(expected, trace, answers=answers), ask)``. Each text is asked once
    for each value that it meets.
    """
    answers = Answers()
    while True:
        comparison = comparing(answers)
        _ = comparison.rows  # the differences may ask what the alignment did not
        if not answers.open:
            return comparison
        await answers.ask_open(ask)
