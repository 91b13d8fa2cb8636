"""The application that serves the pages: their addresses, and how each is answered."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from functools import cached_property, partial
from importlib.resources import files
from urllib.parse import quote, unquote

from anyio import CapacityLimiter, to_thread
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from agenttrace.core.errors import AgentTraceError, QueryError, StoreError
from agenttrace.core.protocols import Store
from agenttrace.reports.openmetrics import CONTENT_TYPE, openmetrics
from agenttrace.viewer import api
from agenttrace.viewer.annotating import NotThere, keep, own_address
from agenttrace.viewer.compare_page import compare_page
from agenttrace.viewer.example_text import example_text
from agenttrace.viewer.failure_page import failure_page
from agenttrace.viewer.filling import Filling
from agenttrace.viewer.form_body import read_form
from agenttrace.viewer.group_page import group_page
from agenttrace.viewer.guard import ANNOTATIONS, Guard, Refusal
from agenttrace.viewer.guarded import COOKIE_SECONDS, Guarded, cookie_of
from agenttrace.viewer.health_page import health_page
from agenttrace.viewer.missing_page import no_page, status_of, trouble
from agenttrace.viewer.reads import FILL_SECONDS, Asked, Forms, Page, Reads
from agenttrace.viewer.render import render
from agenttrace.viewer.review_page import review_page
from agenttrace.viewer.run_list import run_list
from agenttrace.viewer.run_page import run_page
from agenttrace.viewer.score_page import score_list, score_page
from agenttrace.viewer.session_page import session_page
from agenttrace.viewer.span_page import span_page, value_text
from agenttrace.viewer.tool_page import tool_page
from agenttrace.viewer.trace_list import trace_list
from agenttrace.viewer.trace_page import trace_page
from agenttrace.viewer.two_traces import two_traces

Answering = Callable[[Request], Awaitable[Response]]

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
    "/groups/{by:path}": group_page,
    "/failures": failure_page,
    "/review": review_page,
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
_NOT_KEPT = ("form_token", "back")
"""Fields of a form that are about the form itself."""


def application(
    store: Store, guard: Guard, *, root: str = "", reader: str = ""
) -> Callable[..., Awaitable[None]]:
    """The application for a store, behind its guard; `root` is what addresses begin with behind a proxy.

    `reader` is who says something of what is shown, as long as forms do not say otherwise.
    """
    answers = _Answers(store, guard, root, reader)
    routes = [
        Route("/", answers.home),
        Route("/favicon.ico", _no_icon),
        Route("/static/{name}", answers.static),
        Route("/metrics", answers.metrics),
        Route(ANNOTATIONS, answers.annotations, methods=["POST"]),
        Route(ANNOTATIONS, answers.review),
        Route("/t/{id}/s/{span}/value", answers.of(partial(_plain, value_text))),
        Route("/t/{id}/example", answers.of(partial(_plain, example_text))),
        Route("/api/v1/openapi.json", _openapi),
        *(Route(f"/api/v1{path}", answers.of_data(data)) for path, data in api.ROUTES.items()),
        Route("/t/{id}/vs", answers.of(partial(_html, two_traces))),
        *(Route(path, answers.of(partial(_html, page))) for path, page in PAGES.items()),
        Route("/{path:path}", answers.nothing),
    ]
    return Guarded(Starlette(routes=routes), guard, answers.reads)


class _Answers:
    """Makes the answers on a few threads beside the event loop, each from the store as it is then."""

    def __init__(self, store: Store, guard: Guard, root: str, reader: str) -> None:
        self._store = store
        self._guard = guard
        self._root = root
        self._reader = reader
        self._filling = Filling(store)

    @cached_property
    def _limiter(self) -> CapacityLimiter:
        return CapacityLimiter(THREADS)  # in the loop of the server

    def reads(self, request: Request) -> Reads:
        """What the answer to a request is made from."""
        forms = None
        if self._guard.writing:
            name = unquote(cookie_of(request.headers, f"{self._guard.cookie}-reader") or "")
            forms = Forms(self._guard.form_token, name or self._reader)
        return Reads.of(self._store, root=self._root, fill_seconds=FILL_SECONDS, forms=forms)

    async def _off_loop(self, work: Callable[[], Response]) -> Response:
        try:
            return await to_thread.run_sync(work, limiter=self._limiter)
        finally:
            self._filling.go_on()

    def of(self, answer_to: Callable[[Reads, Asked], Response]) -> Answering:
        async def answer(request: Request) -> Response:
            return await self._off_loop(partial(answer_to, self.reads(request), _asked(request)))

        return answer

    def of_data(self, data: api.Data) -> Answering:
        async def answer(request: Request) -> Response:
            work = partial(_json, data, self.reads(request), _asked(request), request.headers)
            return await self._off_loop(work)

        return answer

    async def metrics(self, request: Request) -> Response:
        return await self._off_loop(partial(_metrics, self.reads(request)))

    async def annotations(self, request: Request) -> Response:
        form = await read_form(request)
        if not isinstance(form, Refusal) and not self._guard.is_form_token(form.get("form_token", "")):
            form = Refusal(403, "This form is not of this viewer; open its page again.")
        reads = self.reads(request)
        if isinstance(form, Refusal):
            return _not_done(reads, form, "/traces")
        return await self._off_loop(partial(_done, self._store, self._guard, reads, form))

    async def review(self, _request: Request) -> Response:
        return RedirectResponse(f"{self._root}/review", 303)

    async def home(self, _request: Request) -> Response:
        return RedirectResponse(f"{self._root}/traces", 303)

    async def static(self, request: Request) -> Response:
        return _static(request.path_params["name"])

    async def nothing(self, request: Request) -> Response:
        asked = {"path": request.url.path}
        return await self._off_loop(partial(_html, no_page, self.reads(request), asked))


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
        status, text = status_of(error), f"{error}\n"
    if len(text) > MOST_BYTES:
        text = f"{text[:MOST_BYTES]}\n[the first {MOST_BYTES:,} of {len(text):,} characters]\n"
    return Response(text.encode(errors="backslashreplace"), status, media_type="text/plain; charset=utf-8")


def _json(data: api.Data, reads: Reads, asked: Asked, headers: Mapping[str, str]) -> Response:
    try:
        status, content = data(reads, asked)
    except QueryError as error:
        status, content = 400, {"error": str(error), "position": error.position}
    except AgentTraceError as error:
        status, content = status_of(error), {"error": str(error)}
    body, tag = api.body_of(content)
    if len(body) > MOST_BYTES:
        status, (body, tag) = 413, api.body_of({"error": "the answer is longer than 4 MB; ask for less"})
    if status == 200 and headers.get("if-none-match") == tag:
        return Response(status_code=304, headers={"etag": tag})
    return Response(body, status, {"etag": tag}, "application/json")


def _metrics(reads: Reads) -> Response:
    try:
        return Response(openmetrics(reads.watch), media_type=CONTENT_TYPE)
    except StoreError as error:
        return Response(f"{error}\n", 503, media_type="text/plain; charset=utf-8")


def _done(store: Store, guard: Guard, reads: Reads, form: Mapping[str, str]) -> Response:
    """Do what a form asks for, then lead back to where it stood."""
    after = own_address(form.get("back", ""), "/review")
    try:
        done = keep(store, {name: text for name, text in form.items() if name not in _NOT_KEPT})
    except NotThere as error:
        return _not_done(reads, Refusal(404, str(error)), after)
    except StoreError as error:
        return _not_done(reads, Refusal(503, str(error)), after)
    except AgentTraceError as error:
        return _not_done(reads, Refusal(400, str(error)), after)
    if not done.is_stored:
        text = (
            f"{reads.path} cannot be written now. What you said is in this viewer's memory until it can be."
        )
        return _not_done(reads, Refusal(202, text), after)
    if "failure" not in form and after.partition("?")[0] == "/review":  # what was judged leaves the queue
        after += f"{'&' if '?' in after else '?'}kept={done.id}"
    answer = RedirectResponse(f"{reads.root}{after}", 303)
    if done.reader:
        name = f"{guard.cookie}-reader"
        answer.set_cookie(name, quote(done.reader), max_age=COOKIE_SECONDS, httponly=True, samesite="lax")
    return answer


def _not_done(reads: Reads, refusal: Refusal, back: str) -> Response:
    html = render("not_done.html", reads, refusal=refusal, back=reads.root + back)
    return Response(html, refusal.status, media_type="text/html; charset=utf-8")


def _static(name: str) -> Response:
    kind = STATIC.get(name)
    if kind is None:
        return Response("there is no such file\n", 404, media_type="text/plain")
    content = (files("agenttrace.viewer") / "static" / name).read_bytes()
    return Response(content, 200, {"cache-control": "max-age=300"}, kind)


async def _openapi(_request: Request) -> Response:
    text = (files("agenttrace.viewer") / "openapi.json").read_text("utf-8")
    return Response(text, 200, media_type="application/json")


async def _no_icon(_request: Request) -> Response:
    """Nothing: our pages say that they have none, but browsers ask beside plain texts and JSON, too."""
    return Response(status_code=204)
