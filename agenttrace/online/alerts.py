"""Alerts: what is called when a score in production fails, such as `log_alert` or a `webhook`."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from agenttrace.core.errors import ConfigError
from agenttrace.core.jsonable import to_json
from agenttrace.core.score import Score

if TYPE_CHECKING:
    from agenttrace.http.transport import Transport

log = logging.getLogger("agenttrace.alerts")


@dataclass(frozen=True, slots=True)
class LowScore:
    """A score that failed, and its span: `trace_id` and `span_id` are hex, or None outside any span."""

    score: Score
    project: str
    trace_id: str | None
    span_id: str | None

    def to_dict(self) -> dict[str, Any]:
        """The score and its span as data that JSON can hold."""
        return {
            "project": self.project,
            "trace_id": self.trace_id,
            "span_id": self.span_id,
            "score": self.score.to_dict(),
        }


Alert = Callable[[LowScore], Awaitable[None] | None]
"""Called on a thread of the evaluation; what it raises is counted, and logged once."""


def log_alert(low: LowScore) -> None:
    """Write a warning to the logger ``agenttrace.alerts``."""
    score = low.score
    log.warning(
        "%s scored %s (threshold %s) on span %s of trace %s: %s",
        score.name,
        score.value,
        score.threshold,
        low.span_id,
        low.trace_id,
        score.reason,
    )


def webhook(url: str, *, headers: dict[str, str] | None = None, timeout: float = 10.0) -> Alert:
    """Post each low score as JSON, tried again while the endpoint is busy, `timeout` seconds in all.

    Redirects are not followed; an answer of 400 or more is an error.

    Raises:
        ConfigError: not an http or https address.
    """
    if not isinstance(url, str) or not url.startswith(("http://", "https://")):
        raise ConfigError("a webhook's url begins with http:// or https://")
    transport: Transport | None = None

    async def post(low: LowScore) -> None:
        from agenttrace.http.transport import Failure, Transport  # on use: it loads httpx

        nonlocal transport
        transport = transport or Transport(timeout=timeout)
        body = to_json(low.to_dict()).encode("utf-8", "replace")
        answer = await transport.post(url, {"content-type": "application/json", **(headers or {})}, body)
        if isinstance(answer, Failure):
            raise RuntimeError(f"the alert's webhook: {answer.problem}")
        if answer.status >= 400:
            # The address may hold a secret: it is not repeated.
            raise RuntimeError(f"the alert's webhook answered {answer.status}")

    return post
