"""Whether the run stayed within limits on calls, seconds, tokens or cost."""

from __future__ import annotations

from typing import Any, Literal, Unpack

from agenttrace.core.errors import ScorerError
from agenttrace.core.example import Example
from agenttrace.core.numbers import is_number
from agenttrace.core.score import Score
from agenttrace.core.trace import Trace
from agenttrace.expectations.reading import in_both_readings
from agenttrace.matching.selection import actual_calls
from agenttrace.matching.spending import Measure, Spent, spent_within
from agenttrace.scorers.call_scorer import CallOptions, CallScorer


class BudgetScorer(CallScorer):
    """The share of limits that were kept: tool `calls`, `seconds`, `tokens`, `cost` (US dollars) of the whole
    run.

    Seconds run from the first start to the last end. Tokens and cost are summed over the spans that
    report them; a parent that sums up its children is counted once. `agent`, `attempts`, `names` and `tools`
    say which calls are counted, and nothing else. A limit on something that the trace does not report is an
    error, not a pass; where only some of the calls to models report it, what they used may break the limit,
    and cannot keep it. A limit that is reached exactly is kept.
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
        limits: dict[Measure | Literal["calls"], float | None] = {
            "calls": calls, "seconds": seconds, "tokens": tokens, "cost": cost
        }  # fmt: skip
        self.limits: dict[Measure | Literal["calls"], float] = {
            word: limit for word, limit in limits.items() if limit is not None
        }
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
        details: dict[str, dict[str, Any]] = {}
        amounts = []
        for word, limit in self.limits.items():
            spent = self._spent(word, limit, run)
            details[word] = {"spent": spent.amount, "limit": limit, "held": spent.amount <= limit}
            if spent.untold:
                details[word]["untold"] = spent.untold
            amounts.append(f"{word} {spent.text(_number(spent.amount))} of {_number(limit)}")
        within = sum(row["held"] for row in details.values())
        reason = f"{within} of {len(details)} limits kept: {', '.join(amounts)}"
        empty_scope = self._empty_scope(run, self._chosen_calls(run)) if "calls" in details else ""
        vacuous = ["calls"] if empty_scope else []
        return self.scored(within / len(details), reason, details, vacuous=vacuous, empty_scope=empty_scope)

    def _spent(self, word: Measure | Literal["calls"], limit: float, run: Trace) -> Spent:
        if word == "calls":
            return Spent(len(self._chosen_calls(run)))
        return spent_within(run, word, limit, f"{self.name} limits {word}")


def _number(amount: float) -> str:
    return f"{int(amount):,}" if float(amount).is_integer() else f"{amount:,.6g}"
