"""A request in two halves, several requests in one: bodies that are encoded already."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from itertools import takewhile
from typing import Any

from agenttrace.core.parcel import Parcel
from agenttrace.exporters.otlp_encoding import message_of

_LEVELS = {
    "traces": ("resource_spans", "scope_spans", "spans"),
    "logs": ("resource_logs", "scope_logs", "log_records"),
}
_JSON_LEVELS = {
    "traces": ("resourceSpans", "scopeSpans", "spans"),
    "logs": ("resourceLogs", "scopeLogs", "logRecords"),
}


def halves(parcel: Parcel) -> tuple[Parcel, Parcel]:
    """The first half of a parcel's items as a parcel, and the rest."""
    cut = parcel.items // 2
    return _part(parcel, 0, cut, cut), _part(parcel, cut, None, parcel.items - cut)


def _part(parcel: Parcel, start: int, stop: int | None, items: int) -> Parcel:
    if "json" in parcel.content_type:
        request = json.loads(parcel.body)
        _keep(request.get, dict.get, _JSON_LEVELS[parcel.kind], start, stop)
        body = json.dumps(request, ensure_ascii=False, separators=(",", ":")).encode()
    else:
        message = message_of(parcel.kind, parcel.body)
        _keep(lambda name: getattr(message, name), getattr, _LEVELS[parcel.kind], start, stop)
        body = message.SerializeToString()
    return replace(parcel, items=items, body=body)


def _keep(top: Any, inner: Any, levels: tuple[str, str, str], start: int, stop: int | None) -> None:
    """Delete, in place, every record but those from `start` to `stop`, counted over all groups."""
    of_resource, of_scope, of_record = levels
    seen = 0
    for group in top(of_resource) or ():
        for scope in inner(group, of_scope) or ():
            records = inner(scope, of_record)
            count = len(records)
            if stop is not None:
                del records[max(stop - seen, 0) :]
            del records[: max(start - seen, 0)]
            seen += count


def joined(parcels: Sequence[Parcel]) -> tuple[Parcel, list[int]]:
    """As many of the first parcels as go into one request: those of one protocol, with their keys."""
    first = parcels[0]
    taken = list(takewhile(lambda parcel: parcel.content_type == first.content_type, parcels))
    if len(taken) == 1:
        return first, [first.key]
    bodies = [parcel.body for parcel in taken]
    if "json" in first.content_type:
        start = f'{{"{_JSON_LEVELS[first.kind][0]}":['.encode()  # as `encode` and `halves` begin
        body = start + b",".join(body.removeprefix(start).removesuffix(b"]}") for body in bodies) + b"]}"
    else:
        body = b"".join(bodies)  # a message of protobuf after another is both
    return replace(first, items=sum(p.items for p in taken), body=body), [p.key for p in taken]
