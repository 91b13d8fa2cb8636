"""Whether the agent repeated a call that it had already made."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Unpack

from agenttrace.core.errors import ScorerError
from agenttrace.core.example import Example
from agenttrace.core.numbers import is_whole
from agenttrace.core.score import Score
from agenttrace.core.tool_call import ToolCall
from agenttrace.core.trace import Trace
from agenttrace.expectations.reading import has_failed, in_both_readings
from agenttrace.matching.repeats import Repeats
from agenttrace.matching.selection import actual_calls
from agenttrace.scorers.call_scorer import CallOptions, CallScorer


class LoopScorer(CallScorer):
    """The share of calls that are not redundant; 1.0 where nothing was called.

    A call is redundant where the same tool was called with the same arguments `repeats` times before (once,
    by default). A retry after a failed attempt is not redundant: the failed attempt does not count.
    Arguments that could not be read are the same where their text is.
    """

    def __init__(
        self, threshold: float = 1.0, repeats: int = 1, *, name: str = "Loop", **options: Unpack[CallOptions]
    ) -> None:
        super().__init__(name, threshold, options)
        if not is_whole(repeats, 1):
            raise ScorerError(f"{name}: repeats is a whole number from 1, got {repeats!r}")
        self.repeats = repeats

    @in_both_readings
    def score(self, example: Example, trace: Trace | None = None) -> Score:
        """Count the redundant calls.

        Raises:
            ScorerError: nothing says what was called.
        """
        run = actual_calls(example, trace)
        calls = self._chosen_calls(run)
        unsure = _repeated_later(calls)
        earlier = Repeats()
        redundant = []
        for call in calls:
            if earlier.count(call) >= self.repeats:
                redundant.append(call)
            if not (has_failed(call) if call.index in unsure else call.failed):
                earlier.add(call)
        value = 1 - len(redundant) / len(calls) if calls else 1.0
        reason = f"{len(redundant)} of {len(calls)} calls redundant"
        if redundant:
            reason += f": {', '.join(call.label for call in redundant[:10])}"
        details = {"calls": len(calls), "redundant": [call.index for call in redundant]}
        empty_scope = self._empty_scope(run, calls)
        vacuous = ["no redundant calls"] if empty_scope else []
        return self.scored(value, reason, details, vacuous=vacuous, empty_scope=empty_scope)


def _repeated_later(calls: Sequence[ToolCall]) -> set[int]:
    """The calls of which it matters whether they failed, and that is not recorded: they are made again."""
    repeated: set[int] = set()
    if any(call.failed is None for call in calls):
        later = Repeats()
        for call in reversed(calls):
            if call.failed is None and later.count(call):
                repeated.add(call.index)
            later.add(call)
    return repeated
