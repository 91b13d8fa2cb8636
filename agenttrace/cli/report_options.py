"""The options that write a report to files: ``--junit``, ``--md``, ``--json``, ``--csv``, ``--html``."""

from __future__ import annotations

import functools
import os
import stat
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext, redirect_stdout
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import click

from agenttrace.core.deep_link import See
from agenttrace.core.errors import AgentTraceError
from agenttrace.core.report import EvaluationReport
from agenttrace.datasets.files import write_text
from agenttrace.reports import (
    append_step_summary,
    csv_report,
    json_report,
    junit_report,
    markdown_report,
    report_lines,
    show,
    terminal_width,
)
from agenttrace.reports.markdown import STEP_SUMMARY
from agenttrace.reports.text import Line, safe

F = TypeVar("F", bound=Callable[..., Any])

SOURCE = "the command reads this file, which would be replaced"
"""Why something may not be written to a path."""

STDOUT = "-"
FORMATS = {
    "junit": "JUnit XML, for a CI.",
    "md": "Markdown, for a pull request's comment.",
    "json": "JSON: see report.schema.json.",
    "csv": "CSV with a row for each score.",
    "html": "HTML: one page that loads nothing.",
}
"""The formats of a report, with what each is for."""


@dataclass(frozen=True, slots=True)
class ReportFiles:
    """The files that a report is to be written to: pairs of a format and a path, ``-`` for stdout."""

    targets: tuple[tuple[str, str], ...] = ()

    @property
    def use_stdout(self) -> bool:
        """Whether one of them is stdout, which then has nothing else on it."""
        return any(path == STDOUT for _, path in self.targets)

    def check(self, source: str | None = None) -> None:
        """Try every path before anything is run; directories that are missing are made.

        Raises:
            click.BadParameter: a file cannot be written there, two reports would be one file, or one would
                replace `source`, the file that the command reads.
        """
        paths = [path if path == STDOUT else os.path.realpath(path) for _, path in self.targets]
        for place, (format_name, path) in enumerate(self.targets):
            reason = "another report goes there" if paths[place] in paths[:place] else _why_not(path, source)
            if reason is not None:
                raise click.BadParameter(f"{path}: {reason}", param_hint=f"--{format_name}")

    @contextmanager
    def alone(self) -> Iterator[None]:
        """Send what is printed inside the block, as by the agent, to stderr where a report is stdout."""
        with redirect_stdout(sys.stderr) if self.use_stdout else nullcontext():
            yield

    def write(self, report: EvaluationReport, comparison: Sequence[str] = ()) -> list[str]:
        """Write the files; returns what could not be written. Redact the report first, as the store does.

        `comparison` are lines about this run and a baseline, for the Markdown.
        """
        failures: list[str] = []
        for format_name, path in self.targets:
            try:
                _write(path, _text_of(format_name, report, comparison))
            except (AgentTraceError, OSError) as error:
                failures.append(f"{path}: {error}" if path not in str(error) else str(error))
        return failures


def report_options(command: F) -> F:
    """Add the options to a command, which gets them checked, as `files`."""

    @functools.wraps(command)
    def with_files(*args: Any, **kwargs: Any) -> Any:
        chosen = ((name, path) for name in FORMATS for path in kwargs.pop(f"{name}_paths"))
        files = ReportFiles(tuple(chosen))
        files.check(kwargs.get("file"))
        return command(*args, files=files, **kwargs)

    decorated: Any = with_files
    for name, text in reversed(FORMATS.items()):
        decorated = click.option(
            f"--{name}",
            f"{name}_paths",
            metavar="FILE",
            multiple=True,
            help=f"Write the report as {text} - is stdout.",
        )(decorated)
    result: F = decorated
    return result


def finish(
    report: EvaluationReport,
    code: int,
    files: ReportFiles,
    comparison: Sequence[Line] = (),
    *,
    see: See | None = None,
) -> int:
    """Print the report and its comparison with a baseline, write its files and the CI's step summary.

    The report is to be without secrets, and so is what it is compared by: a terminal's text stands in the
    logs of a CI. `see` gives the links to traces, for what is printed.
    Returns the command's exit code: a file that cannot be written after all makes it 2 where it was 0; the
    report was printed by then.
    """
    stream = sys.stderr if files.use_stdout else sys.stdout
    show(report_lines(report, terminal_width(stream), see=see), stream)
    show(comparison, stream)
    show([Line(f"run {report.run_id[:8]}", "dim")], stream)
    lines = [line.text for line in comparison]
    failures = files.write(report, lines)
    for failure in failures:
        click.echo(f"Error: the report was not written to {safe(failure)}", err=True)
    try:
        if os.environ.get(STEP_SUMMARY):
            append_step_summary(markdown_report(report, lines))
    except OSError as error:
        click.echo(f"the step summary could not be written: {error}", err=True)
    return code or (2 if failures else 0)


def _text_of(format_name: str, report: EvaluationReport, comparison: Sequence[str]) -> str:
    if format_name == "md":
        return markdown_report(report, comparison)
    if format_name == "html":
        from agenttrace.viewer.report import run_report  # on use: the pages need much else

        return run_report(report)
    return {"junit": junit_report, "json": json_report, "csv": csv_report}[format_name](report)


def _write(path: str, text: str) -> None:
    """Write a file in one step; what is no file, such as a pipe, gets the text as it is."""
    if path == STDOUT:
        click.echo(text, nl=False)
    elif _is_special(path):
        with open(path, "w", encoding="utf-8", newline="") as file:
            file.write(text)
    else:
        write_text(Path(os.path.realpath(path)), text, is_private=True)


def _is_special(path: str) -> bool:
    """Whether there is something at the path that is no regular file: a pipe, a terminal, /dev/null."""
    try:
        return not stat.S_ISREG(os.stat(path).st_mode)
    except OSError:
        return False


def _why_not(path: str, source: str | None) -> str | None:
    """Why no report can be written to a path; None where one can."""
    if source is not None and path != STDOUT and os.path.realpath(path) == os.path.realpath(source):
        return SOURCE
    return next(_obstacles(path), None)


def _obstacles(path: str) -> Iterator[str]:
    if path == STDOUT:
        return
    if not path or os.path.isdir(path):
        yield "this is a directory, wanted a file" if path else "wanted a path, or - for stdout"
        return
    if os.path.exists(path):
        if not os.access(path, os.W_OK):
            yield "the file cannot be written"
        if _is_special(path):
            return
    directory = os.path.dirname(os.path.realpath(path))
    try:
        os.makedirs(directory, exist_ok=True)
        with tempfile.TemporaryFile(dir=directory):
            pass
    except OSError as error:
        yield f"cannot be written: {error.strerror or error}"
