"""`StoreAPI`: the store itself over HTTP, for commands, workers and `Client` on other machines."""

from __future__ import annotations

import asyncio
import gzip
import zlib
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Mapping, MutableMapping
from functools import partial
from hashlib import blake2b
from typing import Any, TypeVar

from anyio import CapacityLimiter, to_thread
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response

from agenttrace.core.errors import AgentTraceError, error_text
from agenttrace.core.protocols import OnlyRead, Store, optional
from agenttrace.process.said_once import SaidOnce
from agenttrace.redaction import without_secrets
from agenttrace.store.remote.calls import CALLS, KEY, MOST_BYTES, perform
from agenttrace.store.remote.values import Unreadable, error_data, read, written
from agenttrace.viewer.guard import Guard

MOST_SENT = 16 * 1024 * 1024
"""Of a call as it comes."""
SECONDS_TO_SEND = 30.0
THREADS = 8
WAITING = 64
"""Calls that are read or answered at once; more are told to come again."""
KEYS = 10_000
"""Calls whose answers are remembered, so that one that comes again is not done twice."""
_WORTH_PACKING = 1_000
_ANY_ZLIB_HEADER = 47
_RETRY = {"retry-after": "1"}

T = TypeVar("T")
Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]


class Refused(Exception):
    """A call is not made; with the status and headers of the answer."""

    def __init__(self, status: int, text: str, headers: Mapping[str, str] | None = None) -> None:
        super().__init__(text)
        self.status = status
        self.headers = dict(headers or {})


