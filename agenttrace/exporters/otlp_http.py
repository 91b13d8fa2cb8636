"""`Collector`: posts requests to an OTLP endpoint; says which answers are tried again and which are final."""

from __future__ import annotations

import gzip
import zlib
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from http import HTTPStatus
from typing import Protocol

from agenttrace.core.batch import Refusal, Unsent
from agenttrace.core.text import short_line
from agenttrace.exporters.otlp_encoding import CONTENT_TYPES, rejected_of
from agenttrace.exporters.otlp_settings import SignalSettings
from agenttrace.http.transport import Answer, Failure, Transport, retry_after_seconds

RETRY_STATUSES = frozenset((429, 502, 503, 504))
"""Statuses after which OTLP says to try again."""

CONTENT_STATUSES = frozenset((400, 413, 422))
"""Statuses that one record, or the number of records, may have caused: the halves are tried."""

KEY_STATUSES = frozenset((401, 407, 415))
"""Statuses after which this process stops: only new settings help, and more attempts could lock the key."""

ADDRESS_STATUSES = frozenset((*range(300, 400), 403, 404, 405))
"""Statuses of a wrong address or of missing rights, perhaps during a deployment: tried again rarely."""

MAX_BAD_IN_A_ROW = 8
"""How many records in a row may be refused one by one before the rest of a batch is refused unseen."""

_PHRASES = {status.value: status.phrase for status in HTTPStatus}
_EXCERPT_LENGTH = 200


@dataclass(frozen=True, slots=True)
class SendFailure:
    """Why sending has stopped for now.

    `retry_after` is the pause in seconds that the collector asks for. `final` means that this process sends
    no more, `rare` that the longest pause comes before the next attempt. `slow` means that no answer came in
    time. `status` is that of the answer, if there was one.
    """

    text: str
    retry_after: float | None = None
    final: bool = False
    rare: bool = False
    slow: bool = False
    status: int | None = None


@dataclass(slots=True)
class SendResult:
    """What became of some items: how many were `sent`, which were `refused` and why.

    With a `trouble` all of them must be sent again, including what was sent already: a receiver recognises a
    span that arrives twice by its ids. `bad` counts the items refused one by one in a row.
    """

    sent: int = 0
    refused: list[Refusal] = field(default_factory=list)
    trouble: SendFailure | None = None
    bad: int = 0


class SendsUnsent(Protocol):
    """Sends what waited in a store; each way that data goes out has one."""

    async def send(self, unsent: Unsent, max_bytes: int) -> SendResult:
        """Send items, in parts where they take more than `max_bytes` or one of them is bad."""
        ...


class Collector:
    """Posts items to one address, with one attempt each: the caller decides when to try again.

    `encode` makes the body of a request from the items between two places.
    """

    def __init__(self, settings: SignalSettings, encode: Callable[[Unsent, int, int], bytes]) -> None:
        self._settings = settings
        self._encode = encode
        self._transport = Transport(timeout=settings.timeout, attempts=1)

    async def send(self, unsent: Unsent, max_bytes: int) -> SendResult:
        """See `SendsUnsent`."""
        result = SendResult()
        if unsent.body is not None:  # encoded by an earlier version: one item that cannot be parted
            await self._post_part(unsent.body, unsent.content_type, 0, 1, result)
        elif unsent.items:
            encode = partial(self._encode, unsent)
            await self._send(encode, 0, len(unsent.items), max_bytes, result)
        return result

    async def _send(
        self, encode: Callable[[int, int], bytes], start: int, stop: int, max_bytes: int, result: SendResult
    ) -> None:
        single = stop - start == 1
        try:
            body = encode(start, stop)
        except Exception as error:  # choke-point: one item that cannot be encoded must not hold up the others
            if single:
                result.refused.append(Refusal(start, stop, 1, f"cannot be encoded: {error}"))
                return
        else:
            content_type = CONTENT_TYPES[self._settings.protocol]
            fits = len(body) <= max_bytes or single
            if fits and not await self._post_part(body, content_type, start, stop, result):
                return
        middle = (start + stop) // 2
        for half in ((start, middle), (middle, stop)):
            if result.bad >= MAX_BAD_IN_A_ROW:
                reason = f"like those before it: {result.refused[-1].reason}"
                result.refused.append(Refusal(*half, half[1] - half[0], reason))
                continue
            await self._send(encode, *half, max_bytes, result)
            if result.trouble is not None:
                return

    async def _post_part(
        self, body: bytes, content_type: str, start: int, stop: int, result: SendResult
    ) -> bool:
        """Post the items between two places; returns True if they must be tried in halves."""
        answer = await self._post(body, content_type)
        if isinstance(answer, Failure):
            if answer.status is None:
                result.trouble = SendFailure(answer.problem, slow=True)
                return False
            answer = Answer(answer.status, b"")  # the status counts; only the body could not be read
        answer_text = described(answer, self._settings)
        if 200 <= answer.status < 300:
            self._accept(answer, content_type, start, stop, result)
        elif (trouble := trouble_of(answer, answer_text)) is not None:
            result.trouble = trouble
        elif answer.status in CONTENT_STATUSES and stop - start > 1:
            return True
        else:
            result.bad += 1
            result.refused.append(Refusal(start, stop, stop - start, answer_text))
        return False

    def _accept(self, answer: Answer, content_type: str, start: int, stop: int, result: SendResult) -> None:
        rejections, message = rejected_of(self._settings.kind, answer.body, content_type)
        rejections = min(rejections, stop - start)
        result.sent += stop - start - rejections
        result.bad = 0
        if rejections:
            # OTLP cannot say which ones: all are set aside, counted as the rejected items alone.
            reason = f"rejected by the collector: {_excerpt(message, self._settings)}"
            result.refused.append(Refusal(start, stop, rejections, reason))

    async def _post(self, body: bytes, content_type: str) -> Answer | Failure:
        settings = self._settings
        headers = {"content-type": content_type, **settings.headers}
        if settings.compression == "gzip":
            # mtime=0: what is sent again has the same bytes.
            body, headers["content-encoding"] = gzip.compress(body, 1, mtime=0), "gzip"
        elif settings.compression == "deflate":
            body, headers["content-encoding"] = zlib.compress(body, 1), "deflate"
        return await self._transport.post(settings.url, headers, body)


def trouble_of(answer: Answer, text: str) -> SendFailure | None:
    """Why an answer ends sending for now; None for one that is about the items themselves."""
    if answer.status in RETRY_STATUSES:
        return SendFailure(text, retry_after_seconds(answer.retry_after), status=answer.status)
    if answer.status in KEY_STATUSES:
        return SendFailure(text, final=True, status=answer.status)
    if answer.status in ADDRESS_STATUSES:
        return SendFailure(text, rare=True, status=answer.status)
    return None


def described(answer: Answer, settings: SignalSettings) -> str:
    """An answer in a line: its status, and the start of what it says."""
    phrase = _PHRASES.get(answer.status, "")
    text = _excerpt(answer.body.decode("utf-8", "replace"), settings)
    return f"answered {answer.status} {phrase}".strip() + (f": {text}" if text else "")


def _excerpt(text: str, settings: SignalSettings) -> str:
    """The start of a collector's text on one line, without keys; ``""`` where it is not printable."""
    text = short_line(settings.mask(text[: 10 * _EXCERPT_LENGTH]), _EXCERPT_LENGTH)
    return text if text.isprintable() else ""
