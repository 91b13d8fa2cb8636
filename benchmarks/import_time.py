"""What importing costs: milliseconds over a bare interpreter, fresh processes, interleaved, medians.

python benchmarks/import_time.py [--quick] [--peers-python PATH ...] [--no-peers] [--json]
"""

from __future__ import annotations

import importlib.util
import json
import os
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from typing import Any

from benchmarks.options import parse
from benchmarks.peers.catalogue import PEERS, installed
from benchmarks.peers.fence import environment, isolation
from benchmarks.percentiles import figure, markdown, median, percentile

HEAVY = ["pydantic", "httpx", "yaml", "rich", "sqlite3", "jinja2", "click", "wrapt", "asyncio"]


@dataclass(frozen=True)
class Row:
    """Something to import: the code, in which interpreter, over which other row it is counted."""

    code: str
    interpreter: str = sys.executable
    over: str = "bare Python"
    fenced: bool = False


def rows(interpreters: list[str]) -> dict[str, Row]:
    """What there is to measure here."""
    found = {
        "bare Python": Row("pass"),
        "import agenttrace": Row("import agenttrace"),
        "a Tracer, and a decorated function": Row(
            "import agenttrace; agenttrace.Tracer('p').observe(lambda city: city)"
        ),
        "agenttrace.assert_test": Row("import agenttrace; agenttrace.assert_test"),
        "import wrapt": Row("import wrapt"),
        "import pydantic": Row("import pydantic"),
        "import httpx": Row("import httpx"),
    }
    if importlib.util.find_spec("pytest") is not None:
        found["import pytest"] = Row("import pytest")
        if importlib.util.find_spec("agenttrace.pytest_plugin") is not None:
            code = "import pytest, agenttrace.pytest_plugin"
            found["agenttrace.pytest_plugin, over pytest"] = Row(code, over="import pytest")
    available = installed(interpreters)
    for peer in PEERS:
        if peer.distribution in available:
            interpreter, version = available[peer.distribution]
            bare = f"bare Python of {interpreter}"
            found[bare] = Row("pass", interpreter, over=bare)
            found[f"{peer.distribution} {version} ({peer.imports})"] = Row(
                f"import {peer.imports}", interpreter, over=bare, fenced=True
            )
    return found


def measure(*, quick: bool, interpreters: list[str]) -> dict[str, Any]:
    """Import everything once to have it compiled, then in turns."""
    wanted = rows(interpreters)
    took: dict[str, list[float]] = {name: [] for name in wanted}
    with tempfile.TemporaryDirectory() as home:
        for row in wanted.values():
            _seconds(row, home)
        for turn in range(3 if quick else 11):
            for name, row in wanted.items():
                if turn < (1 if quick else 5) or not row.fenced:  # a peer takes a second or more
                    took[name].append(_seconds(row, home) * 1000)
    return {
        "rows": {
            name: {
                "median": median(took[name]) - (median(took[row.over]) if row.over != name else 0),
                "quiet": percentile(took[name], 0.1)
                - (percentile(took[row.over], 0.1) if row.over != name else 0),
            }
            for name, row in wanted.items()
            if not name.startswith("bare Python of")
        },
        "loaded": loaded(),
    }


def loaded() -> list[str]:
    """Which heavy libraries `import agenttrace` loads."""
    code = f"import sys, agenttrace; print([name for name in {HEAVY!r} if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return [name for name in HEAVY if f"'{name}'" in done.stdout]


def _seconds(row: Row, home: str) -> float:
    command = [row.interpreter, "-c", row.code]
    if row.fenced:
        command = [*isolation(), *command]
        env = dict(environment(home, ""))
    else:
        env = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    began = time.perf_counter()
    done = subprocess.run(command, cwd=home, env=env, capture_output=True, text=True, check=False)
    took = time.perf_counter() - began
    if done.returncode:
        raise RuntimeError(f"{row.code!r} failed in {row.interpreter}:\n{done.stderr}")
    return took


def report(found: dict[str, Any]) -> str:
    """The table as Markdown."""
    table = markdown(
        ["milliseconds over bare Python", "median", "quiet"],
        [[name, figure(row["median"], 1), figure(row["quiet"], 1)] for name, row in found["rows"].items()],
    )
    names = ", ".join(found["loaded"]) or "none"
    return f"{table}\n\nHeavy libraries that `import agenttrace` loads ({', '.join(HEAVY)}): {names}."


if __name__ == "__main__":
    options = parse(__doc__)
    measured = measure(quick=options.quick, interpreters=options.interpreters)
    print(json.dumps(measured) if options.json else report(measured))
