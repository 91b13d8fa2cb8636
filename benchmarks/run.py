"""Runs every benchmark, and writes what came out to RESULTS.md.

With --only, one of our scripts is run, and its section alone is written anew, with where and when that was.

python benchmarks/run.py [--quick] [--only SCRIPT] [--peers-python PATH ...] [--no-peers]
"""

from __future__ import annotations

import importlib
import json
import os
import platform
import sqlite3
import subprocess
import sys
import time
from datetime import UTC, datetime
from importlib import metadata
from pathlib import Path
from typing import Any

import agenttrace
from benchmarks.budgets import lines, table
from benchmarks.options import Options, parse, root
from benchmarks.percentiles import median, percentile

RESULTS = Path(__file__).with_name("RESULTS.md")

OURS = {
    "overhead": "What recording a call costs",
    "unresting": "What is stored beside an app that never rests",
    "import_time": "What importing costs",
    "assert_test": "What evaluating costs",
    "online": "What asking for an evaluation in production costs",
    "scoring": "What comparing costs",
    "rescoring": "What scoring stored traces anew costs",
    "long_runs": "What comparing long runs costs",
    "index": "What finding traces costs",
    "pages": "What the pages cost",
}
"""Scripts that give their figures as JSON."""

TEXTS = {"store": ["--spans", "6000", "--repeat", "2"], "received": ["--quick"]}
"""Scripts that print a table of their own, with their options for a quick run."""


def main() -> None:
    options = parse(__doc__, OURS)
    began = time.perf_counter()
    before = os.getloadavg()
    if options.only:
        found = figures(options.only, options)
        conditions = machine(before, time.perf_counter() - began, quick=options.quick)
        text = with_section(RESULTS.read_text(encoding="utf-8"), options.only, found, conditions)
        RESULTS.write_text(text, encoding="utf-8")
        return
    found = {name: figures(name, options) for name in OURS}
    texts = {name: output(name, quickly if options.quick else []) for name, quickly in TEXTS.items()}
    conditions = machine(before, time.perf_counter() - began, quick=options.quick)
    RESULTS.write_text(results(conditions, found, texts), encoding="utf-8")
    print(table(lines(found)))
    print(f"\nwritten: {RESULTS.relative_to(root())}")


def figures(name: str, options: Options) -> dict[str, Any]:
    """What one of our scripts measures."""
    peers = [part for path in options.interpreters for part in ("--peers-python", path)] or ["--no-peers"]
    printed = output(name, ["--json", *(["--quick"] if options.quick else []), *peers])
    found: dict[str, Any] = json.loads(printed)
    return found


def output(name: str, options: list[str]) -> str:
    """Run a script by itself; its complaints go to the terminal."""
    print(f"benchmarks/{name}.py …", file=sys.stderr, flush=True)
    command = [sys.executable, f"benchmarks/{name}.py", *options]
    return subprocess.run(command, cwd=root(), stdout=subprocess.PIPE, text=True, check=True).stdout


def machine(before: tuple[float, float, float], seconds: float, *, quick: bool) -> list[str]:
    """Where and when this was measured."""
    load = f"{before[0]:.1f} before, {os.getloadavg()[0]:.1f} after"
    others = ", ".join(f"{name} {metadata.version(name)}" for name in ("wrapt", "pydantic"))
    versions = f"agenttrace {agenttrace.__version__}, {others}"
    python = f"{platform.python_implementation()} {platform.python_version()}"
    effort = ", --quick: a first look only" if quick else ""
    return [
        f"{datetime.now(UTC):%Y-%m-%d %H:%M} UTC, in {seconds:.0f} s{effort}",
        f"{os.cpu_count()} cores, {processor()}, {platform.system()} {platform.release()}",
        f"{python}, SQLite {sqlite3.sqlite_version}, {versions}",
        f"load average {load} (one process keeps it near 1; more means that others used the machine)",
        speed(),
    ]


def speed() -> str:
    """How fast this machine is now, by the call that every figure is set beside."""

    def tool(city: str, days: int = 3) -> str:
        return city

    clock, turns, blocks = time.perf_counter_ns, range(1_000), []
    for _ in range(200):
        began = clock()
        for _ in turns:
            tool("Paris", days=2)
        called = clock()
        for _ in turns:
            pass
        blocks.append((called - began - (clock() - called)) / len(turns))
    return (
        f"a bare call takes {median(blocks):.0f} ns (quiet {percentile(blocks, 0.1):.0f});"
        " 30 on the machine that the budgets were set on"
    )


def processor() -> str:
    """The processor's model, where the system tells."""
    try:
        for line in Path("/proc/cpuinfo").read_text().splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    except OSError:
        pass
    return platform.processor() or platform.machine()


def results(conditions: list[str], found: dict[str, dict[str, Any]], texts: dict[str, str]) -> str:
    """The whole file."""
    parts = [
        "# Benchmarks",
        "Written by `make bench`; not to be edited by hand. Read ratios, not microseconds: machines differ.",
        "\n".join(f"- {condition}" for condition in conditions),
        "## Budgets",
        "Those of comparing (7) stand with their figures below.",
        table(lines(found)),
    ]
    for name, heading in OURS.items():
        module = importlib.import_module(f"benchmarks.{name}")
        parts += [f"## {heading}", f"{introduction(module.__doc__)}", module.report(found[name])]
    for name, text in texts.items():
        module = importlib.import_module(f"benchmarks.{name}")
        parts += [f"## `benchmarks/{name}.py`", introduction(module.__doc__), f"```\n{text.rstrip()}\n```"]
    return "\n\n".join(parts) + "\n"


def with_section(text: str, name: str, found: dict[str, Any], conditions: list[str]) -> str:
    """The whole file with one section written anew, or added where it has stood nowhere yet."""
    heading = f"## {OURS[name]}\n"
    module = importlib.import_module(f"benchmarks.{name}")
    measured = "\n".join(f"- {condition}" for condition in ["measured by itself", *conditions])
    section = "\n\n".join([heading.strip(), introduction(module.__doc__), measured, module.report(found)])
    before, there, rest = text.partition(heading)
    if not there:
        before, there, rest = text.partition("## `benchmarks/")
        return f"{before}{section}\n\n{there}{rest}"
    _, following, rest = rest.partition("\n## ")
    return f"{before}{section}\n{following}{rest}"


def introduction(docstring: str | None) -> str:
    """A script's docstring without its usage."""
    paragraphs = (docstring or "").strip().split("\n\n")
    return "\n\n".join(part for part in paragraphs if not part.lstrip().startswith("python benchmarks/"))


if __name__ == "__main__":
    main()
