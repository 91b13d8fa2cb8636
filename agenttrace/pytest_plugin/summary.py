"""What was scored, at the end of a pytest run and in the step summary of a CI."""

from __future__ import annotations

import os

import pytest

from agenttrace.pytest_plugin.session import FinishedRun, scorer_rows

STEP_SUMMARY = "GITHUB_STEP_SUMMARY"


def write_summary(terminal: pytest.TerminalReporter, run: FinishedRun) -> None:
    """Write the section on the terminal, and the table to the file that the CI names, if it names one."""
    terminal.section("agenttrace")
    for line in run.lines:
        terminal.write_line(line)
    path = os.environ.get(STEP_SUMMARY)
    if path:
        rows = [f"| {' | '.join(row)} |" for row in scorer_rows(run.report)]
        table = ["| scorer | mean | results |", "|---|---|---|", *rows]
        try:
            with open(path, "a", encoding="utf-8") as file:
                file.write("### agenttrace\n\n" + "\n".join(table) + "\n")
        except OSError as error:
            terminal.write_line(f"the step summary could not be written: {error}")
