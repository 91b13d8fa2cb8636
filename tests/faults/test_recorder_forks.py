"""Children that are forked while a span is open go on with its trace, and store what they record."""

import json
import os
import subprocess
import sys
import textwrap

import pytest

pytestmark = pytest.mark.faults

WAYS = {
    "executor": """
        from concurrent.futures import ProcessPoolExecutor
        with ProcessPoolExecutor(2, mp_context=context) as pool:
            list(pool.map(work, range(20)))
    """,
    "pool": """
        with context.Pool(2) as pool:
            pool.map(work, range(20))
            pool.close()
            pool.join()
    """,
    "process": """
        children = [context.Process(target=work, args=(number,)) for number in range(20)]
        for child in children: child.start()
        for child in children: child.join()
    """,
    "fork": """
        for number in range(20):
            child = os.fork()
            if child == 0:
                work(number)
                sys.exit(0)
            os.waitpid(child, 0)
    """,
}


@pytest.mark.parametrize("way", WAYS)
def test_children_forked_inside_a_span_lose_nothing(tmp_path, way):
    """Scenario 65, under an open span: no root of the child's starts its writer."""
    script = """
import json, multiprocessing, os, sys
from agenttrace import Tracer
tracer = Tracer("forks")
context = multiprocessing.get_context("fork")
@tracer.observe(span_type="tool")
def work(number):
    return number
@tracer.observe
def main():
BODY
main()
tracer.flush()
traces = tracer.store.traces()
calls = [call.arguments["number"] for t in traces for call in tracer.store.trace(t.trace_id).tool_calls]
print(json.dumps({"traces": len(traces), "calls": sorted(calls)}))
""".replace("BODY", textwrap.indent(textwrap.dedent(WAYS[way]), "    "))
    environment = {**os.environ, "AGENTTRACE_STORE": str(tmp_path / "traces.db")}
    done = subprocess.run(
        [sys.executable, "-c", script], env=environment, capture_output=True, text=True, timeout=60
    )
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout) == {"traces": 1, "calls": list(range(20))}


def test_a_child_that_records_nothing_starts_no_thread(tmp_path):
    """Scenario 67, under an open span."""
    script = """
import os, sys, threading
from agenttrace import Tracer
tracer = Tracer("forks")
with tracer.span("open"):
    child = os.fork()
    if child == 0:
        os._exit(threading.active_count())
    print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
"""
    environment = {**os.environ, "AGENTTRACE_STORE": str(tmp_path / "traces.db")}
    done = subprocess.run(
        [sys.executable, "-c", script], env=environment, capture_output=True, text=True, timeout=60
    )
    assert done.stdout.strip() == "1", done.stderr
