"""What a run was required to reach, and whether it did: a line for each requirement, the verdict of all."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from agenttrace.core.report import EvaluationReport
from agenttrace.reports.text import Line, safe_line

LONGEST = 500


def requirements_of(report: EvaluationReport) -> list[Mapping[str, Any]]:
    """The requirements with what was measured, those of the run and then those of a task's metrics, as a
    report's metadata have them; empty without any."""
    metrics = _mappings(report.metadata.get("metrics"))
    of_metrics = (row for metric in metrics for row in _mappings(metric.get("requirements")))
    return [*_mappings(report.metadata.get("requirements")), *of_metrics]


def _mappings(rows: object) -> list[Mapping[str, Any]]:
    return [row for row in rows if isinstance(row, Mapping)] if isinstance(rows, list | tuple) else []


def is_accepted(report: EvaluationReport) -> bool:
    """Whether all passed, but for failures that were expected; or what was required instead holds, all was
    run, and nothing is errored.
    """
    rows = requirements_of(report)
    expected = {row.get("position") for row in expected_failures(report)}
    if expected:
        report = replace(report, results=tuple(r for r in report if r.success or r.position not in expected))
    if report.metadata.get("quarantines_over"):
        return False
    if not rows:
        return report.passed or (bool(expected) and not report.results)
    counts = report.counts
    is_whole = not counts.get("not_run") and not report.metadata.get("interrupted")
    return is_whole and not counts["errored"] and all(row.get("holds") is True for row in rows)


def requirements_verdict(report: EvaluationReport) -> str:
    """How many of the requirements are met, for a headline; empty without any."""
    rows = requirements_of(report)
    met = sum(row.get("holds") is True for row in rows)
    if not rows or met == len(rows):
        return f"; what is required is {'met' if is_accepted(report) else 'not met'}" if rows else ""
    return (
        f"; {len(rows) - met} of {len(rows)} requirements not met" if len(rows) > 1 else "; not as required"
    )


def expected_failures(report: EvaluationReport) -> list[Mapping[str, Any]]:
    """The failures that xfail or a quarantine accept, as the metadata have them; empty without any."""
    return _mappings(report.metadata.get("expected_failures"))


def expected_failure(report: EvaluationReport, position: int, example: str, why: str) -> dict[str, Any]:
    """What the metadata say of an example whose failure was expected; `results` of its trials failed."""
    failed = sum(result.outcome == "failed" and result.position == position for result in report)
    return {"position": position, "example": example, "why": why, "results": failed}


def xfailed(report: EvaluationReport) -> int:
    """How many of the results that failed were expected to."""
    positions = {row.get("position") for row in expected_failures(report)}
    return sum(result.outcome == "failed" and result.position in positions for result in report)


def why_expected(report: EvaluationReport, position: int) -> str | None:
    """Why the failure of the example at this position was expected; None where it was not."""
    rows = (row for row in expected_failures(report) if row.get("position") == position)
    return next((str(row.get("why")) for row in rows), None)


def expectation_lines(report: EvaluationReport) -> Iterator[Line]:
    """A line for each failure that was expected, and for each quarantine that is over."""
    for row in expected_failures(report):
        yield Line(safe_line(f"· expected to fail: {row.get('example')}: {row.get('why')}", LONGEST), "dim")
    over = report.metadata.get("quarantines_over")
    for text in over if isinstance(over, list) else ():
        yield Line(safe_line(f"✗ {text}", LONGEST), "red")


def requirement_lines(report: EvaluationReport) -> Iterator[Line]:
    """A line for each requirement, with whether it holds, those first that do not; of a run that was stored
    by an earlier version without.
    """
    rows = requirements_of(report)
    for row in sorted(rows, key=lambda row: row.get("holds") is True):
        holds = row.get("holds") is True
        text = safe_line(f"{'✓' if holds else '✗'} required: {requirement_text(row)}", LONGEST)
        yield Line(text, "green" if holds else "red")
    if not rows and "requirement" in report.metadata:
        yield Line(safe_line(f"required: {report.metadata['requirement']}", LONGEST))


def requirement_text(row: Mapping[str, Any]) -> str:
    """A requirement with what was measured, from its data."""
    value, interval = row.get("value"), row.get("interval")
    if "counts" in row and interval is None:  # a metric's
        got = f"{value:.4g}" if isinstance(value, int | float) else "no number"
        return f"{row.get('require')}, got {got} ({row.get('counts')})"
    if not isinstance(value, int | float) or not isinstance(interval, Sequence) or not _is_pair(interval):
        return str(row.get("require"))
    doubt = ": too few trials to tell" if row.get("unsure") else ""
    low, high = interval
    return (
        f"{row.get('require')}, got {value:.3g} ({row.get('counts')}; "
        f"95 % interval {low:.2f} to {high:.2f}{doubt})"
    )


def _is_pair(interval: Sequence[Any]) -> bool:
    return len(interval) == 2 and all(isinstance(end, int | float) for end in interval)
