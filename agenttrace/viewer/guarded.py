"""The application behind its guard: each request is checked, each answer has the headers of safety."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, MutableMapping
from http.cookies import CookieError, SimpleCookie
from typing import Any
from urllib.parse import parse_qsl, urlencode

from starlette.requests import Request
from starlette.responses import JSONResponse, RedirectResponse, Response

from agenttrace.viewer.guard import READING, Guard, Refusal
from agenttrace.viewer.headers import HEADERS
from agenttrace.viewer.reads import Reads
from agenttrace.viewer.render import render

Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]

COOKIE_SECONDS = 30 * 86_400
_LONGEST_QUERY = 8_000
"""Characters of the part of an address after its question mark."""
_ENTRIES = ("token", "enter")
"""Names in an address for the token, and for a code that stands for it once."""
_ASKS_TO_RUN = "Run agenttrace view: it opens this page with your token."


class Guarded:
    """An application behind a guard: each request is checked, each answer has the headers of safety."""

    def __init__(self, app: Any, guard: Guard, reads: Callable[[Request], Reads]) -> None:
        self._app = app
        self._guard = guard
        self._reads = reads

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request."""
        if scope["type"] != "http":
            return

        async def send_safely(message: Message) -> None:
            if message["type"] == "http.response.start":
                sent = {name.lower() for name, _ in message["headers"]}
                more = [(k.encode(), v.encode()) for k, v in HEADERS.items() if k.encode() not in sent]
                message["headers"] = [*message["headers"], *more]
            await send(message)

        answer = self._stopped(Request(scope))
        await (self._app if answer is None else answer)(scope, receive, send_safely)

    def _stopped(self, request: Request) -> Response | None:
        """The answer to a request that does not get through; None for one that does."""
        headers = {name.lower(): value for name, value in request.headers.items()}
        refusal = self._guard.refusal(request.method, request.scope["path"], headers)
        if any(len(request.headers.getlist(name)) > 1 for name in ("host", "origin")):
            refusal = Refusal(400, "A host and an origin are named once.")
        if refusal is None and len(request.url.query) > _LONGEST_QUERY:
            refusal = Refusal(414, "The address is too long.")
        if refusal is not None:
            return self._refused(request, refusal)
        if request.url.path.startswith("/static/"):
            return None  # the same for everyone, and the page that asks for a token needs it
        query = parse_qsl(request.url.query, keep_blank_values=True)
        asked = {name: value for name, value in query if name in _ENTRIES}
        bearer = headers.get("authorization", "").removeprefix("Bearer ").strip()
        address = request.client.host if request.client else ""
        cookie = cookie_of(headers, self._guard.cookie)
        known = self._guard.is_known(
            address, asked.get("token"), bearer, cookie=cookie, code=asked.get("enter")
        )
        if known is None:
            return self._refused(request, Refusal(429, "Too many wrong tokens; wait a minute."))
        if not known:
            return self._refused(request, Refusal(401, _ASKS_TO_RUN))
        if asked:
            return self._entered(request, [(name, value) for name, value in query if name not in _ENTRIES])
        return None

    def _entered(self, request: Request, query: list[tuple[str, str]]) -> Response:
        """The same address without what let the reader in; a cookie does so from now on."""
        rest = f"?{urlencode(query)}" if query else ""
        answer = RedirectResponse(f"{self._reads(request).root}{_own_path(request)}{rest}", 303)
        if self._guard.token is not None:
            answer.set_cookie(
                self._guard.cookie,
                self._guard.reader_cookie(),
                max_age=COOKIE_SECONDS,
                httponly=True,
                samesite="lax",
                secure=request.url.scheme == "https",
            )
        return answer

    def _refused(self, request: Request, refusal: Refusal) -> Response:
        if request.scope["path"].startswith("/api/") or refusal.status in (405, 421):
            allowed = "POST" if request.scope["path"] in self._guard.writing else ", ".join(sorted(READING))
            more = {"allow": allowed} if refusal.status == 405 else {}
            return JSONResponse({"error": refusal.text}, refusal.status, more)
        html = render("refused.html", self._reads(request), refusal=refusal)
        return Response(html, refusal.status, media_type="text/html; charset=utf-8")


def _own_path(request: Request) -> str:
    """The path of a request as an address on this host: with two slashes it would name another one."""
    return "/" + request.url.path.lstrip("/\\")


def cookie_of(headers: Mapping[str, str], name: str) -> str | None:
    """The value of a cookie, or None."""
    try:
        cookie = SimpleCookie(headers.get("cookie", "")).get(name)
    except CookieError:
        return None
    return None if cookie is None else cookie.value
