"""Asking again for what an earlier process left pending."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from agenttrace.core.errors import ExpectationError
from agenttrace.expectations.matchers import read_value
from agenttrace.online.alerts import Alert
from agenttrace.online.evaluator import OnlineEvaluator
from agenttrace.online.handle import EvaluationHandle
from agenttrace.online.lifecycle import open_owners
from agenttrace.online.request import make_request
from agenttrace.process.owner import at_work
from agenttrace.scoring.checks import checked_scorers


def resume(
    evaluator: OnlineEvaluator, scorers: Sequence[Any], alerts: Sequence[Alert] = ()
) -> list[EvaluationHandle]:
    """Ask again for what an earlier process left pending, with scorers of the same names.

    What names a scorer that is not given stays pending, and so does what a living process is at work on, and
    what finds no room. What no file can hold (a predicate, an object) is errored, and no longer pending.
    """
    by_name = {scorer.name: scorer for scorer in checked_scorers(scorers)}
    owner, open_here = evaluator.owner, open_owners()
    handles = []
    for saved in evaluator.store.pending_evaluations(evaluator.project):
        if not set(saved["scorers"]) <= by_name.keys() or at_work(saved, open_here):
            continue
        if not evaluator.has_room():
            break
        key = saved["key"]
        if not evaluator.store.claim_pending_evaluations([key], owner, held_by=saved.get("owner")):
            continue  # another process was quicker
        of_names = [by_name[name] for name in saved["scorers"]]
        handles.append(_asked_again(evaluator, saved, of_names, alerts))
    return handles


def _asked_again(
    evaluator: OnlineEvaluator, saved: Mapping[str, Any], scorers: Sequence[Any], alerts: Sequence[Alert]
) -> EvaluationHandle:
    example, why = dict(saved["example"]), saved.get("unfinishable")
    try:
        example["expected_output"] = read_value(example.get("expected_output"))
    except ExpectationError as error:
        why = str(error)
    if why is not None:
        evaluator.store.drop_pending_evaluations([saved["key"]])
        reason = f"the evaluation cannot be finished from what the store kept of it: {why}"
        return EvaluationHandle.undone("scored", scorers, reason)
    request = make_request(
        scorers,
        example,
        trace_key=None if saved["trace_id"] is None else int(saved["trace_id"], 16),
        span_key=None if saved["span_id"] is None else int(saved["span_id"], 16),
        model=saved["model"],
        timeout=saved.get("timeout"),
        alerts=alerts,
    )
    request.key, request.saved = saved["key"], True
    return evaluator.submit(request)
