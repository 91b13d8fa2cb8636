"""``--update``, ``--yes``: expectations become what ran, the diff first."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import wraps
from typing import Any

import click

from agenttrace.core.protocols import Scorer
from agenttrace.core.report import EvaluationReport
from agenttrace.reports.text import safe
from agenttrace.reports.tree import count_text
from agenttrace.updates.update import Update, updated


@dataclass(frozen=True, slots=True)
class UpdateOptions:
    """Whether the file of the examples is updated, and whether without a question."""

    update: bool = False
    yes: bool = False

    def apply(
        self, file: str, report: EvaluationReport, scorers: Sequence[Scorer], *, to_stderr: bool = False
    ) -> None:
        """Update a file of examples where that is asked for; see `update_file`."""
        if self.update:
            update_file(file, report, scorers, yes=self.yes, to_stderr=to_stderr)


def update_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options to a command, which gets them as `update`."""

    @click.option(
        "--update",
        is_flag=True,
        help="Show how failed examples would expect what ran, then write it to FILE.",
    )
    @click.option(
        "--yes",
        is_flag=True,
        help="With --update: write without a question; needed where there is no terminal.",
    )
    @wraps(command)
    def with_update(*args: Any, update: bool, yes: bool, **kwargs: Any) -> Any:
        return command(*args, update=UpdateOptions(update, yes), **kwargs)

    return with_update


def update_file(
    file: str, report: EvaluationReport, scorers: Sequence[Scorer], *, yes: bool, to_stderr: bool = False
) -> None:
    """Show what changes in a file of examples, example by example, then write it.

    The user is asked, unless with `yes`; where there is no terminal to ask, nothing is written without it.
    `to_stderr`: stdout has a report.

    Raises:
        DatasetError: the file cannot be updated; what was to change has been printed then.
    """
    update = updated(file, report.results, scorers)
    for line in update_lines(update):
        click.echo(safe(line), err=to_stderr)
    if not update.changed:
        click.echo(safe(f"{file}: nothing to update"), err=to_stderr)
        return
    if not yes and not (sys.stdin.isatty() and sys.stdout.isatty()):
        click.echo("nothing was written: give --yes to write it where no terminal can ask", err=to_stderr)
        return
    if not yes and not click.confirm("write?", default=False):
        click.echo("nothing was written", err=to_stderr)
        return
    update.write()
    count = sum(bool(example.diff) for example in update.examples)
    click.echo(safe(f"{file}: {count_text(count, 'example')} updated"), err=to_stderr)


def update_lines(update: Update) -> list[str]:
    """The diff of each example, with what is to be said of it."""
    lines = []
    for example in update.examples:
        lines += example.diff.splitlines()
        if example.why_not is not None:
            lines.append(f"not updated: {example.title}: {example.why_not}")
        lines += [f"note: {example.title}: {note}" for note in example.notes]
    return lines
