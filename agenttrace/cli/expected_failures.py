"""What examples say of themselves: skip, xfail, quarantine; which failures do not count."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import click

from agenttrace.core.example import Example
from agenttrace.core.quarantine import quarantine_of, why_failure_is_expected
from agenttrace.core.report import EvaluationReport
from agenttrace.reports.first_line import label
from agenttrace.reports.text import safe


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
            expected[result.position] = {"position": result.position, "example": label(result), "why": why}
    more = {"expected_failures": list(expected.values()), "quarantines_over": list(over.values())}
    filled = {name: rows for name, rows in more.items() if rows}
    return replace(report, metadata={**report.metadata, **filled}) if filled else report


def that_count(report: EvaluationReport) -> EvaluationReport:
    """The report without the failures that were expected."""
    expected = {row["position"] for row in report.metadata.get("expected_failures", ())}
    results = tuple(one for one in report.results if one.success or one.position not in expected)
    return report if len(results) == len(report) else replace(report, results=results)
