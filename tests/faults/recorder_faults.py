"""How the recorder's fault tests start children, what they read back."""

import json
import os
import sqlite3
import subprocess
import sys
from pathlib import Path

from store_faults import scaled

CHILD = Path(__file__).with_name("recorder_child.py")
BOUND_NS = 250_000_000
"""Spans that ended so long before a kill are stored: what the README promises."""


def start(command, path, *arguments, extra=os.environ, **options):
    """A child that runs one function of `recorder_child.py`; it dumps its stacks and exits if it hangs."""
    environment = {
        **extra,
        "PYTHONPATH": str(Path(__file__).parents[2]),
        "PYTHONWARNINGS": "ignore:This process:DeprecationWarning",  # that it forks while threads run
    }
    return subprocess.Popen(
        [sys.executable, str(CHILD), command, str(path), *map(str, arguments)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=environment,
        **options,
    )


def finish(child, timeout=120):
    """``(exit code, what it said, what it complained of)``."""
    out, err = child.communicate(timeout=timeout)
    assert "Timeout (" not in err, f"the child hung:\n{err}"
    return child.returncode, out, err


def run(command, path, *arguments, timeout=120, quiet=True, **options):
    """The words of a child that must end well, and without a word of complaint."""
    code, out, err = finish(start(command, path, *arguments, **options), timeout)
    assert code == 0, err
    assert not quiet or err == "", err
    return out.split()


def spans(path):
    """Every stored span as ``{name, input, output, status, id, parent, trace}``, in start order."""
    with sqlite3.connect(path) as db:
        db.row_factory = sqlite3.Row
        tables = {name for (name,) in db.execute("SELECT name FROM sqlite_master")}
        # A process that is killed while it makes its file leaves one without any table.
        ask = "SELECT * FROM spans ORDER BY start_ns" if "spans" in tables else "SELECT 1 WHERE 0"
        rows = [dict(row) for row in db.execute(ask)]
        assert db.execute("PRAGMA integrity_check").fetchone()[0] == "ok"
    db.close()
    for row in rows:
        row["input"] = json.loads(row["input"]) if row["input"] else None
    return rows


def numbers(path, name="work"):
    """The ``n`` of each stored span of this name."""
    return [row["input"]["n"] for row in spans(path) if row["name"] == name]


__all__ = ["BOUND_NS", "finish", "numbers", "run", "scaled", "spans", "start"]
