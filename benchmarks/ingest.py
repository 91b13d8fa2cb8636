"""How many spans a second get from the wire, or from our own recorder, into a store that others read.

Each server runs as a process of its own; the same requests (OTLP in protobuf, 500 spans each, traces of ten,
arguments and outputs of 100 bytes) are sent to it over four connections at once. The clock stops when all
spans stand in its database. MLflow and Phoenix are started from an interpreter that has them; both keep
their spans in SQLite, as ours does here.

    python benchmarks/ingest.py [--quick] [--json] [--peers-python peers/bin/python]
"""

from __future__ import annotations

import json
import os
import signal
import socket
import sqlite3
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

from benchmarks.options import parse as options_of
from benchmarks.options import root

SPANS_A_REQUEST, SPANS_A_TRACE, SENDERS = 500, 10, 4
REQUESTS, QUICK_REQUESTS = 200, 20
SECONDS = 600.0
OURS = {"agenttrace": 2, "agenttrace, 1 process": 1, "agenttrace, in itself": 0}
"""Processes that store what arrives."""


def request(number: int) -> bytes:
    """A request of OTLP in protobuf."""
    from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

    message = ExportTraceServiceRequest()
    resource = message.resource_spans.add()
    name = resource.resource.attributes.add()
    name.key, name.value.string_value = "service.name", "shop"
    spans = resource.scope_spans.add()
    now = time.time_ns()
    for index in range(SPANS_A_REQUEST):
        trace, place = divmod(number * SPANS_A_REQUEST + index, SPANS_A_TRACE)
        span = spans.spans.add()
        span.trace_id = (trace + 1).to_bytes(16, "big")
        span.span_id = (trace * SPANS_A_TRACE + place + 1).to_bytes(8, "big")
        if place:
            span.parent_span_id = (trace * SPANS_A_TRACE + 1).to_bytes(8, "big")
        span.name = "execute_tool search" if place else "agent"
        span.start_time_unix_nano, span.end_time_unix_nano = now + place * 1000, now + place * 1000 + 900
        facts = {
            "gen_ai.operation.name": "execute_tool" if place else "invoke_agent",
            "gen_ai.tool.name": "search",
            "gen_ai.tool.call.arguments": json.dumps(
                {
                    "query": f"trade winds of {trace}",
                    "limit": 5,
                    "note": "what the user asked for, in a few words of his own",
                }
            ),
            "gen_ai.tool.call.result": "a result of some length that says what was found about the winds "
            * 2,
        }
        for key, value in facts.items():
            entry = span.attributes.add()
            entry.key, entry.value.string_value = key, value
    return bytes(message.SerializeToString())


def free_port() -> int:
    with socket.socket() as server:
        server.bind(("127.0.0.1", 0))
        return int(server.getsockname()[1])


@contextmanager
def running(command: list[str], port: int, **environment: str) -> Iterator[None]:
    """A server as a child process, from when it listens until the block ends."""
    process = subprocess.Popen(
        command,
        env={**os.environ, **environment},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    try:
        until = time.monotonic() + 120
        while True:
            with socket.socket() as client:
                if client.connect_ex(("127.0.0.1", port)) == 0:
                    break
            if process.poll() is not None or time.monotonic() > until:
                raise RuntimeError(f"{command[:3]} did not start")
            time.sleep(0.2)
        time.sleep(2)
        yield
    finally:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGTERM)
            try:
                process.wait(20)
            except subprocess.TimeoutExpired:
                os.killpg(process.pid, signal.SIGKILL)
                process.wait()


def send_all(bodies: list[bytes], url: str, **headers: str) -> None:
    def send(body: bytes) -> None:
        until = time.monotonic() + SECONDS
        named = {"content-type": "application/x-protobuf", **headers}
        while True:
            try:
                urllib.request.urlopen(urllib.request.Request(url, body, named), timeout=120).read()
                return
            except urllib.error.HTTPError as error:  # too much waits there: again, as exporters do
                if error.code not in (429, 503) or time.monotonic() > until:
                    raise RuntimeError(f"{error.code}: {error.read()[:300]!r}") from error
                time.sleep(0.1)

    with ThreadPoolExecutor(SENDERS) as pool:
        list(pool.map(send, bodies))


