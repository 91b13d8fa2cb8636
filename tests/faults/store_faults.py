"""Counts, children and checks that the store's fault tests share."""

import os
import sqlite3
import subprocess
import sys
from pathlib import Path

from agenttrace.core.span import Span

CHILD = Path(__file__).with_name("store_child.py")


def scaled(small, full):
    """How often a fault is repeated: ``AGENTTRACE_FAULT_SCALE=full`` for the whole count."""
    return full if os.environ.get("AGENTTRACE_FAULT_SCALE") == "full" else small


def a_span(span=1, trace=1, **fields):
    return Span(
        trace_key=trace, span_key=span, **{"name": "work", "span_type": "tool", "project": "p", **fields}
    )


def start(*arguments):
    """A child process that runs one command of `store_child.py`; it dumps its stacks after a minute."""
    return subprocess.Popen(
        [sys.executable, str(CHILD), *map(str, arguments)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])},
    )


def finish(child, timeout=60):
    """Its output; a child that failed shows why."""
    out, err = child.communicate(timeout=timeout)
    assert child.returncode == 0, err
    return out


def ask(child, word):
    """Let a child that obeys do one thing; its answer."""
    child.stdin.write(word + "\n")
    child.stdin.flush()
    answer = child.stdout.readline().split()
    assert answer[:1] == [word], child.communicate()
    return answer[1:]


def run(*arguments):
    return finish(start(*arguments))


def rows(path, query, *values):
    db = sqlite3.connect(path)
    try:
        return db.execute(query, values).fetchall()
    finally:
        db.close()


def count(path):
    return rows(path, "SELECT count(*) FROM spans")[0][0]


def is_sound(path):
    return rows(path, "PRAGMA integrity_check") == [("ok",)]
