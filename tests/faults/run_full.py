"""Run the fault tests at full counts; print, promise by promise, what was done and how it ended.

``make faults`` runs this. ``--small`` keeps to the counts of ``make faults-small``. The scenarios
are named in the tests' docstrings; each scenario stands under the first promise that lists it
below.
"""

import os
import re
import sys
import time
from pathlib import Path

import pytest

HERE = Path(__file__).parent
ROOT = HERE.parents[1]

PROMISES = [
    ("Tracing never breaks the agent", {*range(1, 22), *range(24, 41), 45}),
    ("Tracing never blocks the agent, memory is bounded", {41, 42, 43, 44, 47, 48, 52, 53, 54, 55, 56, 58}),
    ("What ended is stored within 250 ms, all of it at exit", {49, 50, 51, 59, 60, 61, 62, 63, 69, 70, 71}),
    ("Forks, threads and process pools lose nothing", {64, 65, 66, 67, 68}),
    ("Many processes share one file; a bad file never reaches the user", {*range(73, 88)}),
    ("Secrets stay in, callers cannot redirect", {22, 23, 46}),
    ("Evaluation in production loses nothing, holds up nobody", {95, 99}),
]

FULL = {
    47: "200,000 heavy spans against a stalled store",
    51: "stopped for 10 s",
    54: "SIGALRM at 500 Hz for 60 s",
    58: "1,000,000 spans",
    62: "kill -9 × 200",
    63: "kill -9 × 50 during migrations and checkpoints",
    66: "500 forks",
    73: "10 processes × 20,000 spans",
    99: "100,000 evaluations with mixed faults",
}
"""What the full count of a scenario is, for the table."""


class Scenarios:
    """Gathers the outcome of every test under the scenarios that its docstring names."""

    def __init__(self):
        self.tests = {}
        self.bad = {}
        self.skipped = set()
        self._named = {}

    def pytest_collection_modifyitems(self, items):
        for item in items:
            text = " ".join(filter(None, [item.function.__doc__, item.cls.__doc__ if item.cls else None]))
            self._named[item.nodeid] = scenarios_in(text)

    def pytest_runtest_logreport(self, report):
        if report.when != "call" and report.outcome == "passed":
            return
        for number in self._named.get(report.nodeid, ()):
            self.tests.setdefault(number, set()).add(report.nodeid)
            if report.outcome == "failed":
                self.bad.setdefault(number, []).append(report.nodeid)
            elif report.outcome == "skipped":
                self.skipped.add(report.nodeid)


def scenarios_in(text):
    """The numbers in ``Scenario 41: …``, ``Scenarios 9 and 10``, ``Scenarios 1 to 4``."""
    numbers = set()
    for words in re.findall(r"[Ss]cenarios? (\d+(?:(?:, and |, | and | to )\d+)*)", text):
        for first, last in re.findall(r"(\d+)(?: to (\d+))?", words):
            numbers |= set(range(int(first), int(last or first) + 1))
    return numbers


def shown(numbers):
    """``{1, 2, 3, 7}`` as ``1-3, 7``."""
    runs = []
    for number in sorted(numbers):
        if runs and runs[-1][1] == number - 1:
            runs[-1][1] = number
        else:
            runs.append([number, number])
    return ", ".join(str(a) if a == b else f"{a}-{b}" for a, b in runs)


def table(found, full):
    lines = ["| promise | scenarios | tests | full counts | result |", "|---|---|---|---|---|"]
    for promise, numbers in PROMISES:
        shown_numbers = numbers & set(found.tests)
        tests = set().union(*(found.tests[number] for number in shown_numbers))
        bad = sorted(set().union(*(found.bad.get(number, ()) for number in shown_numbers)))
        counts = "; ".join(FULL[n] for n in sorted(shown_numbers & set(FULL))) if full else "small counts"
        skipped = len(tests & found.skipped)
        result = f"{len(bad)} failed" if bad else "passed" + (f", {skipped} skipped" if skipped else "")
        lines.append(f"| {promise} | {shown(shown_numbers)} | {len(tests)} | {counts or '-'} | {result} |")
    return "\n".join(lines)


def main():
    full = "--small" not in sys.argv[1:]
    os.environ["AGENTTRACE_FAULT_SCALE"] = "full" if full else "small"
    found = Scenarios()
    started = time.monotonic()
    where = [ROOT / "tests" / room for room in ("faults", "tracing", "store")]
    where += [*(ROOT / "tests" / "core").glob("test_[sjt]*.py"), ROOT / "tests" / "test_tracer.py"]
    code = pytest.main(["-q", "--rootdir", str(ROOT), *map(str, where)], plugins=[found])
    print(f"\n{table(found, full)}\n\n{time.monotonic() - started:.0f} s, Python {sys.version.split()[0]}")
    return code


if __name__ == "__main__":
    sys.exit(main())
