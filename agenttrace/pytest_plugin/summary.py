"""What was scored, at the end of a pytest run and in the step summary of a CI."""

from __future__ import annotations

import math
import os
from collections.abc import Iterator, Sequence
from typing import Any

import pytest

from agenttrace.pytest_plugin.checks import scores_noted

STEP_SUMMARY = "GITHUB_STEP_SUMMARY"


def write_summary(terminal: pytest.TerminalReporter, reports: Sequence[Any]) -> None:
    """Write the section on the terminal, and the table to the file that the CI names, if it names one."""
    rows = list(_rows(reports))
    terminal.section("agenttrace")
    width = max(len(row[0]) for row in rows)
    for name, mean, counts in rows:
        terminal.write_line(f"{name:<{width}}  {mean}  {counts}")
    path = os.environ.get(STEP_SUMMARY)
    if path:
        table = ["| scorer | mean | results |", "|---|---|---|", *(f"| {' | '.join(row)} |" for row in rows)]
        try:
            with open(path, "a", encoding="utf-8") as file:
                file.write("### agenttrace\n\n" + "\n".join(table) + "\n")
        except OSError as error:
            terminal.write_line(f"the step summary could not be written: {error}")


def _rows(reports: Sequence[Any]) -> Iterator[tuple[str, str, str]]:
    """For each scorer its name, its mean over how many of how many, how many passed, failed, errored."""
    scores: dict[str, list[tuple[float | None, str]]] = {}
    for report in reports:
        for name, value, outcome in scores_noted(report):
            scores.setdefault(name, []).append((value, outcome))
    for name, some in scores.items():
        values = [value for value, _ in some if value is not None]
        mean = (
            f"{math.fsum(values) / len(values):.2f} over {len(values)} of {len(some)}"
            if values
            else "no value"
        )
        outcomes = [outcome for _, outcome in some]
        words = ("passed", "failed", "errored", "skipped")
        yield name, mean, ", ".join(f"{outcomes.count(word)} {word}" for word in words if word in outcomes)
