"""What was scored, at the end of a pytest run and in the step summary of a CI."""

from __future__ import annotations

import pytest

from agenttrace.pytest_plugin.session import FinishedRun
from agenttrace.reports.markdown import append_step_summary, markdown_report


def write_summary(terminal: pytest.TerminalReporter, run: FinishedRun) -> None:
    """Write the section on the terminal, and the report to the file that the CI names, if it names one."""
    terminal.section("agenttrace")
    for line in (*run.lines, *run.comparison):
        terminal.write_line(line)
    try:
        append_step_summary(markdown_report(run.report, run.comparison))
    except OSError as error:
        terminal.write_line(f"the step summary could not be written: {error}")
