"""Counts user-mode instructions: by the processor's counter where it may be read, else by valgrind.

Unlike microseconds, instructions hardly depend on what else the machine does. What is counted runs in a
process of its own, where a `Meter` marks the beginning and the end of each block; `run` starts that process
and gives the number of instructions up to each mark.
"""

from __future__ import annotations

import ctypes
import errno
import json
import os
import platform
import re
import shutil
import struct
import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Literal, Protocol

from benchmarks.options import root

CounterName = Literal["perf_event", "callgrind"]

COUNTERS: tuple[CounterName, ...] = ("perf_event", "callgrind")
"""In the order of preference: valgrind takes about fifty times as long."""

_SYSTEM_CALLS = {"x86_64": 298, "aarch64": 241}
_INSTRUCTIONS = (0, 1)  # PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS
_SIZE = 64
_TIMES = 1 | 2  # the time the counter was wanted, the time it ran
_INHERIT, _USER_MODE_ONLY = 1 << 1, 1 << 5 | 1 << 6
_CLOSE_ON_EXEC = 8
_FORBIDDEN = "not allowed; see /proc/sys/kernel/perf_event_paranoid"
_CAUSES = {
    errno.ENOENT: "this processor, perhaps a virtual one, has no counter of instructions",
    errno.EACCES: _FORBIDDEN,
    errno.EPERM: _FORBIDDEN,
}

_MARK = "getppid"
"""A function of the C library that nothing else calls: valgrind writes its count down at each call of it."""

_SECONDS = 540


class CountingFailed(Exception):
    """Instructions cannot be counted here; the message says why."""


class Meter(Protocol):
    """Marks places in the running process."""

    def mark(self) -> None:
        """Remember how many instructions there have been so far."""

    def readings(self) -> list[int] | None:
        """The instructions up to each mark; None where the process itself cannot know."""


class PerfEvent:
    """The processor's counter, through Linux's `perf_event_open`, for this thread.

    With `inherit` also for the threads that it starts from here on.

    Raises:
        CountingFailed: there is no such counter, or it may not be read.
    """

    def __init__(self, *, inherit: bool) -> None:
        number = _SYSTEM_CALLS.get(platform.machine()) if sys.platform == "linux" else None
        if number is None:
            raise CountingFailed(f"not known on {sys.platform}, {platform.machine()}")
        kind, which = _INSTRUCTIONS
        flags = _USER_MODE_ONLY | (_INHERIT if inherit else 0)
        attributes = struct.pack("=IIQQQQQIIQ", kind, _SIZE, which, 0, 0, _TIMES, flags, 0, 0, 0)
        call = ctypes.CDLL(None, use_errno=True).syscall
        self._file = call(number, ctypes.create_string_buffer(attributes, _SIZE), 0, -1, -1, _CLOSE_ON_EXEC)
        if self._file < 0:
            cause = ctypes.get_errno()
            raise CountingFailed(f"perf_event_open: {_CAUSES.get(cause, os.strerror(cause))}")
        self._marks: list[bytes] = []

    def mark(self) -> None:
        """Read the counter."""
        self._marks.append(os.read(self._file, 24))

    def readings(self) -> list[int]:
        """The counts at the marks.

        Raises:
            CountingFailed: the counter did not run all the time, because others used it too.
        """
        counts = []
        for mark in self._marks:
            count, wanted, ran = struct.unpack("=QQQ", mark)
            if not count or ran < wanted:
                raise CountingFailed(f"the counter ran for {ran} of {wanted} ns")
            counts.append(count)
        return counts

    def close(self) -> None:
        """Give the counter back."""
        os.close(self._file)


def counted(work: Callable[[], object], times: int) -> float | None:
    """Instructions of one call of `work` on this thread, the least of some; None where they cannot be counted
    from inside the process (see `missing`)."""
    try:
        perf = PerfEvent(inherit=False)
    except CountingFailed:
        return None
    try:
        for _ in range(times):
            perf.mark()
            work()
            perf.mark()
        marks = perf.readings()
    except CountingFailed:
        return None
    finally:
        perf.close()
    return float(min(after - before for before, after in zip(marks[::2], marks[1::2], strict=True)))


class Marked:
    """Calls the function that valgrind, around this process, watches for."""

    def mark(self) -> None:
        """Have the count written down."""
        os.getppid()

    def readings(self) -> None:
        """They are in valgrind's files."""


def meter(counter: CounterName, *, inherit: bool) -> Meter:
    """What marks places for this counter, in the process that is counted."""
    return PerfEvent(inherit=inherit) if counter == "perf_event" else Marked()


def missing(counter: CounterName) -> str | None:
    """Why this counter cannot be used here; None where it can."""
    if counter == "callgrind":
        return None if shutil.which("valgrind") else "valgrind is not installed"
    try:
        perf = PerfEvent(inherit=True)
        perf.mark()
        perf.readings()
        perf.close()
    except CountingFailed as reason:
        return str(reason)
    return None


def run(counter: CounterName, module: str, *arguments: str) -> tuple[dict[str, Any], list[int]]:
    """Run ``python -m module counter arguments``: what it printed as JSON, and the count at each mark.

    Raises:
        CountingFailed: the process failed, or not every mark has a count.
    """
    command = [sys.executable, "-m", module, counter, *arguments]
    with tempfile.TemporaryDirectory() as directory:
        if counter == "callgrind":
            command = [*_callgrind(directory), *command]
        try:
            done = subprocess.run(
                command,
                cwd=root(),
                env=_environment(os.environ),
                capture_output=True,
                text=True,
                timeout=_SECONDS,
                check=False,
            )
        except subprocess.TimeoutExpired:
            raise CountingFailed(f"{module} {' '.join(arguments)}: not done within {_SECONDS} s") from None
        if done.returncode:
            raise CountingFailed(f"{module} {' '.join(arguments)} failed:\n{done.stderr[-2_000:]}")
        printed: dict[str, Any] = json.loads(done.stdout)
        return printed, printed["readings"] or _written(Path(directory))


def _callgrind(directory: str) -> list[str]:
    return [
        *("valgrind", "-q", "--tool=callgrind", "--vgdb=no", "--cache-sim=no"),
        *(f"--dump-before={_MARK}", f"--callgrind-out-file={directory}/out"),
    ]


def _environment(variables: Mapping[str, str]) -> dict[str, str]:
    """Nothing that changes how Python or agenttrace works; the same order of every set in each process."""
    unwanted = ("AGENTTRACE_", "PYTHON", "VALGRIND_", "COVERAGE_")
    path = {name: value for name, value in variables.items() if name == "PYTHONPATH"}
    others = {name: value for name, value in variables.items() if not name.startswith(unwanted)}
    return {**others, **path, "PYTHONHASHSEED": "0"}


def _written(directory: Path) -> list[int]:
    """The count at each mark: valgrind's file out.1 has what came before the first, out.2 what came since."""
    counts, total = [], 0
    for number in range(1, len(list(directory.glob("out.*"))) + 1):
        summary = re.search(r"^summary: (\d+)$", (directory / f"out.{number}").read_text(), re.MULTILINE)
        if summary is None:
            raise CountingFailed(f"valgrind's dump {number} has no summary")
        total += int(summary[1])
        counts.append(total)
    return counts
