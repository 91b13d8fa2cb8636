"""Alerts: what is called when production needs a look, such as `log_alert` or a `webhook`."""

from __future__ import annotations

import logging
import os
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from agenttrace.core.jsonable import to_json
from agenttrace.core.score import Score
from agenttrace.core.text import log_line
from agenttrace.http.endpoint import checked_webhook

if TYPE_CHECKING:
    from agenttrace.http.transport import Transport

log = logging.getLogger("agenttrace.alerts")


News = Literal["new", "back again", "again"]
"""*new*: nobody was alerted of this failure yet; *back again*: it is back since somebody fixed it."""

VIEW_ADDRESS = "AGENTTRACE_VIEW_URL"
"""The environment variable with the address of the team's page, for links in alerts."""


@dataclass(frozen=True, slots=True)
class LowScore:
    """A score that failed or is errored, and its span: `trace_id` and `span_id` are hex, or None outside any.

    `news` says whether its failure is a new one; `failures` are the titles of those that are. `session_id`
    and `customer_id` are those of the trace.
    """

    score: Score
    project: str
    trace_id: str | None
    span_id: str | None
    news: News = "new"
    failures: tuple[str, ...] = ()
    session_id: str | None = None
    customer_id: str | None = None

    @property
    def link(self) -> str | None:
        """The page of the trace where ``AGENTTRACE_VIEW_URL`` says one, else the command that shows it."""
        if self.trace_id is None:
            return None
        address = os.environ.get(VIEW_ADDRESS)
        if not address:
            return f"agenttrace view {self.trace_id}"
        span = "" if self.span_id is None else f"?s={self.span_id}"
        return f"{address.rstrip('/')}/t/{self.trace_id}{span}"

    def to_dict(self) -> dict[str, Any]:
        """The score and its span as data that JSON can hold, without what a judge saw."""
        score = self.score.to_dict()
        return {
            "kind": "score",
            "project": self.project,
            "trace_id": self.trace_id,
            "span_id": self.span_id,
            "session_id": self.session_id,
            "customer_id": self.customer_id,
            "link": self.link,
            "news": self.news,
            "failures": list(self.failures),
            "score": {name: value for name, value in score.items() if name not in ("evidence", "example")},
        }

    def __str__(self) -> str:
        score = self.score
        scored = (
            "is errored" if score.value is None else f"scored {score.value} (threshold {score.threshold})"
        )
        people = [
            f"{name} {value}"
            for name, value in (("session", self.session_id), ("customer", self.customer_id))
            if value
        ]
        where = ", ".join([f"span {self.span_id} of trace {self.trace_id}", *people])
        return f"{self.news}: {score.name} {scored} on {where}: {score.reason}"


Alert = Callable[[Any], Awaitable[None] | None]
"""Called with a `LowScore`, the `RateAlert` of a rule, or a `TroubleAlert` of recording, on a thread of the
evaluation; what it raises is counted, and logged once."""


class Every:
    """An alert that is told of every low score, and not only of failures that are new or back again."""

    def __init__(self, alert: Alert) -> None:
        self.alert = alert

    def __call__(self, low: Any) -> Awaitable[None] | None:
        """Pass it on."""
        return self.alert(low)


def every(alert: Alert) -> Alert:
    """Make an alert that is told of every low score: ``alerts=[every(webhook(url))]``."""
    return Every(alert)


def log_alert(low: Any) -> None:
    """Write a warning to the logger ``agenttrace.alerts``."""
    log.warning("%s", log_line(str(low)))


def webhook(url: str, *, headers: dict[str, str] | None = None, timeout: float = 10.0) -> Alert:
    """Post what it is told as JSON, tried again while the endpoint is busy, `timeout` seconds in all.

    Redirects are not followed; an answer of 400 or more is an error.

    Raises:
        ConfigError: no http or https address with a host and a port that there can be, or one of those
            where clouds keep credentials.
    """
    url = checked_webhook(url)
    transport: Transport | None = None

    async def post(low: Any) -> None:
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
