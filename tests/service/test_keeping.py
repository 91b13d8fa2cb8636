"""Processes that store what arrives: started, killed, left alone."""

import json
import os
import signal
import time
from pathlib import Path

import httpx
import pytest
from serving import RULES, request, serve

from agenttrace.receiver.keeping import Request
from agenttrace.receiver.outcome import JSON
from agenttrace.service.keeping import keeping_processes
from agenttrace.store import SQLiteStore


def arriving(trace):
    return Request(json.dumps(request(trace)).encode(), "identity", JSON)


@pytest.fixture
def path(tmp_path):
    return str(tmp_path / "traces.db")


@pytest.fixture
def keeper(path):
    [keeper] = keeping_processes(1, path, None)
    yield keeper
    keeper.close(60)


def stored(path):
    return sorted(int(line.trace_id, 16) for line in SQLiteStore(path).traces(limit=1_000))


def is_there(process_id):
    try:
        os.kill(process_id, 0)
    except ProcessLookupError:
        return False
    return True


def wait_until_gone(process_id):
    until = time.monotonic() + 60
    while is_there(process_id):
        assert time.monotonic() < until
        time.sleep(0.02)


def test_requests_are_read_and_stored_there_and_each_is_told_what_became_of_it(keeper, path):
    kept = keeper.keep([arriving(1), Request(b"{", "identity", JSON), arriving(2)])
    assert [(each.outcome.status, each.spans) for each in kept] == [(200, 1), (400, 0), (200, 1)]
    assert "no JSON" in kept[1].outcome.message
    assert keeper.process_id != os.getpid()
    assert stored(path) == [1, 2]


def test_a_process_that_died_is_replaced_and_none_is_left_at_the_end(keeper, path):
    assert keeper.keep([arriving(1)])[0].outcome.status == 200
    first = keeper.process_id
    os.kill(first, signal.SIGKILL)
    keeper._process.join(60)
    assert keeper.keep([arriving(2)])[0].outcome.status == 200
    second = keeper.process_id
    assert second != first
    keeper.close(60)
    assert not is_there(second)
    assert stored(path) == [1, 2]


def test_requests_whose_process_dies_meanwhile_are_told_to_come_again(keeper, path):
    keeper.keep([arriving(1)])
    keeper._connection = Dying(keeper._connection, keeper.process_id)
    kept = keeper.keep([arriving(2), arriving(3)])
    assert [(each.outcome.status, each.outcome.retry_after) for each in kept] == [(503, 1)] * 2
    assert [each.outcome.status for each in keeper.keep([arriving(2), arriving(3)])] == [200, 200]
    assert stored(path) == [1, 2, 3]


class Dying:
    """A pipe to a process that dies before it answers."""

    def __init__(self, connection, process_id):
        self._connection, self._process_id = connection, process_id

    def send(self, message):
        os.kill(self._process_id, signal.SIGSTOP)  # a quick one would answer before it dies
        self._connection.send(message)

    def recv(self):
        os.kill(self._process_id, signal.SIGKILL)
        return self._connection.recv()

    def close(self):
        self._connection.close()


def test_rules_that_cannot_be_read_there_are_told_of_and_read_when_they_can(tmp_path, path):
    rules = tmp_path / "rules.yaml"
    [keeper] = keeping_processes(1, path, str(rules))
    assert keeper.keep([arriving(1)])[0].outcome.status == 503
    rules.write_text(RULES)
    assert keeper.keep([arriving(1)])[0].outcome.status == 200
    keeper.close(60)


def children_of(process_id):
    threads = Path(f"/proc/{process_id}/task").iterdir()
    return [int(word) for thread in threads for word in (thread / "children").read_text().split()]


@pytest.mark.skipif(not os.path.exists("/proc/self/task"), reason="tells the children of a process by /proc")
def test_a_service_that_is_killed_leaves_no_process_behind(path):
    process, url = serve(path, "--processes", "2")
    for trace in range(1, 9):
        assert httpx.post(f"{url}/v1/traces", json=request(trace), trust_env=False).status_code == 200
    keepers = children_of(process.pid)
    assert keepers
    process.kill()
    process.wait(60)
    process.stdout.close()
    for keeper in keepers:
        wait_until_gone(keeper)
    assert stored(path) == list(range(1, 9))
