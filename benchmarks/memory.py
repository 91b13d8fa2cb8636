"""What recording holds in memory: a span that waits, and the process after many spans."""

from __future__ import annotations

import gc
import sys
import tracemalloc
from dataclasses import dataclass
from pathlib import Path

from benchmarks.cases import sync
from benchmarks.ours import recording_alone, with_sqlite

PAGE = 4096


@dataclass(frozen=True)
class Growth:
    """What the process gained between the first fifth of the spans and the last, all of them stored.

    `blocks` are Python's own memory blocks, exact; `resident` bytes of the system's pages, None where the
    system does not tell.
    """

    spans: int
    blocks: int
    resident: int | None


def queued_bytes(calls: int) -> float:
    """Bytes that one finished span holds until it is stored, its arguments and output included."""
    subject, tracer = recording_alone()
    call = sync(subject.observe)

    def agent() -> None:
        for _ in range(calls):
            call()

    root = subject.observe_root(agent)
    root()
    tracer._pipeline.queue.clear()
    gc.collect()
    tracemalloc.start()
    root()
    held, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    return held / (len(tracer._pipeline.queue))


def growth(directory: Path, spans: int) -> Growth:
    """Record and store many spans; compare memory early with memory at the end."""
    subject, tracer = with_sqlite(directory)
    call = sync(subject.observe)
    per_root, roots_per_flush = 1_000, 20

    def agent() -> None:
        for _ in range(per_root - 1):
            call()

    root = subject.observe_root(agent)
    early: tuple[int, int | None] = (0, None)
    rounds = max(spans // (per_root * roots_per_flush), 5)
    for number in range(rounds):
        for _ in range(roots_per_flush):
            root()
        subject.flush()
        if number == rounds // 5:
            early = _memory()
    late = _memory()
    tracer.shutdown()
    resident = None if early[1] is None or late[1] is None else late[1] - early[1]
    return Growth(rounds * per_root * roots_per_flush, late[0] - early[0], resident)


def _memory() -> tuple[int, int | None]:
    gc.collect()
    try:
        resident = int(Path("/proc/self/statm").read_text().split()[1]) * PAGE
    except OSError:
        resident = None
    return sys.getallocatedblocks(), resident
