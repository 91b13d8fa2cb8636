"""Evaluations that are not done are kept in the store, for a later process."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from typing import Any

from agenttrace.core.interruptions import pass_on_interruption
from agenttrace.core.protocols import Store
from agenttrace.online.request import Request

log = logging.getLogger("agenttrace")


def keep_pending(
    requests: Sequence[Request], store: Store, project: str, owner: str | None
) -> BaseException | None:
    """Keep them at once; where that fails, each alone, so that a bad one costs no other its place.

    Each that is kept says so from then on. Returns what stood in the way of the others, or None.
    """
    rows: list[tuple[Request, dict[str, Any]]] = []
    failure: BaseException | None = None
    for request in requests:
        try:
            rows.append((request, request.to_data(owner)))
        except BaseException as error:  # choke-point: an example that cannot be made; scoring it will say why
            pass_on_interruption(error)
            failure = error
    if rows and _keep(rows, store, project) is not None:
        for row in rows:
            failure = _keep([row], store, project) or failure
    return failure


def _keep(rows: Sequence[tuple[Request, dict[str, Any]]], store: Store, project: str) -> BaseException | None:
    try:
        store.save_pending_evaluations(project, [data for _, data in rows])
    except BaseException as error:  # choke-point: a store that refuses them
        pass_on_interruption(error)
        return error
    for request, _ in rows:
        request.saved = True
    return None
