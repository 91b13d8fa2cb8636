"""Sentry's tracing, with its template for tools."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from functools import wraps
from typing import Any

import sentry_sdk
from sentry_sdk.consts import SPANTEMPLATE
from sentry_sdk.transport import Transport

from benchmarks.peers.fence import CLOSED
from benchmarks.subject import Subject


class _Sink(Transport):
    """Counts spans, forgets envelopes."""

    seen = 0

    def capture_envelope(self, envelope: Any) -> None:
        for item in envelope.items:
            _Sink.seen += item.headers.get("item_count", 1)


def start() -> Subject:
    sentry_sdk.init(
        dsn=CLOSED.replace("//", "//public@") + "/1",
        traces_sample_rate=1.0,
        send_default_pii=True,
        transport=_Sink,
        default_integrations=False,
        auto_enabling_integrations=False,
        _experiments={"max_spans": 100_000},
    )
    tool = sentry_sdk.trace(template=SPANTEMPLATE.AI_TOOL)
    return Subject(tool, observe_root, flush=sentry_sdk.flush, kept=lambda: _Sink.seen)


def observe_root(function: Callable[..., Any]) -> Callable[..., Any]:
    if inspect.iscoroutinefunction(function):

        @wraps(function)
        async def traced(*args: Any, **kwargs: Any) -> Any:
            with sentry_sdk.start_transaction(name=function.__name__):
                return await function(*args, **kwargs)

    else:

        @wraps(function)
        def traced(*args: Any, **kwargs: Any) -> Any:
            with sentry_sdk.start_transaction(name=function.__name__):
                return function(*args, **kwargs)

    return traced
