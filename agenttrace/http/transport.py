"""`Transport`: HTTP requests with one deadline over all retries, the reply bounded in size.

httpx's timeouts are per read, so an endpoint that sends a byte a second keeps a request alive for ever; the
deadline here is one timer over all attempts. httpx's exceptions carry the request with its key, so none of
them leaves this module: a failure is a value, not an exception.
"""

from __future__ import annotations

import asyncio
import random
import ssl
import time
import weakref
import zlib
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping
from dataclasses import dataclass, replace
from email.utils import parsedate_to_datetime
from functools import cache
from typing import Any
from urllib.parse import urlsplit

import httpx

from agenttrace.http.endpoint import forbidden_peer

REQUEST_TIMEOUT = 60.0
"""Seconds for one request with all its retries."""
MAX_REPLY_BYTES = 1_000_000
"""Bytes of a reply, after decompression."""
CONNECT_TIMEOUT = 10.0


@dataclass(frozen=True, slots=True)
class Answer:
    """An endpoint's complete reply."""

    status: int
    body: bytes
    retry_after: str | None = None


@dataclass(frozen=True, slots=True)
class Failure:
    """Why there is no usable reply: a text without path, query or key. `retryable`: another attempt may help.

    `status` is set where a reply began but could not be used: a redirect, an unreadable body.
    """

    problem: str
    retryable: bool = False
    status: int | None = None


class Transport:
    """Sends requests to one endpoint, over connections that are kept open while an event loop lives.

    `timeout` (seconds) bounds a request with all its attempts and pauses. Only what the endpoint has
    certainly not answered is tried again: 429, 5xx, a connection refused or lost before the reply began.
    `Retry-After` is honoured up to `longest_pause` seconds; a pause that would not fit into the time left
    ends the request at once.
    """

    def __init__(
        self,
        *,
        timeout: float = REQUEST_TIMEOUT,
        attempts: int = 4,
        first_pause: float = 0.5,
        longest_pause: float = 20.0,
        max_bytes: int = MAX_REPLY_BYTES,
        sleep: Callable[[float], Awaitable[Any]] = asyncio.sleep,
    ) -> None:
        self.timeout = timeout
        self.attempts = attempts
        self.first_pause = first_pause
        self.longest_pause = longest_pause
        self.max_bytes = max_bytes
        self._sleep = sleep
        self._clients: weakref.WeakKeyDictionary[
            asyncio.AbstractEventLoop, tuple[httpx.AsyncClient, AsyncGenerator[httpx.AsyncClient]]
        ] = weakref.WeakKeyDictionary()

    async def post(self, url: str, headers: Mapping[str, str], body: bytes) -> Answer | Failure:
        """Send a body. Returns the reply, whatever its status, or why there is none.

        A `Failure` is a reply that is not complete in time, too long or a redirect, or no reply at all.
        """
        return await self._send("POST", url, headers, body)

    async def get(self, url: str, headers: Mapping[str, str]) -> Answer | Failure:
        """Ask for what is there. Returns as `post` does."""
        return await self._send("GET", url, headers, None)

    async def _send(
        self, method: str, url: str, headers: Mapping[str, str], body: bytes | None
    ) -> Answer | Failure:
        last = ""

        def note(problem: str) -> None:
            nonlocal last
            last = f" (before that: {problem})"

        try:
            async with asyncio.timeout(self.timeout):
                outcome = await self._send_with_retries(method, url, headers, body, note)
        except TimeoutError:
            outcome = Failure(f"no complete reply within {self.timeout:g} s{last}", retryable=True)
        if isinstance(outcome, Failure):
            return replace(outcome, problem=f"{_origin(url)}: {outcome.problem}")
        return outcome

    async def _send_with_retries(
        self,
        method: str,
        url: str,
        headers: Mapping[str, str],
        body: bytes | None,
        note: Callable[[str], None],
    ) -> Answer | Failure:
        deadline = time.monotonic() + self.timeout
        attempt = 0
        while True:
            attempt += 1
            outcome = await self._attempt(method, url, headers, body)
            problem = _retryable_problem(outcome)
            if problem is None or attempt >= self.attempts:
                return outcome
            retry_after = retry_after_seconds(outcome.retry_after) if isinstance(outcome, Answer) else None
            pause = pause_before(
                attempt, first=self.first_pause, longest=self.longest_pause, retry_after=retry_after
            )
            if pause >= deadline - time.monotonic():
                return Failure(f"{problem}; no time left to try again after {pause:.1f} s")
            note(problem)
            await self._sleep(pause)

    async def _attempt(
        self, method: str, url: str, headers: Mapping[str, str], body: bytes | None
    ) -> Answer | Failure:
        client = await self._client()
        headers = {"accept-encoding": "identity", **headers}
        connecting = _Connecting()
        status: int | None = None
        try:
            async with client.stream(
                method, url, headers=headers, content=body, extensions={"trace": connecting.watch}
            ) as response:
                status = response.status_code
                if 300 <= status < 400:
                    return Failure(f"answered with a redirect ({status}); none is followed", status=status)
                return Answer(
                    status, await read_body(response, self.max_bytes), response.headers.get("retry-after")
                )
        except BodyError as error:
            return Failure(str(error), status=status)
        except _ForbiddenPeer as error:
            return Failure(str(error))
        except (httpx.ConnectError, httpx.ConnectTimeout) as error:
            return Failure(f"cannot connect ({type(error).__name__})", retryable=True)
        except httpx.RemoteProtocolError as error:
            # The endpoint had closed a kept connection meanwhile: it sent no reply, so a retry is safe.
            no_reply = "without sending a response" in str(error)
            return Failure("the connection was closed before the reply was complete", retryable=no_reply)
        except (httpx.ReadError, httpx.WriteError) as error:  # a reset: by a restart, or a queue that is full
            problem = f"the connection broke ({type(error).__name__})"
            return Failure(problem, retryable=status is None, status=status)
        except (httpx.HTTPError, httpx.InvalidURL, UnicodeError) as error:
            return Failure(f"the connection broke ({type(error).__name__})")
        finally:
            await connecting.close_half_open()

    async def _client(self) -> httpx.AsyncClient:
        loop = asyncio.get_running_loop()
        connection = self._clients.get(loop)
        if connection is None:
            closer = _open_client()
            connection = self._clients[loop] = (await anext(closer), closer)
        return connection[0]

    async def aclose(self) -> None:
        """Close this loop's connections now; `asyncio.run` does it at its end."""
        connection = self._clients.pop(asyncio.get_running_loop(), None)
        if connection is not None:
            await connection[1].aclose()


