"""Several processes that record into one file at the same time."""

from __future__ import annotations

import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

from agenttrace.store import SQLiteStore
from benchmarks.ours import with_sqlite
from benchmarks.storing import PER_ROOT, rooted


@dataclass(frozen=True)
class Together:
    """How many spans were made by how many processes, how many the file holds, how long all of it took."""

    processes: int
    made: int
    stored: int
    seconds: float


def measure_processes(directory: Path, processes: int, spans_each: int) -> Together:
    """Run the processes, each recording flat out, then count what the file holds."""
    roots = max(spans_each // PER_ROOT, 1)
    began = time.perf_counter()
    running = [
        subprocess.Popen([sys.executable, "-m", "benchmarks.processes", str(directory), str(roots)])
        for _ in range(processes)
    ]
    failed = [process.args for process in running if process.wait(timeout=300)]
    if failed:
        raise RuntimeError(f"{len(failed)} of {processes} recording processes failed: {failed[0]}")
    seconds = time.perf_counter() - began
    store = SQLiteStore(directory / "traces.db")
    stored = sum(trace.spans for trace in store.traces(limit=processes * roots + 1))
    store.close()
    return Together(processes, processes * roots * PER_ROOT, stored, seconds)


def main() -> None:
    subject, tracer = with_sqlite(Path(sys.argv[1]))
    root = rooted(subject)
    for _ in range(int(sys.argv[2])):
        root()
    tracer.shutdown(timeout=120.0)


if __name__ == "__main__":
    main()
