"""Run the tests of all scenarios at full counts; print, promise by promise, what was done and how it ended.

``make faults`` runs this, which also notes what the tests measured (``figures.json``) and writes
``docs/faults.md`` anew. ``--small`` keeps to the counts of ``make faults-small`` and notes nothing, but with
``--note``. The scenarios and their tests stand in ``scenarios.toml``.
"""

import json
import os
import runpy
import sys
import time
from pathlib import Path

import pytest

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
sys.path.insert(0, str(HERE))

from scenarios import promises  # noqa: E402 - found beside this file


class Outcomes:
    """Gathers how each test of the table ended, and what it measured."""

    def __init__(self):
        self.ran, self.failed, self.skipped, self.figures = set(), set(), set(), {}

    def pytest_runtest_logreport(self, report):
        if report.when != "call" and report.outcome == "passed":
            return
        test = report.nodeid.partition("[")[0].removeprefix("tests/")
        self.ran.add(test)
        if report.outcome == "failed":
            self.failed.add(test)
        elif report.outcome == "skipped":
            self.skipped.add(test)
        for name, value in report.user_properties:
            if name == "figure":
                self.figures[test] = value


def shown(numbers):
    """``[1, 2, 3, 7]`` as ``1-3, 7``."""
    runs = []
    for number in sorted(numbers):
        if runs and runs[-1][1] == number - 1:
            runs[-1][1] = number
        else:
            runs.append([number, number])
    return ", ".join(str(a) if a == b else f"{a}-{b}" for a, b in runs)


def table(found, full):
    """A line for each promise."""
    lines = ["| promise | scenarios | tests | full counts | result |", "|---|---|---|---|---|"]
    for promise in promises():
        tests = {test for one in promise.scenarios for test in one.tests}
        numbers = [one.number for one in promise.scenarios if one.tests]
        counts = "; ".join(one.full for one in promise.scenarios if one.full) if full else "small counts"
        failed, skipped, missing = tests & found.failed, tests & found.skipped, tests - found.ran
        words = {"failed": failed, "skipped": skipped, "did not run": missing}
        result = ", ".join(f"{len(those)} {word}" for word, those in words.items() if those)
        lines.append(
            f"| {promise.title} | {shown(numbers)} | {len(tests)} | {counts or '-'} | {result or 'passed'} |"
        )
    return "\n".join(lines)


def note(found, full):
    """Keep what this run showed, for the page."""
    scenarios = {}
    for promise in promises():
        for one in promise.scenarios:
            tests = set(one.tests)
            scenarios[one.number] = {
                "failed": len(tests & found.failed),
                "skipped": len(tests & found.skipped),
                "figures": [found.figures[test] for test in one.tests if test in found.figures],
            }
    run = {"counts": "full" if full else "small", "python": sys.version.split()[0], "scenarios": scenarios}
    (HERE / "figures.json").write_text(json.dumps(run, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    runpy.run_path(str(ROOT / "docs" / "make_faults.py"), run_name="__main__")


def main():
    full = "--small" not in sys.argv[1:]
    os.environ["AGENTTRACE_FAULT_SCALE"] = "full" if full else "small"
    found = Outcomes()
    started = time.monotonic()
    files = {
        test.partition("::")[0] for promise in promises() for one in promise.scenarios for test in one.tests
    }
    where = sorted({str(ROOT / "tests" / file) for file in files} | set(map(str, HERE.glob("test_*.py"))))
    code = pytest.main(["-q", "-rs", "--rootdir", str(ROOT), "-m", "not browser", *where], plugins=[found])
    if full or "--note" in sys.argv[1:]:
        note(found, full)
    print(f"\n{table(found, full)}\n\n{time.monotonic() - started:.0f} s, Python {sys.version.split()[0]}")
    return code


if __name__ == "__main__":
    sys.exit(main())
