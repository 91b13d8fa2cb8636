"""Resumes evaluations that an earlier process left pending in the store."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from agenttrace.core.errors import ExpectationError
from agenttrace.expectations.matcher import read_value
from agenttrace.online.alerts import Alert
from agenttrace.online.evaluator import OnlineEvaluator, open_owners
from agenttrace.online.handle import EvaluationHandle
from agenttrace.online.request import at_work, make_request
from agenttrace.scoring.checks import checked_scorers


def resume(
    evaluator: OnlineEvaluator, scorers: Sequence[Any], alerts: Sequence[Alert] = ()
) -> list[EvaluationHandle]:
    """Ask again for what an earlier process left pending, with scorers of the same names.

    An evaluation stays pending where one of its scorers is missing from `scorers`, where a living process is
    at work on it, or where the queue is full. One with a value that no file can hold (a predicate, an object)
    gets errored scores, and is no longer pending.
    """
    by_name = {scorer.name: scorer for scorer in checked_scorers(scorers)}
    owner, open_here = evaluator.owner, open_owners()
    handles = []
    for row in evaluator.store.pending_evaluations(evaluator.project):
        if not set(row["scorers"]) <= by_name.keys() or at_work(row, open_here):
            continue
        if not evaluator.has_room():
            break
        key = row["key"]
        if not evaluator.store.claim_pending_evaluations([key], owner, held_by=row.get("owner")):
            continue  # another process was quicker
        its_scorers = [by_name[name] for name in row["scorers"]]
        handles.append(_ask_again(evaluator, row, its_scorers, alerts))
    return handles


def _ask_again(
    evaluator: OnlineEvaluator, row: Mapping[str, Any], scorers: Sequence[Any], alerts: Sequence[Alert]
) -> EvaluationHandle:
    example, why = dict(row["example"]), row.get("unfinishable")
    try:
        example["expected_output"] = read_value(example.get("expected_output"))
    except ExpectationError as error:
        why = str(error)
    if why is not None:
        evaluator.store.drop_pending_evaluations([row["key"]])
        reason = f"the evaluation cannot be finished from what the store kept of it: {why}"
        return EvaluationHandle.undone("scored", scorers, reason)
    request = make_request(
        scorers,
        example,
        trace_key=None if row["trace_id"] is None else int(row["trace_id"], 16),
        span_key=None if row["span_id"] is None else int(row["span_id"], 16),
        model=row["model"],
        timeout=row.get("timeout"),
        alerts=alerts,
    )
    request.key, request.saved = row["key"], True
    return evaluator.submit(request)
