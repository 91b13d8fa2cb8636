"""Workers that a supervisor forks before they work, and replaces, as Celery's prefork pool does."""

import os
import subprocess
import sys
import time

import pytest
from recorder_faults import BOUND_NS, numbers, run

from agenttrace.store import open_store

pytestmark = pytest.mark.faults


def test_preforked_workers_that_are_replaced_store_what_is_older_than_the_bound(tmp_path):
    """Scenario 68: as Celery and uwsgi fork, and as they let workers go, through os._exit."""
    path = tmp_path / "traces.db"
    said = list(map(int, run("preforked_workers", path, BOUND_NS / 1e9)))
    assert said == list(range(1, 1 + len(said)))
    assert sorted(numbers(path)) == [0, *said]


APPLICATION = """
import os, sys
from celery import Celery
from agenttrace import Tracer

place = os.environ["PLACE"]
folders = {"data_folder_in": place, "data_folder_out": place}
app = Celery("app", broker="filesystem://", backend="file://" + place)
app.conf.update(broker_transport_options=folders, worker_max_tasks_per_child=5)
tracer = Tracer("celery")

@tracer.observe(span_type="tool")
def work(number):
    return os.getpid()

work(-1)  # in the worker's parent, and in the process that asks
tracer.flush()

@app.task
def handle(number):
    pid = work(number)
    tracer.flush()
    return pid
"""
ASK = """
from application import handle
results = [handle.delay(number) for number in range(20)]
print(*[result.get(timeout=90) for result in results])
"""


def test_celerys_prefork_pool_stores_every_task_once(tmp_path):
    """Scenario 68: Celery itself, whose workers each end after five tasks."""
    pytest.importorskip("celery")
    (tmp_path / "application.py").write_text(APPLICATION)
    (tmp_path / "place").mkdir()
    environment = {
        **os.environ,
        "AGENTTRACE_STORE": str(tmp_path / "traces.db"),
        "PLACE": str(tmp_path / "place"),
        "PYTHONPATH": os.pathsep.join([str(tmp_path), os.environ.get("PYTHONPATH", "")]),
        "C_FORCE_ROOT": "1",
    }
    command = [sys.executable, "-m", "celery", "-A", "application", "worker", "--pool=prefork", "-c", "2"]
    with (tmp_path / "log").open("w") as log:
        worker = subprocess.Popen(command, cwd=tmp_path, env=environment, stdout=log, stderr=log)
    try:
        asked = subprocess.run(
            [sys.executable, "-c", ASK],
            cwd=tmp_path,
            env=environment,
            capture_output=True,
            text=True,
            timeout=120,
        )
        assert asked.returncode == 0, asked.stderr[-2000:] + (tmp_path / "log").read_text()[-2000:]
    finally:
        worker.terminate()
        worker.wait(60)
    store = open_store(tmp_path / "traces.db")
    deadline = time.monotonic() + 20
    while len(store.traces(limit=100)) < 22 and time.monotonic() < deadline:
        time.sleep(0.05)
    calls = [call for line in store.traces(limit=100) for call in store.trace(line.trace_id).tool_calls]
    assert sorted(call.arguments["number"] for call in calls) == [-1, -1, *range(20)]
    assert len({call.output for call in calls}) >= 4  # the two parents, and workers that were replaced
