"""Which failures do not count: by skip, xfail and quarantine of examples, or by a baseline."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import click

from agenttrace.core.example import Example
from agenttrace.core.quarantine import quarantine_of, why_failure_is_expected
from agenttrace.core.report import EvaluationReport
from agenttrace.core.run_comparison import RunRecord
from agenttrace.reports.first_line import label
from agenttrace.reports.requirements import expected_failure, expected_failures, requirements_of
from agenttrace.reports.text import safe
from agenttrace.runs.compare import compare_runs
from agenttrace.runs.record import record_of_report, without_diffs


def without_skipped(examples: Sequence[Example]) -> list[Example]:
    """The examples that are to be run; says on stderr which are skipped, and why.

    Raises:
        click.UsageError: all are.
        ConfigError: a quarantine that is not written as one.
    """
    ran = []
    for position, example in enumerate(examples, 1):
        quarantine_of(example)
        if not example.skip:
            ran.append(example)
            continue
        why = f": {example.skip}" if isinstance(example.skip, str) else ""
        click.echo(safe(f"skipped: {example.name or f'example {position}'}{why}"), err=True)
    if not ran:
        raise click.UsageError("all examples are skipped: an evaluation of nothing can neither pass nor fail")
    return ran


def with_expected_failures(report: EvaluationReport) -> EvaluationReport:
    """The report whose metadata say which failures were expected, and which quarantines are over."""
    expected: dict[int, dict[str, object]] = {}
    over: dict[int, str] = {}
    for result in report.results:
        quarantine = quarantine_of(result.example)
        why = why_failure_is_expected(result.example)
        if quarantine is not None and quarantine.is_over:
            remedy = "" if not result.success else "; it passes: remove its quarantine"
            over.setdefault(result.position, f"{label(result)}: the quarantine ended on {quarantine}{remedy}")
        if why is not None and result.outcome == "failed":  # what is errored says nothing either way
            expected[result.position] = expected_failure(report, result.position, label(result), why)
    more = {"expected_failures": list(expected.values()), "quarantines_over": list(over.values())}
    filled = {name: rows for name, rows in more.items() if rows}
    return replace(report, metadata={**report.metadata, **filled}) if filled else report


def with_failures_of(before: RunRecord | None, report: EvaluationReport) -> EvaluationReport:
    """The report whose metadata say, too, which failures are no worse than in a baseline.

    None is where the run fails as a whole: over all examples it is worse, or not what was required.
    """
    if before is None or "quarantines_over" in report.metadata:
        return report
    comparison = compare_runs(before, without_diffs(record_of_report(report)))
    required = all(row.get("holds") is True for row in requirements_of(report))
    if comparison.losses or not comparison.shares_examples or not required:
        return report
    rows = expected_failures(report)
    known = {row.get("position") for row in rows}
    failed = {one.position for one in report.results if one.outcome == "failed"} - known
    worse = ("new", "worse", "errored", "not_run")
    for change in comparison.changes:
        if change.after is not None and change.after.position in failed and change.kind not in worse:
            why = f"no worse than {before.label}"
            rows.append(expected_failure(report, change.after.position, change.label, why))
    return replace(report, metadata={**report.metadata, "expected_failures": rows}) if rows else report


def that_count(report: EvaluationReport) -> EvaluationReport:
    """The report without the failures that were expected."""
    expected = {row["position"] for row in report.metadata.get("expected_failures", ())}
    results = tuple(one for one in report.results if one.success or one.position not in expected)
    return report if len(results) == len(report) else replace(report, results=results)
