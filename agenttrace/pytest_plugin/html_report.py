"""``--agenttrace-report``: the run of all tests as one HTML file, written by the process that reports."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from agenttrace.core.errors import AgentTraceError, error_text
from agenttrace.core.report import EvaluationReport
from agenttrace.core.trace import Trace
from agenttrace.datasets.files import write_text
from agenttrace.reports.requirements import why_expected


def check_report_path(config: pytest.Config) -> None:
    """Try the path before any test runs; directories that are missing are made.

    Raises:
        pytest.UsageError: no file can be written there.
    """
    path = config.getoption("agenttrace_report")
    if path is None:
        return
    directory = os.path.dirname(os.path.realpath(path))
    try:
        os.makedirs(directory, exist_ok=True)
    except OSError as error:
        raise pytest.UsageError(f"--agenttrace-report {path}: {error.strerror or error}") from None
    if not path or os.path.isdir(path) or not os.access(directory, os.W_OK):
        raise pytest.UsageError(f"--agenttrace-report {path}: wanted the path of a file that can be written")


def write_report(
    config: pytest.Config, report: EvaluationReport, trace_of: Callable[[str], Trace | None]
) -> tuple[bool, list[str]]:
    """Write the file where it is asked for; whether that went well, and lines about it.

    `trace_of` reads the calls of results that did not pass.
    """
    path = config.getoption("agenttrace_report")
    if path is None:
        return True, []
    from agenttrace.viewer.report import TRACES, run_report  # on use: the pages need much else

    try:
        html = run_report(_with_traces(report, trace_of, TRACES))
        # From where pytest was called: a test may have changed the directory.
        write_text(Path(os.path.realpath(config.invocation_params.dir / path)), html, is_private=True)
    except (AgentTraceError, OSError) as error:
        return False, [f"the report was not written: {error_text(error)}"]
    return True, [f"the report is in {path}"]


def _with_traces(
    report: EvaluationReport, trace_of: Callable[[str], Trace | None], most: int
) -> EvaluationReport:
    """The report with the traces of the first results that failed; what was expected to fail comes last."""
    failed = [place for place, one in enumerate(report) if one.outcome not in ("passed", "not_run")]
    failed.sort(key=lambda place: why_expected(report, report[place].position) is not None)
    results = list(report)
    for place in [place for place in failed if results[place].trace_id is not None][:most]:
        trace_id = results[place].trace_id or ""
        results[place] = replace(results[place], trace=trace_of(trace_id), stored_trace_id=trace_id)
    return replace(report, results=tuple(results))
