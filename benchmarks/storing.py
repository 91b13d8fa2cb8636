"""What recording costs the whole process until every span is stored or exported."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

from benchmarks.cases import CASES, Case
from benchmarks.subject import BARE, Subject

PER_ROOT = 100


@dataclass(frozen=True)
class Stored:
    """Microseconds a span, less the bare calls: wall time and processor time of all threads.

    `lost` is the share of the spans that did not arrive; None where that is not known.
    """

    wall_us: float
    cpu_us: float
    spans: int
    lost: float | None

    @property
    def spans_per_s(self) -> float:
        return 1e6 / self.wall_us


def measure_storing(subject: Subject, spans: int, seconds: float, case: Case = CASES[0]) -> Stored:
    """Call as fast as one thread can, in roots of 99 calls, then flush; at most about `seconds` of calls."""
    root, flush = rooted(subject, case), subject.flush
    for _ in range(5):
        root()
    flush()
    before = subject.kept() if subject.kept else 0
    roots = 0
    wall, used = time.perf_counter(), time.process_time()
    deadline = wall + seconds
    while roots < spans // PER_ROOT and (roots == 0 or time.perf_counter() < deadline):
        root()
        roots += 1
    flush()
    wall, used = time.perf_counter() - wall, time.process_time() - used
    made = roots * PER_ROOT
    bare_wall, bare_used = _bare(roots, case)
    lost = None if subject.kept is None else 1 - (subject.kept() - before) / made
    return Stored((wall - bare_wall) / made * 1e6, (used - bare_used) / made * 1e6, made, lost)


def rooted(subject: Subject, case: Case = CASES[0]) -> Callable[[], None]:
    """A call that records a trace of `PER_ROOT` spans."""
    call = case.make(subject.observe)

    def agent() -> None:
        for _ in range(PER_ROOT - 1):
            call()

    return subject.observe_root(agent)


def _bare(roots: int, case: Case) -> tuple[float, float]:
    root = rooted(BARE, case)
    wall, used = time.perf_counter(), time.process_time()
    for _ in range(roots):
        root()
    return time.perf_counter() - wall, time.process_time() - used


def paced(subject: Subject, per_second: int, seconds: float) -> int:
    """Record `per_second` spans for so long, however late that makes it; returns how many."""
    root = rooted(subject)
    made, began = 0, time.perf_counter()
    while made < per_second * seconds:
        root()
        made += PER_ROOT
        ahead = made / per_second - (time.perf_counter() - began)
        if ahead > 0:
            time.sleep(ahead)
    return made
