"""The process whose instructions are counted: runs one group of paths in marked blocks.

Every path is run as blocks of n and of 2n operations, warmed up before: what a block costs besides its
operations falls out of the difference. Bare calls of the same functions are counted beside the observed ones.

    python -m benchmarks.count_ours COUNTER GROUP
"""

from __future__ import annotations

import asyncio
import gc
import json
import os
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from agenttrace import ToolOrderScorer
from benchmarks import reference
from benchmarks.assert_test import weather_agent, weather_examples
from benchmarks.cases import CASES, Case
from benchmarks.counters import COUNTERS, CounterName, Meter, meter
from benchmarks.storing import PER_ROOT, rooted
from benchmarks.subject import BARE, Subject

if TYPE_CHECKING:
    from agenttrace import Tracer

BARE_MARK = ", bare"
"""Ends the name of a path whose cost is taken off the path of the same name without it."""

WARM_UP = 10
"""Blocks that are run before any is counted: Python specialises a function at its eighth call."""

REPEAT = 3

CALLS = {
    "sync": 200,
    "async": 200,
    "bound method": 200,
    "small dict": 200,
    "generator of 3": 100,
    "raising": 100,
    "chat of 1 KB": 40,
    "5 search results": 40,
    "100 KB nested dict": 2,
}
"""The cases that are counted on the caller's thread, each with its calls a block."""

STORED = {
    "scalar": ("sync", 1_000),
    "results": ("5 search results", 100),
    "chat": ("chat of 1 KB", 100),
    "text": ("text of 4 KB", 100),
    "conversation": ("conversation of 9 KB", 100),
}
"""The groups that are counted until stored: the case, and the spans that wait when they are stored."""

EVALUATED = 50
"""Examples a block of `assert_test`."""


@dataclass
class Blocks:
    """What was run between the marks: the name and the number of operations of each block."""

    meter: Meter
    run: list[tuple[str, int]] = field(default_factory=list)

    def count(
        self,
        name: str,
        make: Callable[[], Callable[[int], object]],
        operations: int,
        settle: Callable[[], object] = lambda: None,
    ) -> None:
        """Run a block of `operations` and one of twice as many, and again with what `make` makes anew.

        What is made anew lies elsewhere in memory, which can change how much work a hash table has with it.
        `settle` is called between the blocks, uncounted.
        """
        for turn in range(REPEAT):
            block = make()
            for size in (*([1] * WARM_UP if turn == 0 else []), 2 * operations):
                block(size)
                settle()
            gc.collect()
            for size in (operations, 2 * operations):
                self.meter.mark()
                block(size)
                self.meter.mark()
                self.run.append((name, size))
                settle()


def count_calls(blocks: Blocks) -> None:
    """What recording adds to a call on the thread that makes it; nothing is stored."""
    from benchmarks.ours import recording_alone

    subject, _ = recording_alone()
    with asyncio.Runner() as runner:
        for name, calls in CALLS.items():
            _count_case(blocks, name, case_named(name), subject, calls, runner)
        os.environ["AGENTTRACE_ENABLED"] = "0"
        _count_case(blocks, "sync, recording disabled", case_named("sync"), subject, CALLS["sync"], runner)


def _count_case(
    blocks: Blocks, name: str, case: Case, subject: Subject, calls: int, runner: asyncio.Runner
) -> None:
    blocks.count(name + BARE_MARK, lambda: _block(case, BARE, runner), calls)
    blocks.count(name, lambda: _block(case, subject, runner), calls, subject.settle)


def _block(case: Case, subject: Subject, runner: asyncio.Runner) -> Callable[[int], object]:
    call = case.make(subject.observe)
    if case.asynchronous:

        async def async_block(count: int) -> None:
            for _ in range(count):
                await call()

        root = subject.observe_root(async_block)
        return lambda count: runner.run(root(count))

    def block(count: int) -> None:
        for _ in range(count):
            call()

    return subject.observe_root(block)


