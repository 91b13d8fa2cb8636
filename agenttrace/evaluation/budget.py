"""`Budget`: the money, tokens or time that an evaluation may spend, read from a text such as ``2 usd``."""

from __future__ import annotations

import re
import threading
import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from agenttrace.core.errors import ConfigError, did_you_mean
from agenttrace.core.score import Score
from agenttrace.core.trace import Trace
from agenttrace.matching.spending import spent_cost, spent_tokens, tokens_of, unpriced_spans

_UNITS = {
    **dict.fromkeys(("usd", "dollar", "dollars", "cent", "cents"), "usd"),
    **dict.fromkeys(("token", "tokens"), "tokens"),
    **dict.fromkeys(("second", "seconds", "minute", "minutes", "hour", "hours"), "seconds"),
}
_FACTORS = {"cent": 0.01, "cents": 0.01, "minute": 60, "minutes": 60, "hour": 3600, "hours": 3600}


_BETWEEN = re.compile(r"(?<!\d),|,(?!\d{3}(?!\d))")
"""A comma between two limits: any but one among the digits of a number, as in 50,000."""


@dataclass(frozen=True, slots=True)
class Limit:
    """One part of a budget: an `amount` of ``usd``, ``tokens`` or ``seconds``, and how it was written."""

    kind: str
    amount: float
    text: str


@dataclass(frozen=True, slots=True)
class Budget:
    """What an evaluation may spend; it ends with the first limit that is reached."""

    limits: tuple[Limit, ...]

    @classmethod
    def parse(cls, text: str) -> Budget:
        """Read ``"2 usd"``, ``"50000 tokens"``, ``"10 minutes"``, or several with a comma between them.

        Units: usd, cents; tokens; seconds, minutes, hours.

        Raises:
            ConfigError: the text cannot be read so, an amount is not above 0, or a kind stands twice.
        """
        if not isinstance(text, str):
            raise ConfigError(f"budget is a text such as '2 usd' or '2 usd, 10 minutes', got {text!r}")
        limits = tuple(_limit(part.strip(), text) for part in re.split(_BETWEEN, text))
        kinds = [limit.kind for limit in limits]
        if len(set(kinds)) < len(kinds):
            raise ConfigError(f"budget has two limits of one kind, got {text!r}; give each once")
        return cls(limits)


def _limit(part: str, text: str) -> Limit:
    match = re.fullmatch(r"\$?\s*(\d[\d_,]*(?:\.\d+)?|\.\d+)\s*([A-Za-z]*)", part)
    if match is None:
        raise ConfigError(f"budget is a text such as '2 usd', '50000 tokens' or '10 minutes', got {text!r}")
    unit = match[2].lower() or ("usd" if part.startswith("$") else "")
    if unit not in _UNITS:
        hint = did_you_mean(unit, _UNITS) if unit else "; write a unit: usd, tokens or minutes"
        raise ConfigError(f"budget has no unit {unit!r}{hint}, got {text!r}")
    if part.startswith("$") and _UNITS[unit] != "usd":
        raise ConfigError(f"budget has dollars and {unit} in one limit, got {text!r}")
    amount = float(match[1].replace(",", "").replace("_", "")) * _FACTORS.get(unit, 1)
    if amount <= 0:
        raise ConfigError(f"budget is an amount above 0, got {text!r}")
    return Limit(_UNITS[unit], amount, part)


class Spending:
    """What an evaluation has spent of its budget so far. Any thread may add to it."""

    def __init__(self, budget: Budget) -> None:
        self._budget = budget
        self._began = time.monotonic()
        self._lock = threading.Lock()
        self.usd = 0.0
        self.tokens = 0.0
        self.unpriced = 0

    def add_run(self, trace: Trace | None) -> None:
        """Add what one run of the agent recorded: tokens and costs of its spans."""
        if trace is None or trace.is_recorded_run:
            return
        self._add(spent_cost(trace), spent_tokens(trace), unpriced_spans(trace))

    def add_score(self, score: Score) -> None:
        """Add what one judge spent."""
        if score.cost is not None or score.usage:
            usage: Mapping[str, Any] = score.usage or {}
            self._add(score.cost, tokens_of(usage), int(score.cost is None))

    def _add(self, usd: float | None, tokens: float | None, unpriced: int) -> None:
        with self._lock:
            self.usd += usd or 0.0
            self.tokens += tokens or 0.0
            self.unpriced += unpriced

    def why_spent(self, results: int) -> str | None:
        """Which limit is reached, after how many results; None where there is something left."""
        for limit in self._budget.limits:
            amount = self._amount(limit.kind)
            if amount >= limit.amount:
                return f"the budget of {limit.text} is spent ({in_words(limit.kind, amount)} after {results})"
        return None

    def _amount(self, kind: str) -> float:
        if kind == "seconds":
            return time.monotonic() - self._began
        return self.usd if kind == "usd" else self.tokens

    def about(self) -> dict[str, Any]:
        """What was spent, for a report's metadata; and of how many answers no price is known."""
        spent = ", ".join(in_words(limit.kind, self._amount(limit.kind)) for limit in self._budget.limits)
        about = {"budget": ", ".join(limit.text for limit in self._budget.limits), "spent": spent}
        if self.unpriced and any(limit.kind == "usd" for limit in self._budget.limits):
            answers = "1 answer" if self.unpriced == 1 else f"{self.unpriced} answers"
            about["unpriced"] = (
                f"no price is known for {answers} of models, so the money spent is more than is said; "
                "set_price(model, input=…, output=…) says it"
            )
        return about


def in_words(kind: str, amount: float) -> str:
    """An amount with its unit: ``2.03 usd``, ``51,200 tokens``, ``10.2 minutes``."""
    if kind == "usd":
        return f"{amount:.2f} usd" if amount >= 0.1 else f"{amount:.3g} usd"
    if kind == "tokens":
        return f"{amount:,.0f} tokens"
    return f"{amount / 60:.3g} minutes" if amount >= 120 else f"{amount:.3g} seconds"


def all_in_words(amounts: Iterable[tuple[str, float]]) -> str:
    """Several amounts, those of 0 left out."""
    return ", ".join(in_words(kind, amount) for kind, amount in amounts if amount)
