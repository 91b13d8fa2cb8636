"""What one recorded call costs the thread that makes it."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from benchmarks.cases import CASES, Call, Case, sync
from benchmarks.percentiles import median, percentile
from benchmarks.subject import Subject, untouched

WARM_UP = 2
"""Blocks of each kind that are run before any is timed."""

THREADS = 8


@dataclass(frozen=True)
class Effort:
    """How long to measure one case: blocks of `calls` calls, until `blocks` or `seconds` are reached.

    `thread_calls` are made by each thread in a block of the threaded case: enough to outlast its start.
    """

    blocks: int
    calls: int
    seconds: float
    thread_calls: int = 100


@dataclass(frozen=True)
class Figures:
    """Microseconds that recording adds to a call, per span: what was observed less what is bare.

    `quiet` is the tenth percentile of the blocks' medians: what is left when other processes do not disturb.
    `bare` is the bare call with the two readings of the clock around it.
    """

    bare: float
    p50: float
    quiet: float
    p99: float


def timed_block(call: Call, count: int, took: list[int]) -> None:
    """Make calls, each timed alone, in nanoseconds."""
    clock = time.perf_counter_ns
    for _ in range(count):
        began = clock()
        call()
        took.append(clock() - began)


async def timed_async_block(call: Call, count: int, took: list[int]) -> None:
    clock = time.perf_counter_ns
    for _ in range(count):
        began = clock()
        await call()
        took.append(clock() - began)


def measure_case(subject: Subject, case: Case, effort: Effort) -> Figures:
    """Alternate blocks of bare and of observed calls, the latter under one root each."""
    bare_call, call = case.make(untouched), case.make(subject.observe)
    loop = asyncio.new_event_loop()
    calls = min(effort.calls, 4) if case.heavy else effort.calls

    def block_of(made: Call, took: list[int]) -> Callable[[], Any]:
        if case.asynchronous:

            async def block() -> None:
                await timed_async_block(made, calls, took)

        else:

            def block() -> None:  # type: ignore[misc] # the other style of the same block
                timed_block(made, calls, took)

        return block

    def run(root: Callable[[], Any]) -> None:
        if case.asynchronous:
            loop.run_until_complete(root())
        else:
            root()

    bare_took: list[int] = []
    took: list[int] = []
    bare_blocks: list[float] = []
    blocks: list[float] = []
    bare_root, root = block_of(bare_call, bare_took), subject.observe_root(block_of(call, took))
    deadline = time.perf_counter() + effort.seconds
    for number in range(effort.blocks + WARM_UP):
        if number == WARM_UP:
            bare_took.clear(), took.clear(), bare_blocks.clear(), blocks.clear()
        run(bare_root)
        run(root)
        bare_blocks.append(median(bare_took[-calls:]))
        blocks.append(median(took[-calls:]))
        subject.settle()
        if time.perf_counter() > deadline and number > WARM_UP:
            break
    loop.close()
    per_span = 1000 * case.spans
    return Figures(
        bare=median(bare_took) / 1000,
        p50=(median(took) - median(bare_took)) / per_span,
        quiet=(percentile(blocks, 0.1) - percentile(bare_blocks, 0.1)) / per_span,
        p99=(percentile(took, 0.99) - median(bare_took)) / per_span,
    )


def measure_threads(subject: Subject, effort: Effort) -> float | None:
    """Microseconds of wall time that recording adds to a call when eight threads call at full speed.

    None for a library that does not record what plain threads do.
    """

    def wall_per_call(made: Call, root: Callable[[Callable[[], None]], Callable[[], None]]) -> float:
        together = threading.Barrier(THREADS + 1)

        def work() -> None:
            together.wait()
            root(lambda: [made() for _ in range(effort.thread_calls)] and None)()
            together.wait()

        threads = [threading.Thread(target=work) for _ in range(THREADS)]
        for thread in threads:
            thread.start()
        together.wait()
        began = time.perf_counter()
        together.wait()
        took = time.perf_counter() - began
        for thread in threads:
            thread.join()
        return took / (THREADS * effort.thread_calls) * 1e6

    bare_call, call = sync(untouched), sync(subject.observe)
    bare, observed = [], []
    kept_before = subject.kept() if subject.kept else 0
    deadline = time.perf_counter() + effort.seconds
    for _ in range(max(effort.blocks // 8, 3)):
        bare.append(wall_per_call(bare_call, untouched))
        observed.append(wall_per_call(call, subject.observe_root))
        subject.settle()
        if time.perf_counter() > deadline:
            break
    subject.flush()
    expected = len(observed) * THREADS * effort.thread_calls
    if subject.kept and subject.kept() - kept_before < expected / 2:
        return None
    return median(observed) - median(bare)


def measure_all(subject: Subject, effort: Effort, *, heavy: bool) -> dict[str, Figures]:
    """Every case, one after the other; `heavy` ones where they are wanted."""
    return {case.name: measure_case(subject, case, effort) for case in CASES if heavy or not case.heavy}