def count_stored(blocks: Blocks, group: str) -> None:
    """What a span costs until it is in the SQLite file, all threads of the process together.

    A backlog of spans is recorded while no writer runs, then stored by one flush: how many are stored
    together is the same each time, however busy the machine is.
    """
    from benchmarks.ours import with_sqlite

    name, spans = STORED[group]
    case = case_named(name)
    with tempfile.TemporaryDirectory() as directory:
        subject, tracer = with_sqlite(Path(directory))
        stall_the_writer(tracer)
        path = f"{name}, until stored"
        blocks.count(path + BARE_MARK, lambda: _backlogs(case, BARE, spans), spans)
        blocks.count(path, lambda: _backlogs(case, subject, spans), spans)
        dropped = tracer.shutdown(timeout=120.0).dropped
        if dropped:
            raise RuntimeError(f"not every span was stored: {dict(dropped)}")


def _backlogs(case: Case, subject: Subject, spans: int) -> Callable[[int], object]:
    root = rooted(subject, case)

    def block(count: int) -> None:
        for _ in range(max(count // spans, 1)):
            for _ in range(max(min(count, spans) // PER_ROOT, 1)):
                root()
            subject.flush()

    return block


def stall_the_writer(tracer: Tracer) -> None:
    """Have no writer thread: what waits is stored by whoever flushes, in the same way."""
    tracer._pipeline.ensure_worker = lambda: None  # type: ignore[method-assign] # the only way to have no worker


def count_evaluated(blocks: Blocks) -> None:
    """What `assert_test` costs an example, with a scorer and an agent of one tool call.

    All threads of the process are counted together, over making the examples and calling the agent. The
    spans wait until after the block: what storing them costs is counted by itself.
    """
    from agenttrace import Tracer, assert_test

    scorers = [ToolOrderScorer()]
    with tempfile.TemporaryDirectory() as directory:
        for name, store in {"memory": "memory", "SQLite": Path(directory) / "traces.db"}.items():
            tracer = Tracer("count", store=store)
            stall_the_writer(tracer)
            agent = weather_agent(tracer)

            def evaluated(count: int, tracer: Tracer = tracer, agent: Callable[..., str] = agent) -> None:
                assert_test(weather_examples(count), scorers, function=agent, tracer=tracer)

            def alone(count: int, agent: Callable[..., str] = agent) -> None:
                for example in weather_examples(count):
                    agent(example.input["prompt"])

            blocks.count(f"assert_test, {name}{BARE_MARK}", partial(_same, alone), EVALUATED, tracer.flush)
            blocks.count(f"assert_test, {name}", partial(_same, evaluated), EVALUATED, tracer.flush)
            tracer.shutdown(timeout=120.0)


def count_references(blocks: Blocks) -> None:
    """Work that has nothing to do with agenttrace: tells one build of Python from another."""
    for name, loop in reference.LOOPS.items():
        blocks.count(name, partial(_same, loop), 50)


def _same(loop: Callable[[int], None]) -> Callable[[int], None]:
    return loop


def case_named(name: str) -> Case:
    """The case of that name."""
    (case,) = [case for case in CASES if case.name == name]
    return case


GROUPS: dict[str, Callable[[Blocks], None]] = {
    "references": count_references,
    "calls": count_calls,
    **{group: partial(count_stored, group=group) for group in STORED},
    "assert_test": count_evaluated,
}

WITH_THREADS = {*STORED, "assert_test"}
"""The groups in which the threads that a block starts are counted, too."""


def main() -> None:
    counter: CounterName = next(name for name in COUNTERS if name == sys.argv[1])
    group = sys.argv[2]
    blocks = Blocks(meter(counter, inherit=group in WITH_THREADS))
    gc.disable()
    GROUPS[group](blocks)
    if len(sys._current_frames()) > 1:  # it would store at times of its own, and each run would differ
        raise RuntimeError("a thread was started: the writer is not stalled")
    printed: dict[str, Any] = {"blocks": blocks.run, "readings": blocks.meter.readings()}
    print(json.dumps(printed), flush=True)


if __name__ == "__main__":
    main()
