"""Fails when a main path takes more instructions than accepted.

What one call costs on the thread that makes it, and a span until it is stored, is counted in user-mode
instructions over the bare call. The accepted figures stand in ``benchmarks/instructions.json``; 3 % more is
allowed. A change that must be dearer accepts the new figures and says why.

    python benchmarks/gate.py [--accept [WHY]] [--counter NAME] [--which]
"""

from __future__ import annotations

import argparse
import os
import platform
import sqlite3
import sys
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from importlib import metadata
from pathlib import Path

from benchmarks.count_ours import BARE_MARK, GROUPS
from benchmarks.counters import COUNTERS, CounterName, CountingFailed, missing, run
from benchmarks.instructions import (
    Accepted,
    Count,
    Line,
    ReasonMissing,
    accept,
    distance,
    judge,
    matching,
    of_the_same_kind,
    read,
    write,
)
from benchmarks.percentiles import figure, markdown, median

FIGURES = Path(__file__).with_name("instructions.json")

PROCESSES: dict[CounterName, int] = {"perf_event": 3, "callgrind": 1}
"""How often each group is counted: other addresses cost a little more or less, and valgrind's are fixed."""

MODULE = "benchmarks.count_ours"


def main() -> int:
    options = _options()
    wanted: Sequence[CounterName] = [options.counter] if options.counter else COUNTERS
    counter: CounterName | None = next((name for name in wanted if missing(name) is None), None)
    if counter is None:
        reasons = "; ".join(f"{name}: {missing(name)}" for name in wanted)
        print(f"SKIPPED: instructions cannot be counted here ({reasons})")
        return 1 if options.which else 0
    if options.which:
        print(counter)
        return 0
    try:
        count = count_all(counter)
    except CountingFailed as reason:
        print(f"instructions could not be counted by {counter}: {reason}")
        return 1
    builds = read(FIGURES)
    if options.accept is None:
        lines = judge(count, matching(builds, count))
        print(report(count, builds, lines))
        return 1 if any(line.verdict == "above" for line in lines) else 0
    try:
        builds = accept(builds, count, options.accept)
    except ReasonMissing as reason:
        print(f'{reason}: make gate-accept WHY="..."')
        return 1
    write(FIGURES, builds)
    print(report(count, builds, judge(count, matching(builds, count))))
    return 0


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument(
        "--accept", metavar="WHY", nargs="?", const="", help="accept what is counted now; why it is dearer"
    )
    parser.add_argument("--counter", choices=COUNTERS, help="default: the first that works here")
    parser.add_argument("--which", action="store_true", help="only say which counter works; fail if none")
    return parser.parse_args()


def count_all(counter: CounterName) -> Count:
    """Count every group, each in processes of its own, which share the cores."""
    jobs = [group for group in GROUPS for _ in range(PROCESSES[counter])]
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        counted = list(pool.map(lambda group: count_group(counter, group), jobs))
    found: dict[str, dict[str, int]] = {group: {} for group in GROUPS}
    for group in GROUPS:
        runs = [one for job, one in zip(jobs, counted, strict=True) if job == group]
        found[group] = {path: round(median(one[path] for one in runs)) for path in runs[0]}
    references = found.pop("references")
    paths = {path: cost for group in found.values() for path, cost in group.items()}
    return Count(_minor_version(), counter, _build(), references, paths)


def count_group(counter: CounterName, group: str) -> dict[str, float]:
    """Instructions an operation of each path of a group, over the bare call."""
    printed, readings = run(counter, MODULE, group)
    blocks = [(str(name), int(size)) for name, size in printed["blocks"]]
    return over_bare(costs(blocks, readings))


def costs(blocks: Sequence[tuple[str, int]], readings: Sequence[int]) -> dict[str, float]:
    """Instructions an operation, by the name of the blocks.

    The blocks come in pairs, and the larger one's surplus counts: the median of all pairs. `readings` are the
    counts at the beginning and at the end of each block.

    Raises:
        CountingFailed: the blocks have more or fewer readings.
    """
    if len(readings) != 2 * len(blocks):
        raise CountingFailed(f"{len(blocks)} blocks have {len(readings)} readings")
    taken = [end - begin for begin, end in zip(readings[::2], readings[1::2], strict=True)]
    found: dict[str, list[float]] = {}
    for position in range(0, len(blocks), 2):
        name, size = blocks[position]
        more = blocks[position + 1][1] - size
        found.setdefault(name, []).append((taken[position + 1] - taken[position]) / more)
    return {name: median(samples) for name, samples in found.items()}


def over_bare(found: Mapping[str, float]) -> dict[str, float]:
    """The costs without those of the bare calls, where these were counted."""
    return {
        name: cost - found.get(name + BARE_MARK, 0.0)
        for name, cost in found.items()
        if not name.endswith(BARE_MARK)
    }


def report(count: Count, builds: Sequence[Accepted], lines: Iterable[Line]) -> str:
    """The table, and what to do where something is not as accepted."""
    lines = list(lines)
    head = f"Instructions an operation, counted by {count.counter} on {count.build}"
    header = ["path", "now", "accepted", "allowed", "now / accepted", ""]
    parts = [head, markdown(header, map(_row, lines)), *_advice(count, builds, lines)]
    return "\n\n".join(parts)


def _row(line: Line) -> list[str]:
    if line.figure is None:
        return [line.path, figure(line.now), "—", "—", "—", line.verdict]
    accepted = line.figure.instructions
    ratio = f"{line.now / accepted:.3f}" if accepted else "—"
    verdict = "**above**" if line.verdict == "above" else line.verdict
    return [line.path, figure(line.now), figure(accepted), figure(line.figure.allowed), ratio, verdict]


def _advice(count: Count, builds: Sequence[Accepted], lines: Sequence[Line]) -> list[str]:
    accepted = matching(builds, count)
    verdicts = {line.verdict for line in lines}
    parts = []
    if accepted is None:
        parts.append(
            f"NO FIGURES for this build of Python {count.python} with {count.counter}: nothing is judged."
            " To have it judged from now on: make gate-accept"
        )
        parts += [
            f"There are figures for {build.build}; its reference loops are {distance(build, count):.1%} off."
            for build in of_the_same_kind(builds, count)
        ]
    elif "above" in verdicts:
        parts.append('Dearer than accepted. If it must be so: make gate-accept WHY="the reason"')
        if accepted.build != count.build:
            parts.append(f"The figures were accepted on {accepted.build}.")
    if accepted is not None and verdicts & {"cheaper", "no figure"}:
        parts.append("Cheaper than accepted, or new: make gate-accept keeps it so.")
    return parts


def _minor_version() -> str:
    return ".".join(map(str, sys.version_info[:2]))


def _build() -> str:
    library = " ".join(platform.libc_ver()).strip() or platform.system()
    return ", ".join(
        [
            f"{platform.python_implementation()} {platform.python_version()}",
            platform.python_compiler(),
            library,
            f"SQLite {sqlite3.sqlite_version}",
            f"pydantic-core {metadata.version('pydantic-core')}",
            platform.machine(),
        ]
    )


if __name__ == "__main__":
    sys.exit(main())
