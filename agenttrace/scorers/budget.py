"""Whether the run kept within its means."""

from __future__ import annotations

from typing import Unpack

from agenttrace.core.errors import ScorerError
from agenttrace.core.example import Example
from agenttrace.core.score import Score
from agenttrace.core.trace import Trace
from agenttrace.matching.selection import actual_calls
from agenttrace.matching.spending import spent_cost, spent_seconds, spent_tokens
from agenttrace.scorers.call_options import CallOptions, selection_of, shown_aliases
from agenttrace.scorers.threshold import checked_threshold


class BudgetScorer:
    """The share of limits that were kept: tool `calls`, `seconds`, `tokens`, `cost` (US dollars) of the whole
    run.

    Seconds run from the first start to the last end. Tokens and cost are summed over the spans that tell
    them, a parent that sums up its children counted once. `agent`, `attempts`, `names` and `tools` say which
    calls are counted, and nothing else. A limit on what the trace does not tell is an error, not a pass. A
    budget that is used up to the last is kept.
    """

    def __init__(
        self,
        *,
        calls: int | None = None,
        seconds: float | None = None,
        tokens: int | None = None,
        cost: float | None = None,
        threshold: float = 1.0,
        name: str = "Budget",
        **options: Unpack[CallOptions],
    ) -> None:
        self.name = name
        self.threshold = checked_threshold(threshold, name)
        limits = {"calls": calls, "seconds": seconds, "tokens": tokens, "cost": cost}
        self.limits = {word: limit for word, limit in limits.items() if limit is not None}
        if not self.limits:
            raise ScorerError(f"{name} needs a limit: calls, seconds, tokens or cost")
        for word, limit in self.limits.items():
            if isinstance(limit, bool) or not isinstance(limit, int | float) or not limit >= 0:
                raise ScorerError(f"{name}: {word} is a number from 0, got {limit!r}")
        self.selection = selection_of(self, options)

    def score(self, example: Example, trace: Trace | None = None) -> Score:
        """Add up.

        Raises:
            ScorerError: the trace does not tell what is limited, or there is none.
        """
        found = actual_calls(example, trace)
        details = {}
        for word, limit in self.limits.items():
            spent = self._spent(word, found)
            if spent is None:
                raise ScorerError(f"{self.name} limits {word}, and the trace does not tell them")
            details[word] = {"spent": spent, "limit": limit, "held": spent <= limit}
        held = sum(bool(row["held"]) for row in details.values())
        said = ", ".join(
            f"{word} {_number(row['spent'])} of {_number(row['limit'])}" for word, row in details.items()
        )
        return Score.of(
            self.name,
            held / len(details),
            self.threshold,
            reason=f"{held} of {len(details)} limits kept: {said}",
            details=details,
            metadata=shown_aliases(self.selection),
        )

    def _spent(self, word: str, trace: Trace) -> float | None:
        if word == "calls":
            calls, _ = self.selection.counted(self.selection.calls(trace.tool_calls))
            return len(calls)
        return {"seconds": spent_seconds, "tokens": spent_tokens, "cost": spent_cost}[word](trace)


def _number(amount: float) -> str:
    return f"{int(amount):,}" if float(amount).is_integer() else f"{amount:,.6g}"
