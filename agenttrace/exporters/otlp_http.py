"""Takes parcels to a collector, understands what it answers."""

from __future__ import annotations

import gzip
import zlib
from dataclasses import dataclass, field, replace
from http import HTTPStatus

from agenttrace.core.protocols import Parcel
from agenttrace.exporters.otlp_encoding import halves, rejected_of
from agenttrace.exporters.otlp_settings import SignalSettings
from agenttrace.http.transport import Answer, Failure, Transport, retry_after_seconds

LATER = frozenset((429, 502, 503, 504))
"""The statuses after which OTLP says to try again."""

TOO_LARGE_OR_BAD = frozenset((400, 413, 422))
"""One record, or their number, may be to blame: the halves are tried."""

WRONG_KEY = frozenset((401, 407, 415))
"""No parcel gets through until somebody changes the settings: to go on asking could lock the key."""

WRONG_PLACE = frozenset((*range(300, 400), 403, 404, 405))
"""The address, or who may use it: wrong, or in the middle of a deployment. Asked again, seldom."""

SELDOM = 3600.0

MOST_BAD = 8
"""How many records in a row may be refused one by one before all that is left of a parcel is set aside."""

_PHRASES = {status.value: status.phrase for status in HTTPStatus}
_EXCERPT = 200


@dataclass(frozen=True, slots=True)
class SendFailure:
    """Why nothing is sent for now.

    `retry_after` are the seconds that the collector asks for, `final` says that it is for as long as this
    process lives, `slow` that no answer came in time.
    """

    text: str
    retry_after: float | None = None
    final: bool = False
    slow: bool = False


@dataclass(slots=True)
class Receipt:
    """What became of a parcel: how many items were `sent`, what was `refused` and why.

    With a `trouble` the whole parcel is to be sent again, also what was sent of it already: whoever receives
    a span twice knows it by its ids. `bad` counts the items in a row that were refused one by one.
    """

    sent: int = 0
    refused: list[tuple[Parcel, str]] = field(default_factory=list)
    trouble: SendFailure | None = None
    bad: int = 0


class Collector:
    """Takes parcels to one address. One attempt each; when to try again is its caller's to say."""

    def __init__(self, settings: SignalSettings) -> None:
        self._settings = settings
        self._transport = Transport(timeout=settings.timeout, attempts=1)

    async def take(self, parcel: Parcel, max_bytes: int) -> Receipt:
        """Send a parcel, in parts where it is larger than `max_bytes` or something in it is bad."""
        receipt = Receipt()
        await self._take(parcel, max_bytes, receipt)
        return receipt

    async def _take(self, parcel: Parcel, max_bytes: int, receipt: Receipt) -> None:
        if len(parcel.body) > max_bytes and parcel.items > 1:
            await self._take_halves(parcel, max_bytes, receipt)
            return
        answer = await self._post(parcel)
        if isinstance(answer, Failure):
            if answer.status is None:
                receipt.trouble = SendFailure(answer.problem, slow=True)
                return
            answer = Answer(answer.status, b"")  # it was taken, or not: only what was said of that is lost
        answer_text = self._said(answer)
        if 200 <= answer.status < 300:
            self._accept(parcel, answer, receipt)
        elif answer.status in LATER:
            receipt.trouble = SendFailure(answer_text, retry_after_seconds(answer.retry_after))
        elif answer.status in WRONG_KEY:
            receipt.trouble = SendFailure(answer_text, final=True)
        elif answer.status in WRONG_PLACE:
            receipt.trouble = SendFailure(answer_text, retry_after=SELDOM)
        elif answer.status in TOO_LARGE_OR_BAD and parcel.items > 1:
            await self._take_halves(parcel, max_bytes, receipt)
        else:
            receipt.bad += 1
            receipt.refused.append((parcel, answer_text))

    async def _take_halves(self, parcel: Parcel, max_bytes: int, receipt: Receipt) -> None:
        for half in halves(parcel):
            if receipt.bad >= MOST_BAD:
                receipt.refused.append((half, f"like those before it: {receipt.refused[-1][1]}"))
                continue
            await self._take(half, max_bytes, receipt)
            if receipt.trouble is not None:
                return

    def _accept(self, parcel: Parcel, answer: Answer, receipt: Receipt) -> None:
        rejections, message = rejected_of(parcel.kind, answer.body, parcel.content_type)
        rejections = min(rejections, parcel.items)
        receipt.sent += parcel.items - rejections
        receipt.bad = 0
        if rejections:
            # Which ones, OTLP has no way to say: all of it is set aside, as so many items as were rejected.
            reason = f"rejected by the collector: {self._shown(message)}"
            receipt.refused.append((replace(parcel, items=rejections), reason))

    async def _post(self, parcel: Parcel) -> Answer | Failure:
        settings = self._settings
        headers = {"content-type": parcel.content_type, **settings.headers}
        body = parcel.body
        if settings.compression == "gzip":
            # Without a time, so that what is sent again is the same to the byte.
            body, headers["content-encoding"] = gzip.compress(body, 1, mtime=0), "gzip"
        elif settings.compression == "deflate":
            body, headers["content-encoding"] = zlib.compress(body, 1), "deflate"
        return await self._transport.post(settings.url, headers, body)

    def _said(self, answer: Answer) -> str:
        phrase = _PHRASES.get(answer.status, "")
        text = self._shown(answer.body.decode("utf-8", "replace"))
        return f"answered {answer.status} {phrase}".strip() + (f": {text}" if text else "")

    def _shown(self, text: str) -> str:
        """A collector's words, fit for a log: one line, cut, without the key; nothing where they are none."""
        text = " ".join(self._settings.masked(text[: 10 * _EXCERPT]).split())
        return f"{text[:_EXCERPT]}{'…' if len(text) > _EXCERPT else ''}" if text.isprintable() else ""
