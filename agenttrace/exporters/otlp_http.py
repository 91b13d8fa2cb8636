"""`Collector`: posts batches to an OTLP endpoint; says which answers are tried again and which are final."""

from __future__ import annotations

import gzip
import zlib
from dataclasses import dataclass, field, replace
from http import HTTPStatus

from agenttrace.core.protocols import Batch
from agenttrace.core.text import short_line
from agenttrace.exporters.otlp_encoding import rejected_of, split_in_half
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

ADDRESS_RETRY_SECONDS = 3600.0

MAX_BAD_IN_A_ROW = 8
"""How many records in a row may be refused one by one before the rest of a batch is refused unseen."""

_PHRASES = {status.value: status.phrase for status in HTTPStatus}
_EXCERPT_LENGTH = 200


@dataclass(frozen=True, slots=True)
class SendFailure:
    """Why sending has stopped for now.

    `retry_after` is the pause in seconds that the collector asks for. `final` means that this process sends
    no more. `slow` means that no answer came in time.
    """

    text: str
    retry_after: float | None = None
    final: bool = False
    slow: bool = False


@dataclass(slots=True)
class SendResult:
    """What became of a batch: how many items were `sent`, which parts were `refused` and why.

    With a `trouble` the whole batch must be sent again, including what was sent of it already: a receiver
    recognises a span that arrives twice by its ids. `bad` counts the items refused one by one in a row.
    """

    sent: int = 0
    refused: list[tuple[Batch, str]] = field(default_factory=list)
    trouble: SendFailure | None = None
    bad: int = 0


class Collector:
    """Posts batches to one address, with one attempt each: the caller decides when to try again."""

    def __init__(self, settings: SignalSettings) -> None:
        self._settings = settings
        self._transport = Transport(timeout=settings.timeout, attempts=1)

    async def send(self, batch: Batch, max_bytes: int) -> SendResult:
        """Send a batch, in parts where it is larger than `max_bytes` or something in it is bad."""
        result = SendResult()
        await self._send(batch, max_bytes, result)
        return result

    async def _send(self, batch: Batch, max_bytes: int, result: SendResult) -> None:
        if len(batch.body) > max_bytes and batch.items > 1:
            await self._send_halves(batch, max_bytes, result)
            return
        answer = await self._post(batch)
        if isinstance(answer, Failure):
            if answer.status is None:
                result.trouble = SendFailure(answer.problem, slow=True)
                return
            answer = Answer(answer.status, b"")  # the status counts; only the body could not be read
        answer_text = self._describe(answer)
        if 200 <= answer.status < 300:
            self._accept(batch, answer, result)
        elif answer.status in RETRY_STATUSES:
            result.trouble = SendFailure(answer_text, retry_after_seconds(answer.retry_after))
        elif answer.status in KEY_STATUSES:
            result.trouble = SendFailure(answer_text, final=True)
        elif answer.status in ADDRESS_STATUSES:
            result.trouble = SendFailure(answer_text, retry_after=ADDRESS_RETRY_SECONDS)
        elif answer.status in CONTENT_STATUSES and batch.items > 1:
            await self._send_halves(batch, max_bytes, result)
        else:
            result.bad += 1
            result.refused.append((batch, answer_text))

    async def _send_halves(self, batch: Batch, max_bytes: int, result: SendResult) -> None:
        for half in split_in_half(batch):
            if result.bad >= MAX_BAD_IN_A_ROW:
                result.refused.append((half, f"like those before it: {result.refused[-1][1]}"))
                continue
            await self._send(half, max_bytes, result)
            if result.trouble is not None:
                return

    def _accept(self, batch: Batch, answer: Answer, result: SendResult) -> None:
        rejections, message = rejected_of(batch.kind, answer.body, batch.content_type)
        rejections = min(rejections, batch.items)
        result.sent += batch.items - rejections
        result.bad = 0
        if rejections:
            # OTLP cannot say which ones: the whole batch is set aside, counted as the rejected items alone.
            reason = f"rejected by the collector: {self._excerpt(message)}"
            result.refused.append((replace(batch, items=rejections), reason))

    async def _post(self, batch: Batch) -> Answer | Failure:
        settings = self._settings
        headers = {"content-type": batch.content_type, **settings.headers}
        body = batch.body
        if settings.compression == "gzip":
            # mtime=0: a batch that is sent again has the same bytes.
            body, headers["content-encoding"] = gzip.compress(body, 1, mtime=0), "gzip"
        elif settings.compression == "deflate":
            body, headers["content-encoding"] = zlib.compress(body, 1), "deflate"
        return await self._transport.post(settings.url, headers, body)

    def _describe(self, answer: Answer) -> str:
        phrase = _PHRASES.get(answer.status, "")
        text = self._excerpt(answer.body.decode("utf-8", "replace"))
        return f"answered {answer.status} {phrase}".strip() + (f": {text}" if text else "")

    def _excerpt(self, text: str) -> str:
        """The start of a collector's text on one line, without keys; ``""`` where it is not printable."""
        text = short_line(self._settings.mask(text[: 10 * _EXCERPT_LENGTH]), _EXCERPT_LENGTH)
        return text if text.isprintable() else ""
