"""Other interpreters in the same process."""

import os
import subprocess
import sys

import pytest

pytestmark = pytest.mark.faults

MAIN = """
try:
    import _interpreters as interpreters
except ImportError:
    import _xxsubinterpreters as interpreters
code = '''
from agenttrace import Tracer
tracer = Tracer("inside")

@tracer.observe(span_type="tool")
def work(number):
    return number

for number in range(20):
    work(number)
flushed = bool(tracer.flush(10))
tracer.shutdown(10)
try:
    import pydantic_core
except ImportError:
    print("refused" if not flushed else "lost", flush=True)
else:
    print("done" if flushed else "waits", flush=True)
'''
made = interpreters.create()
interpreters.run_string(made, code)
interpreters.destroy(made)
from agenttrace.store import open_store
print(len(open_store().traces(limit=100)))
"""


def survives_wrapt(environment):
    """Whether this Python comes to its end after a sub-interpreter with nothing but wrapt was destroyed."""
    before, _, rest = MAIN.partition("code = ")
    destroys = rest[rest.index("made = ") : rest.index("from agenttrace.store")]
    code = f"{before}code = 'import wrapt'\n{destroys}"
    return subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True).returncode == 0


def test_a_sub_interpreter_records_and_can_be_destroyed_after_shutdown(tmp_path):
    """Scenario 72."""
    environment = {**os.environ, "AGENTTRACE_STORE": str(tmp_path / "traces.db"), "PYTHONWARNINGS": "ignore"}
    done = subprocess.run(
        [sys.executable, "-c", MAIN], env=environment, capture_output=True, text=True, timeout=60
    )
    if done.returncode < 0 and "Py_EndInterpreter" not in done.stderr and not survives_wrapt(environment):
        pytest.skip("this Python crashes where a sub-interpreter has imported wrapt, without us too")
    assert done.returncode == 0, done.stderr[-2000:]
    if "does not support loading in subinterpreters" in done.stderr:  # said once, and `flush` is false
        assert done.stdout.split() == ["refused", "0"]
        pytest.skip("pydantic_core works in no sub-interpreter here: nothing is stored, which is said")
    assert done.stdout.split() == ["done", "20"], done.stderr[-2000:]


THREADS = """
import sys, threading
from agenttrace import Tracer
assert not sys._is_gil_enabled(), "something switched the global lock on"
tracer = Tracer("threads")
work = tracer.observe(lambda number: [number], name="work", span_type="tool")
together = threading.Barrier(8)

def many(first):
    together.wait(10)
    for number in range(first, first + 500):
        assert work(number) == [number]

threads = [threading.Thread(target=many, args=(500 * n,)) for n in range(8)]
for thread in threads: thread.start()
for thread in threads: thread.join()
assert tracer.flush(30)
print(sum(1 for _ in tracer.store.traces(limit=10_000)))
"""


@pytest.mark.skipif(getattr(sys, "_is_gil_enabled", lambda: True)(), reason="this Python has a global lock")
def test_threads_without_a_global_lock_lose_nothing(tmp_path):
    """Scenario 72: `make pythons` runs this where such a Python is installed."""
    environment = {**os.environ, "AGENTTRACE_STORE": str(tmp_path / "traces.db"), "PYTHONWARNINGS": "ignore"}
    done = subprocess.run(
        [sys.executable, "-c", THREADS], env=environment, capture_output=True, text=True, timeout=60
    )
    assert done.returncode == 0, done.stderr[-2000:]
    assert done.stdout.split() == ["4000"]
