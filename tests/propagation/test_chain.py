"""One trace over httpx, FastAPI (streamed), Celery (a real Redis, prefork) and an MCP server."""

import os
import shutil
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

import httpx
import pytest

from agenttrace import Tracer
from agenttrace.propagation import instrument

HERE = Path(__file__).parent
PROGRAM = str(HERE / "chain_processes.py")


def free_port():
    with socket.socket() as server:
        server.bind(("127.0.0.1", 0))
        return server.getsockname()[1]


def wait_for(port, process):
    end = time.monotonic() + 60
    while time.monotonic() < end:
        assert process.poll() is None, "it ended"
        with socket.socket() as client:
            if client.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.05)
    raise AssertionError(f"nothing listens on {port}")


@pytest.fixture
def processes():
    """Starts processes, and ends those that still run, the last one first."""
    started = []

    def start(*command, **environment):
        process = subprocess.Popen(command, env={**os.environ, **environment}, cwd=HERE)
        started.append(process)
        return process

    yield start
    for process in reversed(started):
        process.send_signal(signal.SIGTERM)
        try:
            process.wait(30)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


@pytest.mark.skipif(shutil.which("redis-server") is None, reason="redis-server is not installed")
@pytest.mark.parametrize("pool", ["prefork", "threads"])
def test_one_trace_over_a_client_a_server_a_queue_and_a_tool_server(processes, tmp_path, pool):
    redis_port, web_port = free_port(), free_port()
    environment = {
        "CHAIN_STORE": str(tmp_path / "chain.db"),
        "CHAIN_BROKER": f"redis://127.0.0.1:{redis_port}/0",
        "WEB_PORT": str(web_port),
    }
    command = ["redis-server", "--port", str(redis_port), "--bind", "127.0.0.1", "--save", ""]
    wait_for(redis_port, processes(*command, "--dir", str(tmp_path), "--logfile", "redis.log"))
    worker = ["-A", "chain_processes:queue", "worker", "-P", pool, "-c", "1", "-l", "ERROR"]
    processes(sys.executable, "-m", "celery", *worker, "--without-gossip", "--without-mingle", **environment)
    wait_for(web_port, processes(sys.executable, PROGRAM, "web", **environment))

    tracer = Tracer("chain", store=environment["CHAIN_STORE"])
    with instrument("httpx"), tracer.span("agent", span_type="agent") as agent:
        tracer.set_session_id("s-1")
        tracer.set_customer_id("c-7")
        tracer.set_tags(["beta"])
        address = f"http://127.0.0.1:{web_port}/plan"
        with httpx.stream("GET", address, params={"city": "Paris"}, timeout=90) as response:
            assert "".join(response.iter_text()) == "booking: sun in Paris"
    assert tracer.flush()

    end = time.monotonic() + 60
    trace = tracer.store.trace(agent.trace_id)
    while len(trace.spans) < 5 and time.monotonic() < end:
        time.sleep(0.1)
        trace = tracer.store.trace(agent.trace_id)
    assert {(span.name, span.attributes.get("session.id")) for span in trace.spans} == {
        (name, "s-1") for name in ("agent", "plan", "book", "weather")
    }
    assert {span.attributes.get("enduser.id") for span in trace.spans} == {"c-7"}
    (plan,), attempts, (weather,) = (
        [span for span in trace.spans if span.name == name] for name in ("plan", "book", "weather")
    )
    assert plan.parent_id == agent.span_id
    assert [span.input["attempt"] for span in attempts] == [0, 1]
    assert {span.parent_id for span in attempts} == {plan.span_id}
    assert weather.parent_id == attempts[-1].span_id
    assert trace.tags == ("beta",)
    tracer.shutdown()
