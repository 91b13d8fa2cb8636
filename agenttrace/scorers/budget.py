"""Whether the run stayed within limits on calls, seconds, tokens or cost."""

from __future__ import annotations

from typing import Unpack

from agenttrace.core.errors import ScorerError
from agenttrace.core.example import Example
from agenttrace.core.numbers import is_number
from agenttrace.core.score import Score
from agenttrace.core.trace import Trace
from agenttrace.expectations.reading import in_both_readings
from agenttrace.matching.selection import actual_calls
from agenttrace.matching.spending import spent_cost, spent_seconds, spent_tokens
from agenttrace.scorers.call_scorer import CallOptions, CallScorer


class BudgetScorer(CallScorer):
    """The share of limits that were kept: tool `calls`, `seconds`, `tokens`, `cost` (US dollars) of the whole
    run.

    Seconds run from the first start to the last end. Tokens and cost are summed over the spans that
    report them; a parent that sums up its children is counted once. `agent`, `attempts`, `names` and `tools`
    say which calls are counted, and nothing else. A limit on something that the trace does not report is an
    error, not a pass. A limit that is reached exactly is kept.
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
        super().__init__(name, threshold, options)
        self.calls, self.seconds, self.tokens, self.cost = calls, seconds, tokens, cost
        limits = {"calls": calls, "seconds": seconds, "tokens": tokens, "cost": cost}
        self.limits = {word: limit for word, limit in limits.items() if limit is not None}
        if not self.limits:
            raise ScorerError(f"{name} needs a limit: calls, seconds, tokens or cost")
        for word, limit in self.limits.items():
            if not (is_number(limit) and limit >= 0):
                raise ScorerError(f"{name}: {word} is a number from 0, got {limit!r}")

    @in_both_readings
    def score(self, example: Example, trace: Trace | None = None) -> Score:
        """Compare what the run used with each limit.

        Raises:
            ScorerError: the trace does not report what is limited, or there is no trace.
        """
        run = actual_calls(example, trace)
        details = {}
        for word, limit in self.limits.items():
            amount = self._amount(word, run)
            if amount is None:
                raise ScorerError(f"{self.name} limits {word}, and the trace does not tell them")
            details[word] = {"spent": amount, "limit": limit, "held": amount <= limit}
        within = sum(bool(row["held"]) for row in details.values())
        amounts = ", ".join(
            f"{word} {_number(row['spent'])} of {_number(row['limit'])}" for word, row in details.items()
        )
        reason = f"{within} of {len(details)} limits kept: {amounts}"
        return self.scored(within / len(details), reason, details)

    def _amount(self, word: str, run: Trace) -> float | None:
        if word == "calls":
            return len(self._chosen_calls(run))
        return {"seconds": spent_seconds, "tokens": spent_tokens, "cost": spent_cost}[word](run)


def _number(amount: float) -> str:
    return f"{int(amount):,}" if float(amount).is_integer() else f"{amount:,.6g}"
