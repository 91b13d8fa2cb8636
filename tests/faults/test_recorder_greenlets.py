"""Greenlets instead of threads: gevent and eventlet, patched in before or after us."""

import json
import os
import subprocess
import sys

import pytest

from agenttrace.store import open_store

pytestmark = pytest.mark.faults

GEVENT = {
    "patch": "from gevent import monkey; monkey.patch_all()",
    "run": "import gevent; gevent.joinall([gevent.spawn(agent, n) for n in range(20)], raise_error=True)",
    "sleep": "import gevent; gevent.sleep(0)",
}
EVENTLET = {
    "patch": "import eventlet; eventlet.monkey_patch()",
    "run": "import eventlet; [each.wait() for each in [eventlet.spawn(agent, n) for n in range(20)]]",
    "sleep": "import eventlet; eventlet.sleep(0)",
}
SCRIPT = """
import json
{first}
{second}
tracer = Tracer("greenlets")

@tracer.observe(span_type="tool")
def work(n, step):
    {sleep}
    return n

@tracer.observe
def agent(n):
    return [work(n, step) for step in range(3)]

{run}
print(json.dumps(bool(tracer.flush(20))))
"""


@pytest.mark.parametrize("library", ["gevent", "eventlet"])
@pytest.mark.parametrize("order", ["patched before", "patched after"])
def test_greenlets_that_take_turns_store_each_its_own_trace(tmp_path, library, order):
    """Scenario 57."""
    pytest.importorskip(library)
    parts = GEVENT if library == "gevent" else EVENTLET
    lines = [parts["patch"], "from agenttrace import Tracer"]
    first, second = lines if order == "patched before" else reversed(lines)
    script = SCRIPT.format(first=first, second=second, run=parts["run"], sleep=parts["sleep"])
    path = tmp_path / "traces.db"
    environment = {**os.environ, "AGENTTRACE_STORE": str(path), "PYTHONWARNINGS": "ignore"}
    done = subprocess.run(
        [sys.executable, "-c", script], env=environment, capture_output=True, text=True, timeout=60
    )
    assert done.returncode == 0, done.stderr[-2000:]
    assert json.loads(done.stdout) is True
    store = open_store(path)
    traces = [store.trace(line.trace_id) for line in store.traces(limit=100)]
    calls = [[(call.arguments["n"], call.arguments["step"]) for call in t.tool_calls] for t in traces]
    assert sorted(calls) == [[(n, step) for step in range(3)] for n in range(20)]
