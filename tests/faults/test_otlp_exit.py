"""Export at the end of a process, after a kill, across forks and several processes."""

from __future__ import annotations

import json
import os
import sqlite3
import subprocess
import sys
import textwrap
import time

import pytest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

pytestmark = pytest.mark.faults

GUARD = 30
START = """
import faulthandler, json, os, signal, sys, time
if "os.fork" not in open(sys.argv[1]).read():
    faulthandler.dump_traceback_later(%d, exit=True)
from agenttrace import OTLPExporter, Tracer
url, store = sys.argv[2:4]
exporter = OTLPExporter(url, compression="none")
tracer = Tracer("exit", store=store, exporters=[exporter])

def record(*names):
    for name in names:
        with tracer.span(name):
            pass
"""


@pytest.fixture
def run(tmp_path):
    """Run a script with a tracer that exports; returns when its last line was printed, and that line."""

    def start(body, url, store="traces.db"):
        script = tmp_path / f"script_{time.monotonic_ns()}.py"
        script.write_text(START % GUARD + textwrap.dedent(body))
        return subprocess.Popen(
            [sys.executable, str(script), str(script), url, str(tmp_path / store)],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def finish(process, code=0):
        out, err = process.communicate(timeout=GUARD + 30)
        assert process.returncode == code, err[-3000:]
        assert "Traceback" not in err, err[-3000:]
        return json.loads(out.splitlines()[-1]) if out.strip() else None

    def run(body, url, code=0):
        return finish(start(body, url), code)

    run.start, run.finish = start, finish
    return run


def names_in(requests):
    return [
        span.name
        for request in requests
        for resource in ExportTraceServiceRequest.FromString(request.body).resource_spans
        for scope in resource.scope_spans
        for span in scope.spans
    ]


BODY = """
record("one", "two")
print(json.dumps({"left": time.time()}))
"""


def test_a_script_that_just_ends_has_sent_its_spans(endpoint, respond, run):
    server = endpoint(lambda _: respond({}))
    run(BODY, server.url)
    assert names_in(server.requests) == ["one", "two"]


def busy(_, respond):
    return respond({}, 429, retry_after="3600")


def hangs(server, _):
    server.stopped.wait(60)
    return b""


def drips(server, _):
    def body():
        yield b"HTTP/1.1 200 OK\r\ncontent-length: 1000000\r\n\r\n"
        while not server.stopped.wait(0.05):
            yield b" "

    return body()


@pytest.mark.parametrize("trouble", [busy, hangs, drips, None])
def test_no_collector_holds_up_the_end_of_a_process_and_the_next_one_sends(endpoint, respond, run, trouble):
    """Scenarios 88 and 90: a second is given to what is under way, nothing to what is in trouble."""
    server = endpoint(lambda _: trouble(server, respond))
    url = server.url
    if trouble is None:
        server.stop()
    said = run(BODY, url)
    assert time.time() - said["left"] < 15.0
    if trouble is not None:
        server.stop()
    port = int(url.rpartition(":")[2])
    healthy = endpoint(lambda _: respond({}), port)
    deadline = time.monotonic() + 40.0
    while names_in(healthy.requests)[:2] != ["one", "two"]:
        assert time.monotonic() < deadline
        run('record("later")', url)
        time.sleep(0.5)
    assert "later" in names_in(healthy.requests)


def test_what_a_killed_process_had_stored_is_sent_by_another(endpoint, respond, run):
    server = endpoint(lambda _: respond({}, 503))
    body = """
    record(*(f"step-{number}" for number in range(50)))
    tracer.flush(5)
    while not exporter.stats()["traces"]["trouble"]:
        time.sleep(0.01)
    print(json.dumps(exporter.stats()["traces"]["waiting"]), flush=True)
    os.kill(os.getpid(), signal.SIGKILL)
    """
    assert run(body, server.url, code=-9) == 50
    server.answer = lambda _: respond({})
    seen = len(server.requests)
    deadline = time.monotonic() + 40.0
    while len(names_in(server.requests[seen:])) < 50:
        assert time.monotonic() < deadline
        run("exporter.flush(5)", server.url)
    assert names_in(server.requests[seen:])[:50] == [f"step-{number}" for number in range(50)]


@pytest.mark.parametrize("seconds", [0.3, 0.45, 0.6])
def test_a_kill_at_any_moment_leaves_no_stored_span_unsent(run, tmp_path, seconds):
    """What is stored is to be sent, too: both stand in one transaction."""
    process = run.start(
        """
        record("first")
        while not tracer.store.traces():  # however slow it was to begin, it is killed at work
            time.sleep(0.01)
        print("ready", flush=True)
        while True:
            record(*["step"] * 300)
            time.sleep(0.01)
        """,
        "http://127.0.0.1:9",
    )
    assert process.stdout.readline() == "ready\n"
    time.sleep(seconds)
    process.kill()
    process.communicate(timeout=GUARD)
    db = sqlite3.connect(tmp_path / "traces.db")
    stored = db.execute("SELECT count(*) FROM spans").fetchone()[0]
    waiting = db.execute("SELECT total(items) FROM to_send").fetchone()[0]
    missing = db.execute(
        "SELECT count(*) FROM to_send w WHERE NOT EXISTS (SELECT 1 FROM span_rows WHERE id = w.last)"
    ).fetchone()[0]
    db.close()
    assert 0 < stored == waiting
    assert missing == 0


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_forked_children_export_what_is_theirs_once(endpoint, respond, run):
    server = endpoint(lambda _: respond({}))
    body = """
    record("parent-before")
    children = []
    for number in range(4):
        child = os.fork()
        if not child:
            record(f"child-{number}")
            tracer.shutdown()
            os._exit(0)
        children.append(child)
    for child in children:
        os.waitpid(child, 0)
    record("parent-after")
    deadline = time.monotonic() + 20
    while (not exporter.flush(2) or exporter.stats()["traces"]["waiting"]) and time.monotonic() < deadline:
        time.sleep(0.1)
    """
    run(body, server.url)
    expected = ["parent-before", "parent-after", *(f"child-{number}" for number in range(4))]
    assert sorted(names_in(server.requests)) == sorted(expected)


def test_several_processes_with_one_store_send_each_span_once(endpoint, respond, run):
    server = endpoint(lambda _: respond({}))
    body = """
    for number in range(20):
        record(f"{os.getpid()}-{number}")
        time.sleep(0.02)
    deadline = time.monotonic() + 20
    while (not exporter.flush(2) or exporter.stats()["traces"]["waiting"]) and time.monotonic() < deadline:
        time.sleep(0.1)
    """
    started = [run.start(body, server.url) for _ in range(4)]
    for process in started:
        run.finish(process)
    names = names_in(server.requests)
    assert len(names) == len(set(names)) == 80
    for process in started:
        own = [name for name in names if name.startswith(f"{process.pid}-")]
        assert own == [f"{process.pid}-{number}" for number in range(20)]


def test_a_name_server_that_hangs_does_not_hold_up_the_end_of_the_process(run):
    body = """
    import socket
    socket.getaddrinfo = lambda *args, **kwargs: time.sleep(25)
    record("one")
    tracer.flush(0.2)
    print(json.dumps({"left": time.time()}))
    """
    said = run(body, "http://collector.test:4318")
    assert time.time() - said["left"] < 20  # of the 25 that looking up the host takes
