"""The application that serves the pages: their addresses, and what stands before each of them."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, MutableMapping
from functools import partial
from http.cookies import CookieError, SimpleCookie
from importlib.resources import files
from typing import Any
from urllib.parse import parse_qsl, urlencode

from anyio import CapacityLimiter, to_thread
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, RedirectResponse, Response
from starlette.routing import Route

from agenttrace.core.errors import AgentTraceError, QueryError, StoreError
from agenttrace.core.protocols import Store
from agenttrace.viewer import api
from agenttrace.viewer.compare_page import compare_page
from agenttrace.viewer.example_text import example_text
from agenttrace.viewer.guard import Guard, Refusal
from agenttrace.viewer.headers import HEADERS
from agenttrace.viewer.health_page import health_page
from agenttrace.viewer.missing_page import no_page, trouble
from agenttrace.viewer.reads import FILL_SECONDS, Asked, Page, Reads
from agenttrace.viewer.render import render
from agenttrace.viewer.run_list import run_list
from agenttrace.viewer.run_page import run_page
from agenttrace.viewer.score_page import score_list, score_page
from agenttrace.viewer.session_page import session_page
from agenttrace.viewer.span_page import span_page, value_text
from agenttrace.viewer.tool_page import tool_page
from agenttrace.viewer.trace_list import trace_list
from agenttrace.viewer.trace_page import trace_page
from agenttrace.viewer.two_traces import two_traces

Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]

PAGES: Mapping[str, Page] = {
    "/traces": trace_list,
    "/t/{id}": trace_page,
    "/t/{id}/s/{span}": span_page,
    "/t/{id}/vs/{other}": two_traces,
    "/session/{session:path}": session_page,
    "/runs": run_list,
    "/r/{id}": run_page,
    "/compare": compare_page,
    "/scores": score_list,
    "/scores/{name:path}": score_page,
    "/tools": tool_page,
    "/health": health_page,
}

STATIC = {
    "view.css": "text/css; charset=utf-8",
    "view.js": "text/javascript; charset=utf-8",
    "theme.js": "text/javascript; charset=utf-8",
}
THREADS = 4
MOST_BYTES = 4_000_000
"""The longest body of an answer of the API, and of a value as text."""
_LONGEST_QUERY = 8_000
"""Characters of the part of an address after its question mark."""
_ASKS_TO_RUN = "Run agenttrace view: it opens this page with your token."
_COOKIE_SECONDS = 30 * 86_400


def application(store: Store, guard: Guard, *, root: str = "") -> Callable[..., Awaitable[None]]:
    """The application for a store, behind its guard; `root` is what addresses begin with behind a proxy."""
    limiter: list[CapacityLimiter] = []

    def reads() -> Reads:
        return Reads.of(store, root=root, fill_seconds=FILL_SECONDS)

    async def off_loop(work: Callable[[], Response]) -> Response:
        if not limiter:
            limiter.append(CapacityLimiter(THREADS))
        return await to_thread.run_sync(work, limiter=limiter[0])

    def route_of(answer_to: Callable[[Reads, Asked], Response]) -> Callable[[Request], Awaitable[Response]]:
        async def answer(request: Request) -> Response:
            return await off_loop(partial(answer_to, reads(), _asked(request)))

        return answer

    def data_route(data: api.Data) -> Callable[[Request], Awaitable[Response]]:
        async def answer(request: Request) -> Response:
            return await off_loop(partial(_json, data, reads(), _asked(request), request.headers))

        return answer

    async def home(_request: Request) -> Response:
        return RedirectResponse(f"{root}/traces", 303)

    async def static(request: Request) -> Response:
        return _static(request.path_params["name"])

    async def nothing(request: Request) -> Response:
        return await off_loop(partial(_html, no_page, reads(), {"path": request.url.path}))

    routes = [
        Route("/", home),
        Route("/static/{name}", static),
        Route("/t/{id}/s/{span}/value", route_of(partial(_plain, value_text))),
        Route("/t/{id}/example", route_of(partial(_plain, example_text))),
        Route("/api/v1/openapi.json", _openapi),
        *(Route(f"/api/v1{path}", data_route(data)) for path, data in api.ROUTES.items()),
        Route("/t/{id}/vs", route_of(partial(_html, two_traces))),
        *(Route(path, route_of(partial(_html, page))) for path, page in PAGES.items()),
        Route("/{path:path}", nothing),
    ]
    return Guarded(Starlette(routes=routes), guard, reads)


def _asked(request: Request) -> Asked:
    return {**request.query_params, **{name: str(part) for name, part in request.path_params.items()}}


def _html(page: Page, reads: Reads, asked: Asked) -> Response:
    try:
        status, html = page(reads, asked)
    except AgentTraceError as error:
        status, html = trouble(reads, error)
    return Response(html, status, media_type="text/html; charset=utf-8")


def _plain(page: Page, reads: Reads, asked: Asked) -> Response:
    try:
        status, text = page(reads, asked)
    except AgentTraceError as error:
        status, text = 503, f"{error}\n"
    if len(text) > MOST_BYTES:
        text = f"{text[:MOST_BYTES]}\n[the first {MOST_BYTES:,} of {len(text):,} characters]\n"
    return Response(text.encode(errors="backslashreplace"), status, media_type="text/plain; charset=utf-8")


def _json(data: api.Data, reads: Reads, asked: Asked, headers: Mapping[str, str]) -> Response:
    try:
        status, content = data(reads, asked)
    except QueryError as error:
        status, content = 400, {"error": str(error), "position": error.position}
    except StoreError as error:
        status, content = 503, {"error": str(error)}
    except AgentTraceError as error:
        status, content = 400, {"error": str(error)}
    body, tag = api.body_of(content)
    if len(body) > MOST_BYTES:
        status, (body, tag) = 413, api.body_of({"error": "the answer is longer than 4 MB; ask for less"})
    if status == 200 and headers.get("if-none-match") == tag:
        return Response(status_code=304, headers={"etag": tag})
    return Response(body, status, {"etag": tag}, "application/json")


def _static(name: str) -> Response:
    kind = STATIC.get(name)
    if kind is None:
        return Response("there is no such file\n", 404, media_type="text/plain")
    content = (files("agenttrace.viewer") / "static" / name).read_bytes()
    return Response(content, 200, {"cache-control": "max-age=300"}, kind)


async def _openapi(_request: Request) -> Response:
    text = (files("agenttrace.viewer") / "openapi.json").read_text("utf-8")
    return Response(text, 200, media_type="application/json")


class Guarded:
    """An application behind a guard: each request is checked, each answer has the headers of safety."""

    def __init__(self, app: Any, guard: Guard, reads: Callable[[], Reads]) -> None:
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
        refusal = self._guard.refusal(request.method, request.url.path, headers)
        if refusal is None and len(request.url.query) > _LONGEST_QUERY:
            refusal = Refusal(414, "The address is too long.")
        if refusal is not None:
            return self._refused(request, refusal)
        if request.url.path.startswith("/static/"):
            return None  # the same for everyone, and the page that asks for a token needs it
        query = parse_qsl(request.url.query, keep_blank_values=True)
        in_address = next((value for name, value in query if name == "token"), None)
        bearer = headers.get("authorization", "").removeprefix("Bearer ").strip()
        address = request.client.host if request.client else ""
        known = self._guard.is_known(address, in_address, bearer, _cookie(headers, self._guard.cookie))
        if known is None:
            return self._refused(request, Refusal(429, "Too many wrong tokens; wait a minute."))
        if not known:
            return self._refused(request, Refusal(401, _ASKS_TO_RUN))
        if in_address is not None:
            return self._entered(request, [(name, value) for name, value in query if name != "token"])
        return None

    def _entered(self, request: Request, query: list[tuple[str, str]]) -> Response:
        """The same address without the token, which is in a cookie from now on."""
        rest = f"?{urlencode(query)}" if query else ""
        answer = RedirectResponse(f"{self._reads().root}{_own_path(request)}{rest}", 303)
        if self._guard.token is not None:
            answer.set_cookie(
                self._guard.cookie,
                self._guard.token,
                max_age=_COOKIE_SECONDS,
                httponly=True,
                samesite="lax",
                secure=request.url.scheme == "https",
            )
        return answer

    def _refused(self, request: Request, refusal: Refusal) -> Response:
        if request.url.path.startswith("/api/") or refusal.status in (405, 421):
            return JSONResponse({"error": refusal.text}, refusal.status)
        html = render("refused.html", self._reads(), refusal=refusal)
        return Response(html, refusal.status, media_type="text/html; charset=utf-8")


def _own_path(request: Request) -> str:
    """The path of a request as an address on this host: with two slashes it would name another one."""
    return "/" + request.url.path.lstrip("/\\")


def _cookie(headers: Mapping[str, str], name: str) -> str | None:
    try:
        cookie = SimpleCookie(headers.get("cookie", "")).get(name)
    except CookieError:
        return None
    return None if cookie is None else cookie.value
