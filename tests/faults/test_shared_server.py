"""Many processes on one PostgreSQL server, which is killed, as are workers: nothing is lost or twice."""

import os
import random
import signal
import subprocess
import sys
import time

import psycopg
import pytest
from store_faults import scaled

from agenttrace import Tracer
from agenttrace.store import open_store
from agenttrace.work import Observing, read_rules

pytestmark = pytest.mark.faults

WRITER = """
import sys, time
from agenttrace import Tracer

address, number, count = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
tracer = Tracer(f"writer {number}", store=address)

@tracer.observe(span_type="tool")
def step(index):
    return index

@tracer.observe(span_type="agent")
def agent(first):
    for index in range(first, first + 9):
        step(index)

print("ready", flush=True)
for first in range(0, count, 10):
    agent(first)
    while len(tracer._resolve().entrance) > 2_000:  # as quick as the store, not quicker
        time.sleep(0.001)
end = time.monotonic() + 180
while not tracer.flush(5) and time.monotonic() < end:
    pass
stats = tracer.stats()
print(sum(stats["dropped"].values()), flush=True)
tracer.shutdown()
"""

RULES = """
observe:
  - name: calls
    scorers: [Loop]
    rest: 0
"""


def run(code, *arguments):
    return subprocess.Popen([sys.executable, "-c", code, *arguments], stdout=subprocess.PIPE, text=True)


def count(address, statement):
    with psycopg.connect(address) as db:
        return db.execute(statement).fetchone()


def test_four_writers_lose_nothing_and_store_nothing_twice_while_the_server_is_killed(
    own_postgres_server, record_property
):
    each, kills = scaled(3_000, 50_000), scaled(2, 6)
    address = own_postgres_server.address
    writers = [run(WRITER, address, str(number), str(each)) for number in range(4)]
    begin = time.monotonic()
    try:
        for writer in writers:
            assert writer.stdout.readline() == "ready\n"
        for _ in range(kills):
            time.sleep(random.uniform(0.2, scaled(0.6, 2.0)))
            own_postgres_server.kill()
            time.sleep(random.uniform(0.0, scaled(0.3, 1.0)))
            own_postgres_server.start()
        dropped = [int(writer.communicate(timeout=400)[0]) for writer in writers]
    finally:
        for writer in writers:
            writer.kill()
            writer.communicate()
    seconds = time.monotonic() - begin
    stored, different = count(
        address, "SELECT count(*), count(DISTINCT (trace, span)) FROM agenttrace.span_rows"
    )
    assert dropped == [0] * 4
    assert (stored, different) == (4 * each, 4 * each)
    record_property(
        "figure", f"{stored:,} spans of 4 writers, {kills} kills, none lost or twice, {seconds:.0f} s"
    )


def test_each_evaluation_is_scored_once_while_workers_are_killed(
    own_postgres_server, tmp_path, record_property
):
    traces, kills = scaled(150, 2_000), scaled(6, 60)
    address = own_postgres_server.address
    tracer = Tracer("shop", store=address)
    for number in range(traces):
        with (
            tracer.span("agent", span_type="agent"),
            tracer.span("step", span_type="tool", input={"n": number}),
        ):
            pass
    assert tracer.flush(60)
    rules = tmp_path / "rules.yaml"
    rules.write_text(RULES)
    store = open_store(address)
    Observing(store, read_rules(rules)).arrived(
        [span for trace in store.iter_traces() for span in trace.spans]
    )
    command = [
        sys.executable,
        "-m",
        "agenttrace",
        "work",
        "--rules",
        str(rules),
        "--store",
        address,
        "--lease",
        "2",
    ]

    def start():
        return subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    workers, killed = [start() for _ in range(3)], 0
    end = time.monotonic() + 500
    try:
        while (waiting := left(store)) and time.monotonic() < end:
            time.sleep(random.uniform(0.3, 1.5))
            if killed < kills:
                place = random.randrange(len(workers))
                os.kill(workers[place].pid, signal.SIGKILL)
                workers[place].wait()
                workers[place], killed = start(), killed + 1
        assert not waiting
    finally:
        for worker in workers:
            worker.kill()
            worker.wait()
    scored, different = count(address, "SELECT count(*), count(DISTINCT trace_id) FROM agenttrace.scores")
    assert (scored, different) == (traces, traces)
    store.close()
    tracer.shutdown()
    record_property("figure", f"{traces:,} evaluations, {killed} workers killed, each scored once")


def left(store):
    return sum(counts.waiting for counts in store.work_queue().counts().values())
