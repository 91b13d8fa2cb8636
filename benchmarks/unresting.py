"""What is stored beside an app thread that never rests, and what the app loses to that.

The app makes calls for the given time without a pause, in roots of 99 calls, while the writer's thread
stores them in a SQLite file. *Paced* makes 60,000 spans a second and computes in between. *Lost* are spans
that the full queue refused. *Calls lost* compares the app with one whose records are thrown away at once;
*explained* is the writer's time on the processor as a share of the time that passed: Python runs one thread
at a time, so what the writer uses the app cannot have. *Collector* is the share that Python's garbage
collector takes, beyond that of the app alone: it goes through whatever waits, up to 100,000 records.

How peers fare beside such an app, for a moment, stands in the table of real payloads.

    python benchmarks/unresting.py [--quick] [--json]
"""

from __future__ import annotations

import gc
import json
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from agenttrace import Tracer
from benchmarks.cases import CASES, Case
from benchmarks.options import parse
from benchmarks.ours import recording_alone, with_sqlite
from benchmarks.percentiles import figure, markdown
from benchmarks.storing import PER_ROOT, rooted

SECONDS = 30.0
PACE = 60_000
"""Spans a second of the paced app."""

LOADS = {
    "scalars, paced": ("sync", PACE),
    "scalars": ("sync", None),
    "chat of 1 KB": ("chat of 1 KB", None),
}
"""Each load: its case, and the spans a second; None: as many as the thread can make."""


def measure(*, quick: bool) -> dict[str, Any]:
    """The figures of each load, and how long each was kept up."""
    seconds = 1.0 if quick else SECONDS
    return {"seconds": seconds, "rows": {name: _measure(*load, seconds) for name, load in LOADS.items()}}


def _measure(name: str, pace: int | None, seconds: float) -> dict[str, float | None]:
    case = next(case for case in CASES if case.name == name)
    alone, of_alone = (None, 0.0) if pace else _alone(case, seconds / 3)
    with tempfile.TemporaryDirectory() as directory:
        subject, tracer = with_sqlite(Path(directory))
        root = rooted(subject, case)
        root()
        subject.flush()
        stored_before, others_before = _written(tracer), _other_threads()
        with _collecting() as collected:
            made, took = _run(root, seconds, pace)
        stored, others = _written(tracer) - stored_before, _other_threads() - others_before
        lost = tracer.shutdown(timeout=120.0).dropped
    return {
        "made_per_s": made / took,
        "stored_per_s": stored / took,
        "lost": sum(lost.values()) / made,
        "calls_lost": None if alone is None else 1 - made / took / alone,
        "explained": others / took,
        "collector": None if alone is None else sum(collected) / took - of_alone,
    }


@contextmanager
def _collecting() -> Iterator[list[float]]:
    """Seconds of each run of the garbage collector in the block."""
    took: list[float] = []
    began = 0.0

    def note(phase: str, _: dict[str, int]) -> None:
        nonlocal began
        if phase == "start":
            began = time.perf_counter()
        else:
            took.append(time.perf_counter() - began)

    gc.callbacks.append(note)
    try:
        yield took
    finally:
        gc.callbacks.remove(note)


def _alone(case: Case, seconds: float) -> tuple[float, float]:
    """Spans a second of an app whose records are thrown away, and the share that the collector takes."""
    subject, tracer = recording_alone()
    root = rooted(subject, case)

    def settled() -> None:
        root()
        subject.settle()

    with _collecting() as collected:
        made, took = _run(settled, seconds, None)
    tracer.shutdown(timeout=1.0)
    return made / took, sum(collected) / took


def _run(root: Callable[[], object], seconds: float, pace: int | None) -> tuple[int, float]:
    """The spans made, and how long that took. No thread is waited for: not even between paced roots."""
    made, began = 0, time.perf_counter()
    end, now = began + seconds, began
    while now < end:
        if pace is None or made < (now - began) * pace:
            root()
            made += PER_ROOT
        now = time.perf_counter()
    return made, now - began


def _written(tracer: Tracer) -> int:
    return int(tracer.stats()["written"])


def _other_threads() -> float:
    """Seconds on the processor of every thread but this one."""
    return time.process_time() - time.thread_time()


def report(found: dict[str, Any]) -> str:
    """The table as Markdown."""
    header = [
        f"{found['seconds']:.0f} s of",
        "made/s",
        "stored/s meanwhile",
        "lost",
        "calls lost",
        "explained",
        "collector",
    ]
    return markdown(
        header,
        [
            [
                name,
                figure(row["made_per_s"]),
                figure(row["stored_per_s"]),
                _percent(row["lost"]),
                _percent(row["calls_lost"]),
                _percent(row["explained"]),
                _percent(row["collector"]),
            ]
            for name, row in found["rows"].items()
        ],
    )


def _percent(share: float | None) -> str:
    return "—" if share is None else f"{share:.1%}"


if __name__ == "__main__":
    options = parse(__doc__)
    measured = measure(quick=options.quick)
    print(json.dumps(measured) if options.json else report(measured))
