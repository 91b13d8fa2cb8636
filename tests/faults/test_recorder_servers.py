"""Servers that load the application once, then fork their workers."""

import os
import socket
import subprocess
import sys
import time
import urllib.request
from urllib.error import URLError

import pytest

from agenttrace.store import open_store

pytestmark = pytest.mark.faults

APPLICATION = """
import os
from agenttrace import Tracer

tracer = Tracer("server")

@tracer.observe(span_type="tool")
def work(path):
    return os.getpid()

@tracer.observe
def handle(path):
    return work(path)

handle("/before the fork")
tracer.flush()

def application(environ, start_response):
    body = str(handle(environ["PATH_INFO"])).encode()
    start_response("200 OK", [("content-length", str(len(body)))])
    return [body]
"""


def test_workers_that_a_preloading_server_forks_store_their_spans(tmp_path):
    """Scenario 68: gunicorn --preload."""
    pytest.importorskip("gunicorn")
    (tmp_path / "application.py").write_text(APPLICATION)
    with socket.create_server(("127.0.0.1", 0)) as probe:
        port = probe.getsockname()[1]
    command = [
        sys.executable,
        "-m",
        "gunicorn",
        "--preload",
        "-w",
        "2",
        "-b",
        f"127.0.0.1:{port}",
        "application",
    ]
    environment = {**os.environ, "AGENTTRACE_STORE": str(tmp_path / "traces.db")}
    server = subprocess.Popen(
        command, cwd=tmp_path, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    try:
        workers = {_answer(port, f"/{number}") for number in range(40)}
    finally:
        server.terminate()
        assert server.wait(60) == 0
    store = open_store(tmp_path / "traces.db")
    traces = [store.trace(line.trace_id) for line in store.traces(limit=100)]
    paths = sorted(call.arguments["path"] for trace in traces for call in trace.tool_calls)
    assert paths == sorted(["/before the fork", *(f"/{number}" for number in range(40))])
    assert workers == {
        call.output for t in traces for call in t.tool_calls if call.arguments["path"] != "/before the fork"
    }


def _answer(port: int, path: str) -> int:
    deadline = time.monotonic() + 20
    while True:
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{port}{path}", timeout=10) as answer:
                return int(answer.read())
        except URLError:
            if time.monotonic() > deadline:
                raise
            time.sleep(0.1)