def rows(path: Path, table: str) -> int:
    try:
        db = sqlite3.connect(f"file:{path}?mode=ro", uri=True, timeout=30)
        try:
            return int(db.execute(f"SELECT count(*) FROM {table}").fetchone()[0])
        finally:
            db.close()
    except sqlite3.Error:
        return 0


def seconds_until(bodies: list[bytes], url: str, stored: Callable[[], int], **headers: str) -> float:
    wanted = len(bodies) * SPANS_A_REQUEST
    begin = time.perf_counter()
    send_all(bodies, url, **headers)
    until = time.monotonic() + SECONDS
    while stored() < wanted:
        if time.monotonic() > until:
            raise RuntimeError(f"{stored()} of {wanted} spans were stored")
        time.sleep(0.05)
    return time.perf_counter() - begin


def ours(bodies: list[bytes], folder: Path, processes: int) -> float:
    """`agenttrace serve` with a store in a file, and so many processes that fill it."""
    port, path = free_port(), folder / f"ours-{processes}.db"
    command = [
        sys.executable,
        "-m",
        "agenttrace",
        "serve",
        "--no-token",
        "--port",
        str(port),
        "--store",
        str(path),
        "--processes",
        str(processes),
    ]
    with running(command, port, PYTHONPATH=str(root())):
        return seconds_until(bodies, f"http://127.0.0.1:{port}/v1/traces", lambda: rows(path, "span_rows"))


def mlflow(bodies: list[bytes], folder: Path, python: str) -> float:
    port, path = free_port(), folder / "mlflow.db"
    command = [
        python,
        "-m",
        "mlflow",
        "server",
        "--port",
        str(port),
        "--backend-store-uri",
        f"sqlite:///{path}",
    ]
    with running(command, port, MLFLOW_DISABLE_TELEMETRY="true", DO_NOT_TRACK="true"):
        address = f"http://127.0.0.1:{port}/v1/traces"
        return seconds_until(bodies, address, lambda: rows(path, "spans"), **{"x-mlflow-experiment-id": "0"})


def phoenix(bodies: list[bytes], folder: Path, python: str) -> float:
    port = free_port()
    environment = {
        "PHOENIX_PORT": str(port),
        "PHOENIX_HOST": "127.0.0.1",
        "PHOENIX_GRPC_PORT": str(free_port()),
        "PHOENIX_WORKING_DIR": str(folder),
        "PHOENIX_TELEMETRY_ENABLED": "false",
    }
    with running([python, "-m", "phoenix.server.main", "serve"], port, **environment):
        address = f"http://127.0.0.1:{port}/v1/traces"
        return seconds_until(bodies, address, lambda: rows(folder / "phoenix.db", "spans"))


def main() -> None:
    options = options_of(__doc__)
    count = QUICK_REQUESTS if options.quick else REQUESTS
    bodies = [request(number) for number in range(count)]
    figures: dict[str, Any] = {}
    with tempfile.TemporaryDirectory() as directory:
        runs: list[tuple[str, Callable[[], float]]] = [
            (name, partial(ours, bodies, Path(directory), processes)) for name, processes in OURS.items()
        ]
        for python in options.interpreters:
            runs += [
                ("MLflow", lambda python=python: mlflow(bodies, Path(directory), python)),  # type: ignore[misc]
                ("Phoenix", lambda python=python: phoenix(bodies, Path(directory), python)),  # type: ignore[misc]
            ]
        for name, run in runs:
            try:
                figures[name] = round(count * SPANS_A_REQUEST / run())
            except (RuntimeError, OSError) as error:
                figures[name] = f"not measured: {error}"
    if options.json:
        print(json.dumps(figures))
        return
    own = figures["agenttrace"]
    for name, figure in figures.items():
        ratio = f"{own / figure:>8.1f} ×" if isinstance(figure, int) and isinstance(own, int) else ""
        print(f"{name:22} {figure if isinstance(figure, str) else f'{figure:>9,} spans/s'} {ratio}")


if __name__ == "__main__":
    main()
