"""Asking again for what an earlier process left pending."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from agenttrace.evaluation.online import OnlineEvaluator
from agenttrace.evaluation.request import Request


def resume(evaluator: OnlineEvaluator, scorers: Sequence[Any]) -> list[Any]:
    """Ask again for what an earlier process left pending, with scorers of the same names.

    What names a scorer that is not given stays pending.
    """
    by_name = {scorer.name: scorer for scorer in scorers}
    handles = []
    for saved in evaluator.store.pending_evaluations(evaluator.project):
        if not set(saved["scorers"]) <= by_name.keys():
            continue
        request = Request(
            [by_name[name] for name in saved["scorers"]],
            saved["example"],
            trace_key=None if saved["trace_id"] is None else int(saved["trace_id"], 16),
            span_key=None if saved["span_id"] is None else int(saved["span_id"], 16),
            model=saved["model"],
        )
        request.key, request.saved = saved["key"], True
        evaluator.submit(request)
        handles.append(request.handle)
    return handles
