"""Resumes evaluations that an earlier process left pending in the store."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from agenttrace.core.errors import ExpectationError, error_text
from agenttrace.core.numbers import is_number
from agenttrace.expectations.matcher import read_value
from agenttrace.online.alerts import Alert
from agenttrace.online.evaluator import OnlineEvaluator, open_owners
from agenttrace.online.handle import EvaluationHandle
from agenttrace.online.request import at_work, make_request
from agenttrace.process.said_once import SaidOnce
from agenttrace.scoring.checks import checked_scorers


def resume(
    evaluator: OnlineEvaluator, scorers: Sequence[Any], alerts: Sequence[Alert] = ()
) -> list[EvaluationHandle]:
    """Ask again for what an earlier process left pending, with scorers of the same names.

    An evaluation stays pending where one of its scorers is missing from `scorers`, where a living process is
    at work on it, or where the queue is full. One with a value that no file can hold (a predicate, an
    object), or that cannot be read, gets errored scores, and is no longer pending. What does not even name
    its scorers is passed over, and logged: it harms no other.
    """
    by_name = {scorer.name: scorer for scorer in checked_scorers(scorers)}
    owner, open_here = evaluator.owner, open_owners()
    handles = []
    for row in evaluator.store.pending_evaluations(evaluator.project):
        if not _names_scorers(row):
            _warnings.warn("unreadable", "a pending evaluation in the store cannot be read; it stays there")
            continue
        if not set(row["scorers"]) <= by_name.keys() or at_work(row, open_here):
            continue
        if not evaluator.has_room():
            break
        if not evaluator.store.claim_pending_evaluations([row["key"]], owner, held_by=row.get("owner")):
            continue  # another process was quicker
        its_scorers = [by_name[name] for name in row["scorers"]]
        handles.append(_ask_again(evaluator, row, its_scorers, alerts))
    return handles


_warnings = SaidOnce()


def _names_scorers(row: Any) -> bool:
    """Whether a row of the store says which evaluation it is, whose, and by which scorers."""
    if not isinstance(row, Mapping) or not isinstance(row.get("key"), str):
        return False
    names = row.get("scorers")
    return (
        isinstance(row.get("owner"), str | None)
        and isinstance(names, list)
        and bool(names)
        and all(isinstance(name, str) for name in names)
    )


def _ask_again(
    evaluator: OnlineEvaluator, row: Mapping[str, Any], scorers: Sequence[Any], alerts: Sequence[Alert]
) -> EvaluationHandle:
    why = row.get("unfinishable")
    try:
        if why is None:
            request = make_request(scorers, alerts=alerts, **_request_fields(row))
            request.key, request.saved = row["key"], True
            return evaluator.submit(request)
    except (ExpectationError, TypeError, ValueError) as error:
        why = error_text(error)
    evaluator.store.drop_pending_evaluations([row["key"]])
    reason = f"the evaluation cannot be finished from what the store kept of it: {why}"
    return EvaluationHandle.undone("scored", scorers, reason)


def _request_fields(row: Mapping[str, Any]) -> dict[str, Any]:
    """What the store kept of an evaluation, as `make_request` takes it.

    Raises:
        TypeError, ValueError: something of it is no value of its kind.
        ExpectationError: what is expected cannot be read.
    """
    example, timeout, model = row.get("example"), row.get("timeout"), row.get("model")
    if not isinstance(example, Mapping):
        raise TypeError("it has no example")
    if not (timeout is None or (is_number(timeout) and timeout > 0)):
        raise TypeError("its timeout is no number of seconds")
    if not (model is None or isinstance(model, str)):
        raise TypeError("its model is no name")
    return {
        "fields": {**example, "expected_output": read_value(example.get("expected_output"))},
        "trace_key": _key(row.get("trace_id"), 32),
        "span_key": _key(row.get("span_id"), 16),
        "model": model,
        "timeout": timeout,
    }


def _key(text: Any, digits: int) -> int | None:
    if text is None:
        return None
    if not (isinstance(text, str) and len(text) == digits):
        raise ValueError(f"an id has {digits} hex digits")
    return int(text, 16)
