"""What an evaluation will about spend, from the last stored run of the same project and name."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from agenttrace.core.numbers import is_number
from agenttrace.core.protocols import Store
from agenttrace.core.summary import RunSummary
from agenttrace.evaluation.budget import all_in_words
from agenttrace.matching.spending import spent_cost, spent_tokens

READ_AT_MOST = 200
"""Results of the last run whose traces are read; more would take longer than an estimate is worth."""


def estimate_of(store: Store | None, *, project: str, name: str | None, examples: int) -> str | None:
    """Return a line with what so many examples cost, judged by the last run; None where there is none.

    The last run is that of the project, with the name where one is given, that was not interrupted.
    Money and tokens are those of its traces and scores, time is its duration: for as many trials an
    example as it made. A store that cannot be read gives no estimate.
    """
    if store is None:
        return None
    try:
        return _estimate(store, project, name, examples)
    except Exception:  # choke-point: an estimate is not worth an evaluation
        return None


def _estimate(store: Store, project: str, name: str | None, examples: int) -> str | None:
    last = next(filter(lambda run: _is_like(run, name), store.runs(project=project)), None)
    data = None if last is None else store.run(last.run_id)
    results = [result for result in (data or {}).get("results", ()) if result["outcome"] != "not_run"]
    if last is None or not results:
        return None
    read = results[:READ_AT_MOST]
    usd, tokens = (sum(amounts) for amounts in zip(*(_spent(store, result) for result in read), strict=True))
    share = examples / len({result["position"] for result in results})
    more = share * len(results) / len(read)
    about = all_in_words([("usd", usd * more), ("tokens", tokens * more), ("seconds", last.duration * share)])
    return f"about {about}: the last run, {last.name}, had {len(results)} results" if about else None


def _is_like(run: RunSummary, name: str | None) -> bool:
    return (name is None or run.name == name) and not run.metadata.get("interrupted")


def _spent(store: Store, result: Mapping[str, Any]) -> tuple[float, float]:
    """Money and tokens of one stored result: of its agent and its judges."""
    trace = store.trace(result["trace_id"]) if result.get("trace_id") else None
    usd = 0.0 if trace is None else spent_cost(trace) or 0.0
    tokens = 0.0 if trace is None else spent_tokens(trace) or 0.0
    usd += sum(score["cost"] for score in result["scores"] if is_number(score.get("cost")))
    return usd, tokens
