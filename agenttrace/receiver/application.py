"""`OTLPReceiver`: an ASGI application that takes OTLP's requests of traces and of logs."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping, MutableMapping
from contextlib import suppress
from typing import Any

from agenttrace.receiver.intake import RETRY_SECONDS, Intake
from agenttrace.receiver.keeping import Request
from agenttrace.receiver.outcome import JSON, PROTOBUF, Outcome, Signal, body_of
from agenttrace.receiver.unpacking import ENCODINGS

Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
Headers = Mapping[str, str]
Admission = Callable[[Headers], "str | Outcome | None"]
"""From the headers of a request, names in lower case: the project its spans go to (None: the one that they
name), or why it is refused."""

PATHS: Mapping[str, Signal] = {"/v1/traces": "spans", "/v1/logs": "log_records"}
MOST_BYTES = 16 * 1024 * 1024
"""Of a request as it comes."""
ANSWER_SECONDS = 30.0
SECONDS_TO_SEND = 30.0
SECONDS_TO_LISTEN_ON = 2.0
"""After a refusal: a client that still sends would lose the answer if its connection were closed at once."""
_CLOSING = (401, 403, 408, 413, 429)


def everyone(headers: Headers) -> None:
    """Admit every request; its spans go to the project that they name."""


class OTLPReceiver:
    """Takes ``POST /v1/traces`` and ``POST /v1/logs``, and answers once what they hold is kept.

    Bodies are protobuf or JSON, as they are or packed by gzip or deflate. What cannot be read is refused with
    400, 413 or 415, and would be refused again; where only some records of a request cannot be read,
    the rest is kept, and the answer counts those. 429 and 503 say, with ``Retry-After``, that the same
    request may come again: too much waits, or the store is slow or away. A request
    that came twice changes nothing.

    Args:
        intake: What reads the requests and keeps their spans.
        admit: Who may send, and where to.
        most_bytes: Of a request's body as it comes.
        answer_seconds: How long a request waits to be kept. Later it is told to come again, and kept all the
            same.
    """

    def __init__(
        self,
        intake: Intake,
        admit: Admission = everyone,
        *,
        most_bytes: int = MOST_BYTES,
        answer_seconds: float = ANSWER_SECONDS,
        seconds_to_send: float = SECONDS_TO_SEND,
    ) -> None:
        self.intake = intake
        self._admit = admit
        self._most_bytes = most_bytes
        self._answer_seconds = answer_seconds
        self._seconds_to_send = seconds_to_send

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request, if it is one of HTTP."""
        if scope["type"] != "http":
            return
        headers = {
            name.decode("latin-1").lower(): value.decode("latin-1") for name, value in scope["headers"]
        }
        kind = headers.get("content-type", "").partition(";")[0].strip().lower()
        signal = PATHS.get(scope["path"].rstrip("/"))
        outcome = self._refused(scope["method"], signal, kind, headers)
        body = _Body(receive)
        if outcome is None:
            outcome = await self._read_and_offer(headers, kind, body)
        if outcome is not None:
            await _answer(send, outcome, kind if kind == JSON else PROTOBUF, signal or "spans", body)

    def _refused(self, method: str, signal: Signal | None, kind: str, headers: Headers) -> Outcome | None:
        """Why a request is refused by its head, or None."""
        if signal is None:
            return Outcome(404, f"only {' and '.join(PATHS)} are here")
        if method != "POST":
            return Outcome(405, "requests of OTLP are sent by POST")
        if kind not in (PROTOBUF, JSON):
            return Outcome(415, f"got content type {kind[:100]!r}, wanted {PROTOBUF} or {JSON}")
        if _encoding(headers) not in ENCODINGS:
            return Outcome(415, f"got encoding {_encoding(headers)[:100]!r}, wanted {', '.join(ENCODINGS)}")
        length = headers.get("content-length", "0")
        if not length.isdecimal() or len(length) > 18:
            return Outcome(400, "the content length is no number")
        if int(length) > self._most_bytes:
            return self._too_long()
        return None

    def _too_long(self) -> Outcome:
        return Outcome(413, f"got more than {self._most_bytes:,} bytes, send them in several requests")

    async def _read_and_offer(self, headers: Headers, kind: str, sent: _Body) -> Outcome | None:
        """What became of a request whose head is right; None where its client went away."""
        project = self._admit(headers)
        if isinstance(project, Outcome):
            return project
        reserved = 0
        try:
            body = bytearray()
            async with asyncio.timeout(self._seconds_to_send):
                while not sent.is_whole:
                    part = await sent.part()
                    if part is None:
                        return None
                    if len(body) + len(part) > self._most_bytes:
                        return self._too_long()
                    full = self.intake.reserve(len(part))
                    if full is not None:
                        return full
                    reserved += len(part)
                    body += part
        except TimeoutError:
            return Outcome(408, f"the body took longer than {self._seconds_to_send:g} s", retry_after=1)
        finally:
            self.intake.release(reserved)
        ended = self.intake.offer(Request(bytes(body), _encoding(headers), kind, project))
        try:
            return await asyncio.wait_for(asyncio.shield(asyncio.wrap_future(ended)), self._answer_seconds)
        except TimeoutError:
            return Outcome(503, "the store is slow; the spans may be kept later", retry_after=RETRY_SECONDS)


def _encoding(headers: Headers) -> str:
    return headers.get("content-encoding", "").strip().lower() or "identity"


class _Body:
    """The body of a request as it comes; `is_whole` once all of it came, or its client went away."""

    def __init__(self, receive: Receive) -> None:
        self._receive = receive
        self.is_whole = False

    async def part(self) -> bytes | None:
        """The next part; None when the client went away."""
        message = await self._receive()
        self.is_whole = message["type"] == "http.disconnect" or not message.get("more_body", False)
        return None if message["type"] == "http.disconnect" else bytes(message.get("body", b""))


async def _answer(send: Send, outcome: Outcome, content_type: str, signal: Signal, sent: _Body) -> None:
    body = body_of(outcome, content_type, signal)
    headers = {"content-type": content_type, "content-length": str(len(body)), **outcome.headers}
    is_closed = outcome.status in _CLOSING
    if is_closed:
        headers["connection"] = "close"
    await send(
        {
            "type": "http.response.start",
            "status": outcome.status,
            "headers": [(name.encode(), value.encode("latin-1")) for name, value in headers.items()],
        }
    )
    await send({"type": "http.response.body", "body": body, "more_body": is_closed})
    if is_closed:
        with suppress(TimeoutError):
            async with asyncio.timeout(SECONDS_TO_LISTEN_ON):
                while not sent.is_whole:
                    await sent.part()
        await send({"type": "http.response.body", "body": b""})
