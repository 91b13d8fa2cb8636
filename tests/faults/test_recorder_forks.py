"""Children that are forked while a span is open go on with its trace, and store what they record."""

import json
import os
import subprocess
import sys
import textwrap

import pytest

from agenttrace.store import open_store

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


SLOW_IMPORT = """
import importlib.util, os, sys, time

class Slow:
    '''Takes its time over the library that writing needs, as a slow disk does.'''
    def find_spec(self, name, path=None, target=None):
        if name != "pydantic_core":
            return None
        sys.meta_path.remove(self)
        spec = importlib.util.find_spec(name)
        load = spec.loader.exec_module
        def slowly(module):
            time.sleep(2.0)
            load(module)
        spec.loader.exec_module = slowly
        return spec

sys.meta_path.insert(0, Slow())
from agenttrace import Tracer
tracer = Tracer("forks")
work = tracer.observe(lambda number: number, name="work", span_type="tool")
with tracer.span("open"):
    work(0)
    while "pydantic_core" not in sys.modules:
        time.sleep(0.001)
    child = os.fork()
    work(1 if child else 2)
    if not child:
        os._exit(0 if tracer.flush(10) else 1)
    print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
assert tracer.flush(60)
[trace] = tracer.store.traces()
print(*sorted(call.arguments["number"] for call in tracer.store.trace(trace.trace_id).tool_calls))
"""


def test_a_child_forked_while_the_writer_imports_does_not_wait_for_its_parents_import(tmp_path):
    """Scenario 64: the lock of a module that is being imported is never released in the child."""
    environment = {**os.environ, "AGENTTRACE_STORE": str(tmp_path / "traces.db"), **QUIET}
    done = subprocess.run(
        [sys.executable, "-c", SLOW_IMPORT], env=environment, capture_output=True, text=True, timeout=60
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.split() == ["0", "0", "1", "2"], done.stderr


QUIET = {"PYTHONWARNINGS": "ignore:This process:DeprecationWarning"}  # that it forks while threads run

EARLY_FORKS = """
import os, sys
from agenttrace import Tracer
tracer = Tracer("forks")
work = tracer.observe(lambda number: number, name="work", span_type="tool")

@tracer.observe
def main():
    children = []
    for number in range(8):
        child = os.fork()
        if not child:
            work(number)
            os._exit(0 if tracer.flush(20) else 1)
        children.append(child)
    return [os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) for child in children]

print(*main())
"""


def test_children_forked_as_soon_as_the_first_trace_begins_lose_nothing(tmp_path):
    """Scenario 64, while the writer imports and opens the store."""
    environment = {**os.environ, "AGENTTRACE_STORE": str(tmp_path / "traces.db"), **QUIET}
    done = subprocess.run(
        [sys.executable, "-c", EARLY_FORKS], env=environment, capture_output=True, text=True, timeout=60
    )
    assert done.stdout.split() == ["0"] * 8, done.stderr
    assert done.stderr == ""
    store = open_store(tmp_path / "traces.db")
    [trace] = store.traces()
    numbers = sorted(call.arguments["number"] for call in store.trace(trace.trace_id).tool_calls)
    assert numbers == list(range(8))
