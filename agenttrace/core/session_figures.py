"""What the traces of one session come to."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from agenttrace.core.trace_facts import TraceFacts, verdict_of


@dataclass(frozen=True)
class SessionFigures:
    """A conversation: its traces from the first start to the last end."""

    session: str
    traces: int
    start_ns: int
    end_ns: int
    customer: str | None
    cost: float | None
    tokens: float | None
    verdict: str | None


def session_figures(session: str, traces: Sequence[TraceFacts]) -> SessionFigures:
    """The figures of a session from its traces."""
    verdict = verdict_of([facts.verdict for facts in traces if facts.verdict is not None])
    return SessionFigures(
        session=session,
        traces=len(traces),
        start_ns=min(facts.start_ns for facts in traces),
        end_ns=max(facts.start_ns + facts.duration_ns for facts in traces),
        customer=next((c for facts in traces if (c := facts.label("customer")) is not None), None),
        cost=_sum(facts.cost for facts in traces),
        tokens=_sum(facts.tokens for facts in traces),
        verdict=None if verdict == "none" else verdict,
    )


def _sum(amounts: Iterable[float | None]) -> float | None:
    known = [amount for amount in amounts if amount is not None]
    return math.fsum(known) if known else None
