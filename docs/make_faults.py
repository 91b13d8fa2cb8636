"""Write `docs/faults.md`: every promise, the scenarios in which it must hold, their tests, the last figures.

``make faults`` runs this at its end, ``make faults-page`` alone; a test fails where the page is not what this
would write.
"""

from __future__ import annotations

import json
import runpy
import tomllib
from collections import Counter
from itertools import groupby
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs" / "faults.md"
FAULTS = ROOT / "tests" / "faults"

HEAD = """# What can go wrong, and what tries it

Each promise with the scenarios in which it must hold, the tests that try them, below `tests/`, how many ways
to break the protection `make mutants` tries (each must make one of the tests fail), and what the last
`make faults` measured. This page is written by `make faults`, from `tests/faults/scenarios.toml`,
`mutants.toml` and `figures.json`.

- `make faults-small` runs the tests in `tests/faults` at small counts, `make faults` those of all scenarios
  at full counts.
- `make mutants` takes protections away, one by one, in a copy of the tree; a test must notice each.
- `make pythons` runs a small suite with each Python from 3.11 on that it finds, free-threaded ones too.
- Where a library is not there (gevent, eventlet, Celery, gunicorn), its tests are skipped, and say so.
"""


def tests_text(tests: list[str]) -> str:
    """The tests by file: the name of each without what all begin with."""
    parts = []
    for file, ids in groupby(sorted(tests), key=lambda test: test.partition("::")[0]):
        names = ", ".join(test.rpartition("::")[2].removeprefix("test_") for test in ids)
        parts.append(f"`{file}`: {names}")
    return "<br>".join(parts)


def last_text(scenario: Any, run: dict[str, Any]) -> str:
    """What the last run showed of a scenario."""
    if not scenario.tests:
        return f"waits for {scenario.waits}"
    seen = run["scenarios"].get(str(scenario.number), {})
    parts = list(seen.get("figures", []))
    if not parts and run["counts"] == "full" and scenario.full:
        parts.append(scenario.full)
    parts += [f"{seen[word]} {word}" for word in ("failed", "skipped") if seen.get(word)]
    if scenario.waits:
        parts.append(f"waits: {scenario.waits}")
    return "; ".join(parts) or ("passed" if seen else "")


def page() -> str:
    """The whole text of the page."""
    promises = runpy.run_path(str(FAULTS / "scenarios.py"))["promises"]()
    figures = FAULTS / "figures.json"
    run: dict[str, Any] = {"counts": "", "scenarios": {}}
    if figures.exists():
        run = json.loads(figures.read_text(encoding="utf-8"))
    mutants = tomllib.loads((FAULTS / "mutants.toml").read_text(encoding="utf-8"))["mutant"]
    broken = Counter(number for mutant in mutants for number in mutant["scenarios"])
    parts = [HEAD]
    if run["counts"]:
        parts.append(f"The last run: {run['counts']} counts, Python {run['python']}.\n")
    for promise in promises:
        parts.append(f"## {promise.title}\n")
        lines = ["| # | scenario | tests | mutants | last |", "|---|---|---|---|---|"]
        for one in promise.scenarios:
            cells = [
                one.number,
                one.text,
                tests_text(one.tests),
                broken[one.number] or "",
                last_text(one, run),
            ]
            lines.append("| " + " | ".join(str(cell).replace("|", "\\|") for cell in cells) + " |")
        parts.append("\n".join(lines) + "\n")
    return "\n".join(parts)


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
