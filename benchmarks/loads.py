"""Loads as agents make them, for every library: real payloads, an app that never rests, many functions.

On the caller's thread a trace is timed as a whole, from the first call to the end of its root: some libraries
do their work there.
"""

from __future__ import annotations

import gc
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any

from benchmarks.cases import CASES, Case
from benchmarks.counters import counted
from benchmarks.percentiles import median
from benchmarks.storing import PER_ROOT, measure_storing, rooted
from benchmarks.subject import BARE, Observe, Subject

PAYLOADS = {
    "0.6 KB": "5 search results",
    "1 KB": "chat of 1 KB",
    "4 KB": "text of 4 KB",
    "9 KB": "conversation of 9 KB",
    "100 KB": "100 KB nested dict",
}
"""The case of each size."""

FUNCTIONS = 2_000
WORK_BETWEEN = 400
"""Turns of a loop between two calls of the app that never rests: about 10 µs."""


@dataclass(frozen=True)
class Load:
    """A span of one payload, less the bare call.

    `caller_us` and `instructions` are those of the calling thread, with the end of its root; `cpu_us` of the
    whole process until the span is stored or exported; `lost` is the share of spans that are not.
    """

    caller_us: float
    instructions: float | None
    cpu_us: float
    lost: float | None


def measure_loads(subject: Subject, *, seconds: float, functions: int = FUNCTIONS) -> dict[str, Any]:
    """All of it, at most about `seconds` for each payload, and as long for the app that never rests."""
    return {
        "payloads": {
            size: asdict(measure_load(subject, _case(name), seconds)) for size, name in PAYLOADS.items()
        },
        "unresting": unresting(subject, seconds),
        "decorating_us": decorating(subject.observe, functions),
    }


def measure_load(subject: Subject, case: Case, seconds: float) -> Load:
    """One payload: traces of a hundred spans on the caller, then until stored what there is time for."""
    root, bare = rooted(subject, case), rooted(BARE, case)
    took, bare_took = [], []
    deadline = time.perf_counter() + seconds
    for _ in range(50):
        bare_took.append(_thread_seconds(bare))
        took.append(_thread_seconds(root))
        subject.settle()
        if time.perf_counter() > deadline and len(took) > 2:
            break
    subject.flush()
    instructions, of_bare = counted(root, 3), counted(bare, 3)
    subject.flush()
    stored = measure_storing(subject, 1_000 if case.name == PAYLOADS["100 KB"] else 20_000, seconds, case)
    return Load(
        caller_us=(median(took) - median(bare_took)) / PER_ROOT * 1e6,
        instructions=None if instructions is None or of_bare is None else (instructions - of_bare) / PER_ROOT,
        cpu_us=stored.cpu_us,
        lost=stored.lost,
    )


def _case(name: str) -> Case:
    return next(case for case in CASES if case.name == name)


def _thread_seconds(root: Callable[[], None]) -> float:
    began = time.thread_time()
    root()
    return time.thread_time() - began


def unresting(subject: Subject, seconds: float) -> dict[str, float | None]:
    """An app thread that computes between its calls and never waits: what it made, and what became of it.

    The library's own threads get the interpreter only where the app's is made to give it up.
    """
    call = CASES[0].make(subject.observe)

    def agent() -> None:
        for _ in range(PER_ROOT - 1):
            call()
            for _ in range(WORK_BETWEEN):
                pass

    root = subject.observe_root(agent)
    root()
    subject.flush()
    before = subject.kept() if subject.kept else 0
    made, began = 0, time.perf_counter()
    while made == 0 or time.perf_counter() < began + seconds:
        root()
        made += PER_ROOT
    took = time.perf_counter() - began
    meanwhile = None if subject.kept is None else (subject.kept() - before) / took
    subject.flush()
    lost = None if subject.kept is None else max(1 - (subject.kept() - before) / made, 0.0)
    return {"made_per_s": made / took, "stored_per_s_meanwhile": meanwhile, "lost": lost}


def decorating(observe: Observe, functions: int) -> float:
    """Microseconds to decorate a function, each with parameters of its own."""
    made = [_function(number) for number in range(functions)]
    gc.collect()
    began = time.thread_time()
    kept = [observe(function) for function in made]
    took = time.thread_time() - began
    assert len(kept) == functions
    return took / functions * 1e6


def _function(number: int) -> Callable[..., Any]:
    """A function with one to four parameters, of names that no other has."""
    parameters = ", ".join(f"value_{number}_{at}: int = {at}" for at in range(number % 4 + 1))
    namespace: dict[str, Any] = {"__name__": __name__}
    exec(f"def tool_{number}({parameters}):\n    return {number}\n", namespace)
    function: Callable[..., Any] = namespace[f"tool_{number}"]
    return function
