"""A program that touches the store's file itself loses SQLite's locks, and nothing else."""

import sqlite3
import subprocess
import sys

import pytest

from agenttrace.store import files

_SERVICE = """
import os, shutil, signal, subprocess, sys
from agenttrace import Tracer
path, end = sys.argv[1:]
tracer = Tracer("p", store=path)
work = tracer.observe(lambda x: x, name="service")
other = "from agenttrace import Tracer; other = Tracer('p', store=%r).observe(lambda: 1, name='other')"
other += "; [other() for _ in range(50)]"
work(0)
tracer.flush()
for n in range(3):
    shutil.copy(path, path + ".backup")  # closes a descriptor, and with it lets go of all locks
    subprocess.run([sys.executable, "-c", other % path], check=True)
    for _ in range(100):
        work(n)
    assert not tracer.flush().pending
if end == "killed":
    os.kill(os.getpid(), signal.SIGKILL)
"""


@pytest.mark.parametrize("end", ["exits", "killed"])
def test_a_process_that_copies_its_store_loses_no_span_and_costs_others_none(tmp_path, end):
    path = tmp_path / "traces.db"
    ran = subprocess.run(
        [sys.executable, "-c", _SERVICE, str(path), end], capture_output=True, text=True, check=False
    )
    assert ran.stderr == ""
    db = sqlite3.connect(path)
    assert dict(db.execute("SELECT name, count(*) FROM spans GROUP BY name")) == {
        "service": 301,
        "other": 150,
    }
    assert db.execute("PRAGMA integrity_check").fetchone() == ("ok",)
    db.close()


def test_a_file_that_is_removed_meanwhile_is_put_back(tmp_path):
    path = tmp_path / "a"
    with files.kept_under_another_name(str(path)):
        pass
    assert list(tmp_path.iterdir()) == []
    for removed in (False, True):
        path.write_text("mine")
        with files.kept_under_another_name(str(path)):
            if removed:
                path.unlink()
        assert [one.name for one in tmp_path.iterdir()] == ["a"]
        assert path.read_text() == "mine"