class _ForbiddenPeer(Exception):
    """The host's name led to an address that no request may go to."""


class _Connecting:
    """Watches a connection being opened: checks its address, closes it if TLS is never agreed on."""

    def __init__(self) -> None:
        self._connected: Any = None
        self._half_open: Any = None

    async def watch(self, event: str, info: Mapping[str, Any]) -> None:
        """httpx's ``trace`` extension. Events of a proxied connection differ in the first word.

        Behind a proxy the proxy's own address is checked; where that connects to cannot be seen.
        """
        if event.endswith(".connect_tcp.complete"):
            self._connected = info["return_value"]
            await self._check()
        elif event.endswith(".start_tls.started"):
            self._half_open = self._connected
        elif event.endswith(".start_tls.complete"):
            self._half_open = None

    async def _check(self) -> None:
        """Check the address that was connected to, before anything is sent there.

        Resolving the name beforehand would not do: it can resolve to another address when it is connected to.
        """
        server = self._connected.get_extra_info("server_addr")
        why = forbidden_peer(str(server[0])) if server else None
        if why is not None:
            await self._connected.aclose()
            raise _ForbiddenPeer(why)

    async def close_half_open(self) -> None:
        """Close a connection whose TLS was not agreed on: httpx leaves it open when the deadline passes."""
        if self._half_open is not None:
            await self._half_open.aclose()


async def _open_client() -> AsyncGenerator[httpx.AsyncClient]:
    """A client that is closed with its event loop: loops close the async generators they have started."""
    client = httpx.AsyncClient(
        verify=_certificates(), timeout=httpx.Timeout(None, connect=CONNECT_TIMEOUT), follow_redirects=False
    )
    try:
        yield client
    finally:
        await client.aclose()


@cache
def _certificates() -> ssl.SSLContext:
    """The trusted authorities, loaded once: it takes 80 ms."""
    return httpx.create_ssl_context()


def _retryable_problem(outcome: Answer | Failure) -> str | None:
    if isinstance(outcome, Failure):
        return outcome.problem if outcome.retryable else None
    if outcome.status == 429 or outcome.status >= 500:
        return f"answered {outcome.status}"
    return None


def _origin(url: str) -> str:
    """Host and port: never the path, never a query."""
    parts = urlsplit(url)
    return parts.netloc.rpartition("@")[2]


_ANY_ZLIB_HEADER = 47  # zlib's wbits: gzip or zlib, recognised by the header


class BodyError(Exception):
    """The body cannot be used; its text says why."""


async def read_body(response: httpx.Response, limit: int) -> bytes:
    """Read at most `limit` decompressed bytes, a chunk at a time.

    Reads the raw stream: httpx would unpack each chunk whole, and several encodings on top of each other, so
    that 64 KB become 64 MB, or 64 GB. One layer of gzip or deflate is unpacked here, never past the limit.

    Raises:
        BodyError: longer than `limit`, another encoding, or a broken one.
    """
    encoding = response.headers.get("content-encoding", "").strip().lower()
    if encoding not in ("", "identity", "gzip", "x-gzip", "deflate"):
        raise BodyError("sent an encoding that was not asked for")
    inflater = zlib.decompressobj(_ANY_ZLIB_HEADER) if encoding not in ("", "identity") else None
    body = bytearray()
    async for chunk in response.aiter_raw():
        if inflater is not None:
            try:
                chunk = inflater.decompress(chunk, limit + 1 - len(body))
            except zlib.error:
                raise BodyError("sent a broken compressed body") from None
        body += chunk[: limit + 1 - len(body)]
        if len(body) > limit:
            raise BodyError(f"the reply is longer than {limit:,} bytes")
    if inflater is not None and not inflater.eof:
        raise BodyError("sent a compressed body that is cut off")
    return bytes(body)


def pause_before(attempt: int, *, first: float, longest: float, retry_after: float | None = None) -> float:
    """Seconds before attempt number `attempt` (from 1) is repeated.

    Starts at `first` and doubles, with jitter, on top of what the endpoint asked for; at most `longest`.
    """
    backoff = min(longest, first * 2.0 ** min(attempt - 1, 30))
    backoff *= random.uniform(0.5, 1.0)  # noqa: S311 - spreads retries, guards nothing
    return min(longest, (retry_after or 0.0) + backoff)


def retry_after_seconds(text: str | None) -> float | None:
    """A `Retry-After` header as seconds from now; None where it is absent, negative or not understood."""
    if text is None:
        return None
    text = text.strip()
    if text.isascii() and text.isdigit():
        return float(text[:9])
    try:
        seconds = parsedate_to_datetime(text).timestamp() - time.time()
    except (ValueError, OverflowError):
        return None
    return seconds if seconds >= 0 else None
