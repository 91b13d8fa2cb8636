"""What was scored, at the end of a pytest run and in the step summary of a CI."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from agenttrace.pytest_plugin.checks import scores_noted
from agenttrace.reports.markdown import append_step_summary, scorer_rows, scorer_table
from agenttrace.reports.text import safe_line


def write_summary(terminal: pytest.TerminalReporter, reports: Sequence[Any]) -> None:
    """Write the section on the terminal, and the table to the file that the CI names, if it names one."""
    rows = scorer_rows(noted for report in reports for noted in scores_noted(report))
    terminal.section("agenttrace")
    width = max(len(row[0]) for row in rows)
    for name, mean, counts in rows:
        terminal.write_line(f"{safe_line(name):<{width}}  {mean}  {counts}")
    try:
        append_step_summary(f"### agenttrace\n\n{scorer_table(rows)}")
    except OSError as error:
        terminal.write_line(f"the step summary could not be written: {error}")
