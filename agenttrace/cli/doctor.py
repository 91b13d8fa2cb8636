"""``agenttrace doctor``: what would keep recording from working here."""

from __future__ import annotations

import click

from agenttrace.cli.doctor_checks import all_checks, as_data
from agenttrace.cli.json_output import echo_json
from agenttrace.cli.store_option import store_option
from agenttrace.reports.text import Line, safe_line, show
from agenttrace.store import open_store

_MARKS = {"ok": ("✓", ""), "note": ("·", "yellow"), "problem": ("!", "red")}


@click.command("doctor")
@store_option
@click.option("--json", "as_json", is_flag=True, help="One JSON object a line.")
def doctor(store: str | None, as_json: bool) -> int:
    """Look at versions, libraries and their switches, settings, permissions, disk and clock.

    Exits with 1 where there is a problem. Changes nothing.
    """
    source = open_store(store)
    try:
        checks = list(all_checks(source))
    finally:
        source.close()
    if as_json:
        for check in checks:
            echo_json(as_data(check))
    else:
        show(
            Line(
                f"{_MARKS[check.state][0]} {check.name}: {safe_line(check.text, 300)}", _MARKS[check.state][1]
            )
            for check in checks
        )
    return int(any(check.state == "problem" for check in checks))
