"""The process of agenttrace itself: measures, prints the figures as JSON."""

from __future__ import annotations

import argparse
import json
import os
import tempfile
import time
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Any
from unittest.mock import patch

from benchmarks.callers_side import Effort, measure_all, measure_case, measure_threads
from benchmarks.cases import CASES
from benchmarks.loads import measure_loads
from benchmarks.memory import growth, queued_bytes
from benchmarks.ours import recording_alone, with_sqlite
from benchmarks.processes import measure_processes
from benchmarks.storing import measure_storing, paced
from benchmarks.subject import Subject

WANTED_PER_SECOND = 150_000
BURST = 90_000
"""Spans made at full speed: as many as may wait, so that none is dropped."""


def callers_side(subject: Subject, effort: Effort) -> dict[str, Any]:
    found = measure_all(subject, effort, heavy=True)
    return {
        "cases": {name: asdict(figures) for name, figures in found.items()},
        "threads": measure_threads(subject, effort),
    }


def storing(directory: Path, spans: int, repeat: int) -> list[dict[str, Any]]:
    """Bursts, each into a new file."""
    found = []
    for number in range(repeat):
        subject, tracer = with_sqlite(directory / f"burst-{number}")
        found.append(asdict(measure_storing(subject, spans, seconds=60.0)))
        tracer.shutdown()
    return found


def sustained(directory: Path, per_second: int, seconds: float) -> dict[str, Any]:
    """A load that goes on: what was made, what was lost, how long the store took beyond it."""
    subject, tracer = with_sqlite(directory)
    began, used = time.perf_counter(), time.process_time()
    made = paced(subject, per_second, seconds)
    producing = time.perf_counter() - began
    subject.flush()
    found = {
        "wanted_per_s": per_second,
        "made": made,
        "seconds": producing,
        "seconds_until_stored": time.perf_counter() - began,
        "cpu_seconds": time.process_time() - used,
        "stored": tracer.stats()["written"],
    }
    tracer.shutdown()
    return found


def loads(directory: Path, seconds: float) -> dict[str, Any]:
    """Real payloads, an app that never rests, many functions."""
    subject, tracer = with_sqlite(directory)
    found = measure_loads(subject, seconds=seconds)
    tracer.shutdown()
    return found


def disabled(effort: Effort) -> dict[str, float]:
    """What a decorated function adds to a call while recording is switched off."""
    subject, _ = recording_alone()
    with patch.dict(os.environ, {"AGENTTRACE_ENABLED": "0"}):
        return asdict(measure_case(subject, CASES[0], effort))


def measure(directory: Path, quick: bool) -> dict[str, Any]:
    effort = Effort(blocks=30 if quick else 200, calls=100, seconds=0.4 if quick else 2.0, thread_calls=1_000)
    recording, _ = recording_alone()
    stored, tracer = with_sqlite(directory / "calls")
    found: dict[str, Any] = {"recording": callers_side(recording, effort)}
    found["sqlite"] = callers_side(stored, effort)
    tracer.shutdown()
    measured: dict[str, Callable[[], Any]] = {
        "stored": lambda: storing(directory, BURST // (3 if quick else 1), 2 if quick else 5),
        "loads": lambda: loads(directory / "loads", 0.3 if quick else 3.0),
        "disabled": lambda: disabled(effort),
        "sustained": lambda: sustained(directory / "paced", WANTED_PER_SECOND, 1.0 if quick else 4.0),
        "processes": lambda: asdict(measure_processes(directory / "many", 10, 500 if quick else 10_000)),
        "queued_bytes": lambda: queued_bytes(2_000 if quick else 10_000),
        "growth": lambda: asdict(growth(directory / "growth", 100_000 if quick else 1_000_000)),
    }
    return found | {name: step() for name, step in measured.items()}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as directory:
        print(json.dumps(measure(Path(directory), options.quick)), flush=True)


if __name__ == "__main__":
    main()
