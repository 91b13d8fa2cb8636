"""`OTLPEndpoint`: an address on this machine that takes agents' spans, for the runs that wait for them."""

from __future__ import annotations

import secrets
import threading
from collections.abc import Sequence
from types import TracebackType

from agenttrace.core.errors import ConfigError
from agenttrace.core.numbers import is_number
from agenttrace.core.span import Span
from agenttrace.http.listening import listening_socket
from agenttrace.process.threads import start_thread
from agenttrace.receiver import Intake, Keeper, OTLPReceiver
from agenttrace.receiver.application import Headers
from agenttrace.receiver.outcome import Outcome
from agenttrace.remote_agents.environment import TOKEN_HEADER, otlp_environment
from agenttrace.remote_agents.remote_run import RemoteRun
from agenttrace.tracing.capture import Capture

WAIT = 10.0
PAUSE = 0.5
MOST_RUNS = 10_000
"""Runs that are remembered, ended ones too: what comes late of them still reaches the store."""
_CLOSING_SECONDS = 10.0


class OTLPEndpoint:
    """Takes OTLP over HTTP on a free port of 127.0.0.1, from whoever has the token.

    An evaluation with ``otlp=True`` makes one for itself. Make one where the agent is a server that outlives
    the evaluation: start the server with `environment`, and pass the endpoint on as ``otlp=endpoint``. Then
    spans belong to a run by the trace id of the request's `traceparent` alone.

    Use it with ``with``, or call `close`. Nothing listens before `endpoint` is first asked for.

    Args:
        wait: How many seconds to wait for spans once an agent has ended: the first, or one whose parent is
            missing. Evaluations bound it by their own timeout.
        pause: How many seconds nothing must have come where nothing is known to be missing. More for servers
            that send later than `environment` tells them to.

    Raises:
        ConfigError: not numbers of seconds from 0.
    """

    def __init__(self, *, wait: float = WAIT, pause: float = PAUSE) -> None:
        for name, value in (("wait", wait), ("pause", pause)):
            if not (is_number(value) and value >= 0):
                raise ConfigError(f"{name} is a number of seconds from 0, got {value!r}")
        self._wait = wait
        self._pause = pause
        self.token = secrets.token_hex(16)
        self._lock = threading.Lock()
        self._by_token: dict[str, RemoteRun] = {}
        self._by_trace: dict[int, RemoteRun] = {}
        self._refused = 0
        self._of_others = 0
        self._server: _Server | None = None

    def __enter__(self) -> OTLPEndpoint:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    @property
    def endpoint(self) -> str:
        """The address, without ``/v1/traces``; it is listened on from here on."""
        with self._lock:
            if self._server is None:
                self._server = _Server(self)
            return self._server.address

    @property
    def wait(self) -> float:
        """As it was given."""
        return self._wait

    @property
    def pause(self) -> float:
        """As it was given."""
        return self._pause

    @property
    def environment(self) -> dict[str, str]:
        """The variables for a server that is started before the evaluation; they name no trace."""
        return otlp_environment(self.endpoint, self.token, {})

    def run_in(self, captured: object) -> RemoteRun:
        """Begin a run, whose spans become part of an open capture.

        Raises:
            ConfigError: that is no `Capture` of ours, or none that is open.
        """
        scope = captured.scope if isinstance(captured, Capture) else None
        if scope is None:
            raise ConfigError(
                f"otlp needs an open capture of agenttrace's own, got {type(captured).__name__}; "
                "give tracer=Tracer(…), or leave it out"
            )
        run = RemoteRun(self, secrets.token_hex(16), scope)
        with self._lock:
            self._by_token[run.token] = run
            self._by_trace[scope.trace_key] = run
            while len(self._by_token) > MOST_RUNS:
                self._by_token.pop(next(iter(self._by_token)))
                self._by_trace.pop(next(iter(self._by_trace)))
        return run

    def admit(self, headers: Headers) -> str | Outcome:
        """The token of a request, which stands for the project of its spans; why it is refused without."""
        token = headers.get(TOKEN_HEADER, "")
        if token in self._by_token or secrets.compare_digest(token.encode(), self.token.encode()):
            return token
        self._refused += 1
        return Outcome(401, f"the header {TOKEN_HEADER} has the token of no run here")

    def write(self, spans: Sequence[Span]) -> None:
        """Hand spans to the runs that they belong to: by their trace, else by the token they came with."""
        by_run: dict[RemoteRun, list[Span]] = {}
        for span in spans:
            run = self._by_trace.get(span.trace_key) or self._by_token.get(span.project)
            if run is None:
                self._of_others += 1
            else:
                by_run.setdefault(run, []).append(span)
        for run, together in by_run.items():
            run.arrived(together)

    def what_came_instead(self) -> str:
        """What came that belongs to no run, in words; empty where nothing did."""
        refused = f"{self._refused} requests had no token of a run" if self._refused else ""
        others = f"{self._of_others} spans came that continue no traceparent of a run"
        return "".join(f"; {text}" for text in (refused, others if self._of_others else "") if text)

    def close(self) -> None:
        """Listen no more. What was taken is handed on before."""
        with self._lock:
            server, self._server = self._server, None
        if server is not None:
            server.close()


class _Server:
    """The server of one endpoint, on a thread of its own."""

    def __init__(self, endpoint: OTLPEndpoint) -> None:
        import uvicorn  # on use: it takes a while to load

        self._intake = Intake(Keeper(endpoint))
        listener = listening_socket("127.0.0.1", 0)
        self.address = f"http://127.0.0.1:{listener.getsockname()[1]}"
        config = uvicorn.Config(
            OTLPReceiver(self._intake, endpoint.admit),
            log_config=None,
            log_level="error",
            access_log=False,
            lifespan="off",
            ws="none",
            server_header=False,
            proxy_headers=False,
            timeout_graceful_shutdown=1,
        )
        self._server = uvicorn.Server(config)
        self._thread = start_thread(lambda: self._server.run(sockets=[listener]), "otlp")

    def close(self) -> None:
        """End the thread."""
        self._server.should_exit = True
        self._thread.join(_CLOSING_SECONDS)
        self._intake.close(_CLOSING_SECONDS)
