"""A model on loopback that gives prepared replies, a tracer that keeps its spans in memory."""

import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from agenttrace.tracer import Tracer

STREAM = "text/event-stream; charset=utf-8"


class Model:
    """Answers the request whose header ``x-reply`` says n with the n-th prepared reply; 0 by default."""

    def __init__(self):
        self.replies = []
        self.requests = []
        model = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"
            wbufsize = -1  # headers and body in one packet

            def do_POST(self):
                size = int(self.headers.get("content-length", 0))
                model.requests.append((self.path, json.loads(self.rfile.read(size) or b"null")))
                status, content_type, body = model.replies[int(self.headers.get("x-reply", 0))]
                self.send_response(status)
                if content_type:
                    self.send_header("content-type", content_type)
                self.send_header("content-length", str(len(body)))
                self.end_headers()
                try:
                    self.wfile.write(body)
                except OSError:
                    pass  # the client left the stream

            def log_message(self, *args):
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        threading.Thread(target=self._server.serve_forever, args=(0.05,), daemon=True).start()
        self.url = f"http://127.0.0.1:{self._server.server_port}"

    def answers(self, body, status=200, content_type="application/json"):
        """Prepare one more reply: JSON data, or text as it is; returns its number."""
        text = body if isinstance(body, str) else json.dumps(body)
        self.replies.append((status, content_type, text.encode()))
        return len(self.replies) - 1

    def streams(self, items, done=True):
        """Prepare a stream of JSON items, each under its own type where it has one."""
        lines = []
        for item in items:
            name = f"event: {item['type']}\n" if "type" in item else ""
            lines.append(f"{name}data: {json.dumps(item)}\n\n")
        return self.answers("".join(lines) + ("data: [DONE]\n\n" if done else ""), content_type=STREAM)

    def close(self):
        self._server.shutdown()
        self._server.server_close()


@pytest.fixture(scope="module")
def served():
    """One model for all tests of a module."""
    model = Model()
    yield model
    model.close()


@pytest.fixture
def model():
    """A model of the test's own."""
    model = Model()
    yield model
    model.close()


@pytest.fixture
def tracer():
    tracer = Tracer("integrations", store="memory")
    yield tracer
    tracer.shutdown()
