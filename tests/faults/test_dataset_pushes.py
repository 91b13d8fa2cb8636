"""Datasets that several processes push at once, or that a process is killed while it pushes."""

import random
import time

import pytest
from store_faults import finish, is_sound, rows, scaled, start

from agenttrace.store import SQLiteStore

pytestmark = pytest.mark.faults


def test_versions_that_processes_push_at_once_are_whole_and_each_is_there_once(tmp_path):
    """Scenario 109."""
    path = tmp_path / "traces.db"
    children = [start("push-datasets", path, number, 10) for number in range(4)]
    pushed = sorted(int(version) for child in children for version in finish(child).split())
    assert pushed == list(range(1, 41))
    store = SQLiteStore(path)
    contents = [store.load_dataset("shared", "p", version) for version in pushed]
    assert sorted((content["by"], content["number"]) for content in contents) == [
        (by, number) for by in range(4) for number in range(10)
    ]


def test_a_push_that_a_kill_cuts_short_leaves_whole_versions(tmp_path):
    """Scenario 109: what was confirmed is there, and nothing half."""
    path = tmp_path / "traces.db"
    chance = random.Random(109)
    for attempt in range(scaled(4, 40)):
        child = start("push-datasets", path, attempt, 100_000)
        confirmed = int(child.stdout.readline())
        time.sleep(chance.random() * 0.05)
        child.kill()
        confirmed = max([confirmed, *map(int, child.communicate()[0].split())])
        versions = [number for (number,) in rows(path, "SELECT version FROM datasets ORDER BY version")]
        assert versions == list(range(1, len(versions) + 1))
        assert len(versions) >= confirmed
        newest = SQLiteStore(path).load_dataset("shared", "p")
        assert len(newest["rows"]) == 200
    assert is_sound(path)


def test_a_push_of_what_is_there_makes_no_version(tmp_path):
    """Scenario 109."""
    store = SQLiteStore(tmp_path / "traces.db")
    assert [store.save_dataset("shared", "p", {"a": content}) for content in (1, 1, 2, 2)] == [1, 1, 2, 2]
    store.close()
