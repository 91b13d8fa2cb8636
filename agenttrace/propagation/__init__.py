"""A trace goes on from one process to the next without a line at each call: servers, clients, queues, MCP."""

from __future__ import annotations

from agenttrace.propagation.asgi import ASGIMiddleware
from agenttrace.propagation.instrument import Instrumented, instrument
from agenttrace.propagation.wsgi import WSGIMiddleware

__all__ = ["ASGIMiddleware", "Instrumented", "WSGIMiddleware", "instrument"]
