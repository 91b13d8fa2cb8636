"""Takes parcels to a collector, understands what it answers."""

from __future__ import annotations

import gzip
import zlib
from dataclasses import dataclass, replace
from http import HTTPStatus

from agenttrace.core.parcel import Parcel
from agenttrace.exporters.otlp_encoding import rejected_of
from agenttrace.exporters.otlp_settings import OTLPSettings
from agenttrace.exporters.otlp_splitting import halves
from agenttrace.http.transport import Answer, Failure, Transport, retry_after_seconds

LATER = frozenset((429, 502, 503, 504))
"""The statuses after which OTLP says to try again."""

TOO_LARGE_OR_BAD = frozenset((400, 413, 422))
"""One record, or their number, may be to blame: the halves are tried."""

WRONG_SETTINGS = frozenset((401, 403, 404, 405, 407, 415))
"""No parcel gets through until somebody changes the key, the address."""

_PHRASES = {status.value: status.phrase for status in HTTPStatus}
_EXCERPT = 200


@dataclass(frozen=True, slots=True)
class Trouble:
    """Why nothing is sent for now: `retry_after` seconds as the collector asks, `final` for this process."""

    text: str
    retry_after: float | None = None
    final: bool = False


@dataclass(frozen=True, slots=True)
class Receipt:
    """What became of a parcel: how many items were `sent`, what was `refused` and why.

    With a `trouble` the whole parcel is to be sent again, also what was sent of it already: whoever receives
    a span twice knows it by its ids.
    """

    sent: int = 0
    refused: tuple[tuple[Parcel, str], ...] = ()
    trouble: Trouble | None = None


class Courier:
    """Takes parcels to one collector. One attempt each; when to try again is its caller's to say."""

    def __init__(self, settings: OTLPSettings) -> None:
        self._settings = settings
        self._transport = Transport(timeout=settings.timeout, attempts=1)

    async def take(self, parcel: Parcel) -> Receipt:
        """Send a parcel, in parts where it is too large or something in it is bad."""
        answer = await self._post(parcel)
        if isinstance(answer, Failure):
            return Receipt(trouble=Trouble(answer.problem))
        if 200 <= answer.status < 300:
            return _accepted(parcel, answer)
        said = _said(answer)
        if answer.status in LATER:
            return Receipt(trouble=Trouble(said, retry_after_seconds(answer.retry_after)))
        if answer.status in WRONG_SETTINGS:
            return Receipt(trouble=Trouble(said, final=True))
        if answer.status in TOO_LARGE_OR_BAD and parcel.items > 1:
            return await self._take_halves(parcel)
        return Receipt(refused=((parcel, said),))

    async def _take_halves(self, parcel: Parcel) -> Receipt:
        sent = 0
        refused: list[tuple[Parcel, str]] = []
        for half in halves(parcel):
            receipt = await self.take(half)
            if receipt.trouble is not None:
                return receipt
            sent += receipt.sent
            refused += receipt.refused
        return Receipt(sent, tuple(refused))

    async def _post(self, parcel: Parcel) -> Answer | Failure:
        settings = self._settings
        headers = {"content-type": parcel.content_type, **settings.headers}
        body = parcel.body
        if settings.compression == "gzip":
            # Without a time, so that what is sent again is the same to the byte.
            body, headers["content-encoding"] = gzip.compress(body, 1, mtime=0), "gzip"
        elif settings.compression == "deflate":
            body, headers["content-encoding"] = zlib.compress(body, 1), "deflate"
        return await self._transport.post(settings.urls[parcel.kind], headers, body)


def _accepted(parcel: Parcel, answer: Answer) -> Receipt:
    rejected, message = rejected_of(parcel.kind, answer.body, parcel.content_type)
    rejected = min(rejected, parcel.items)
    if not rejected:
        return Receipt(sent=parcel.items)
    # Which ones, OTLP has no way to say: all of the parcel is set aside, as so many items as were rejected.
    aside = replace(parcel, items=rejected)
    return Receipt(parcel.items - rejected, ((aside, f"rejected by the collector: {message}"),))


def _said(answer: Answer) -> str:
    text = " ".join(answer.body.decode("utf-8", "replace").split()) if answer.body.isascii() else ""
    shown = text[:_EXCERPT] if text.isprintable() else ""
    phrase = _PHRASES.get(answer.status, "")
    return f"answered {answer.status} {phrase}".strip() + (f": {shown}" if shown else "")