class StoreAPI:
    """Makes calls of the store's methods, for who knows the token of the pages.

    A call is a POST of ``{"call": name, "positional": […], "named": {…}}``; the answer is ``{"result": …}``,
    or ``{"error": text}`` with a status: 422 is what the store itself raised. What writes carries an
    ``idempotency-key``, and is done once for each: the answer to a call that comes again is the first one's.
    No browser's page may call.

    Args:
        store: The store.
        guard: Who knows the token; where nothing may be said of what is shown, nothing is written here.
    """

    def __init__(self, store: Store, guard: Guard) -> None:
        self._store = store
        self._guard = guard
        self._is_read_only = optional(store, OnlyRead) is not None
        self._warnings = SaidOnce(without_secrets)
        self._limiter: CapacityLimiter | None = None
        self._waiting = 0
        self._answers: OrderedDict[tuple[str, bytes], asyncio.Future[tuple[int, bytes]]] = OrderedDict()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request."""
        request = Request(scope, receive)
        try:
            answer = await self._answer(request)
        except Refused as refusal:
            body = written({"error": str(refusal)})
            answer = Response(body, refusal.status, refusal.headers, "application/json")
        except ClientDisconnect:
            return
        await answer(scope, receive, send)

    async def _answer(self, request: Request) -> Response:
        self._check(request)
        if self._waiting >= WAITING:
            raise Refused(503, "too many calls at once", _RETRY)
        self._waiting += 1
        try:
            encoding = request.headers.get("content-encoding", "")
            body, (name, positional, named) = await self._on_thread(
                partial(_read, await _body(request), encoding)
            )
            act = partial(self._act, name, positional, named)
            if CALLS[name].writes:
                status, result = await self._once(request.headers.get(KEY, ""), body, act)
            else:
                status, result = await self._on_thread(act)
        finally:
            self._waiting -= 1
        headers = {"cache-control": "no-store"}
        if len(result) > _WORTH_PACKING and "gzip" in request.headers.get("accept-encoding", ""):
            result = await to_thread.run_sync(partial(gzip.compress, result, compresslevel=1))
            headers["content-encoding"] = "gzip"
        return Response(result, status, headers, "application/json")

    def _check(self, request: Request) -> None:
        """Whether a request may be read at all."""
        headers = request.headers
        if request.method != "POST":
            raise Refused(405, "calls are sent by POST", {"allow": "POST"})
        if "origin" in headers or headers.get("sec-fetch-site", "none") != "none":
            raise Refused(403, "No page may call here.")
        address = request.client.host if request.client else ""
        scheme, _, bearer = headers.get("authorization", "").partition(" ")
        known = self._guard.is_known(address, bearer.strip() if scheme.lower() == "bearer" else None)
        if known is None:
            raise Refused(429, "Too many wrong tokens; wait a minute.", {"retry-after": "60"})
        if not known:
            raise Refused(401, "this needs the token of the pages: authorization: Bearer …")
        if headers.get("content-type", "").partition(";")[0].strip().lower() != "application/json":
            raise Refused(415, "a call is sent as application/json")

    async def _once(self, text: str, body: bytes, act: Callable[[], tuple[int, bytes]]) -> tuple[int, bytes]:
        """The answer to a call that writes; of one that came before, the answer that it got."""
        if not 16 <= len(text) <= 100:
            raise Refused(400, f"what writes needs the header {KEY}, of 16 to 100 characters")
        key = text, blake2b(body, digest_size=16).digest()  # a client that uses a key twice loses nothing
        answer = self._answers.get(key)
        if answer is None:
            answer = self._answers[key] = asyncio.ensure_future(self._on_thread(act))
            if len(self._answers) > KEYS:
                self._answers.popitem(last=False)
        status, result = await asyncio.shield(answer)  # its client may go away: it is done all the same
        if status >= 500:  # nothing was changed, so it may come again
            self._answers.pop(key, None)
        return status, result

    def _why_not_written(self, name: str) -> str | None:
        if not self._guard.writing:
            return "this service only lets its store be read (--read-only)"
        is_of_traces = name in ("write", "delete_trace")
        return "the traces here are only read" if self._is_read_only and is_of_traces else None

    async def _on_thread(self, act: Callable[[], T]) -> T:
        if self._limiter is None:
            self._limiter = CapacityLimiter(THREADS)  # in the loop of the server
        return await to_thread.run_sync(act, limiter=self._limiter)

    def _act(self, name: str, positional: list[Any], named: dict[str, Any]) -> tuple[int, bytes]:
        why = self._why_not_written(name) if CALLS[name].writes else None
        if why is not None:
            return 422, written({"error": why, "type": "StoreError"})
        try:
            answer = written({"result": perform(self._store, name, positional, named)})
        except AgentTraceError as error:
            return 422, written(error_data(error))
        except (AttributeError, KeyError, OverflowError, TypeError, ValueError) as error:
            # What was sent has the form of a call, and not the values that the method takes.
            return 400, written({"error": f"{name} cannot be called so: {error_text(error)}"})
        except Exception as error:  # choke-point: whatever a store raises
            text = f"the store failed at a call over HTTP, {name}; its caller is told so"
            self._warnings.warn(f"{name} {type(error).__name__}", text, error, traceback="with")
            return 500, written({"error": f"{name} failed here: {type(error).__name__}"})
        if len(answer) > MOST_BYTES:
            text = f"the answer to {name} is longer than {MOST_BYTES:,} bytes; ask for less at once"
            return 422, written({"error": text, "type": "StoreError"})
        return 200, answer


async def _body(request: Request) -> bytes:
    too_long = Refused(413, f"got more than {MOST_SENT:,} bytes, send them in several calls")
    length = request.headers.get("content-length", "0")
    if not length.isdecimal() or len(length) > 18:
        raise Refused(400, "the content length is no number")
    if int(length) > MOST_SENT:
        raise too_long
    body = bytearray()
    try:
        async with asyncio.timeout(SECONDS_TO_SEND):
            async for part in request.stream():
                body += part
                if len(body) > MOST_SENT:
                    raise too_long
    except TimeoutError:
        raise Refused(408, f"the body took longer than {SECONDS_TO_SEND:g} s") from None
    return bytes(body)


def _unpacked(body: bytes, encoding: str) -> bytes:
    encoding = encoding.strip().lower()
    if encoding in ("", "identity"):
        return body
    if encoding != "gzip":
        raise Refused(415, f"got encoding {encoding[:100]!r}, wanted gzip or identity")
    inflater = zlib.decompressobj(_ANY_ZLIB_HEADER)
    try:
        whole = inflater.decompress(body, MOST_BYTES + 1)
    except zlib.error as error:
        raise Refused(400, f"the body is not gzip: {error}") from None
    if len(whole) > MOST_BYTES:
        raise Refused(413, f"the body is more than {MOST_BYTES:,} bytes unpacked, send it in several calls")
    if not inflater.eof:
        raise Refused(400, "the body is cut off")
    return whole


def _read(body: bytes, encoding: str) -> tuple[bytes, tuple[str, list[Any], dict[str, Any]]]:
    """The body as it was before it was packed, and the call in it."""
    whole = _unpacked(body, encoding)
    call = _call_in(whole)
    if call[0] not in CALLS:
        raise Refused(400, f"there is no call {call[0][:80]!r} here")
    return whole, call


def _call_in(body: bytes) -> tuple[str, list[Any], dict[str, Any]]:
    try:
        data = read(body)
    except Unreadable as error:
        raise Refused(400, str(error)) from None
    if isinstance(data, dict):
        name, positional, named = data.get("call"), data.get("positional", []), data.get("named", {})
        are_arguments = isinstance(positional, list) and isinstance(named, dict)
        if isinstance(name, str) and are_arguments and all(isinstance(key, str) for key in named):
            return name, positional, named
    raise Refused(400, 'a call is {"call": name, "positional": […], "named": {…}}')
