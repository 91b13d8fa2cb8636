"""The metrics of a task's run as lines and rows: numbers over all samples, and how many samples have none."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from agenttrace.core.report import EvaluationReport
from agenttrace.reports.text import Line, safe_line

_SHOWN = 12
"""Numbers of one metric on a line: a classification of many classes has more."""


class MetricRow(NamedTuple):
    """A metric in words: what it is of, its numbers, over how many samples, what went wrong."""

    name: str
    scorer: str
    values: str
    samples: str
    error: str | None
    informs: bool


def metric_rows(report: EvaluationReport) -> list[MetricRow]:
    """The metrics of a report, in the order of the task; none where no task was run."""
    metrics = report.metadata.get("metrics")
    return (
        [_row(one) for one in metrics if isinstance(one, Mapping)]
        if isinstance(metrics, list | tuple)
        else []
    )


def metric_lines(report: EvaluationReport) -> Iterator[Line]:
    """A line for each metric: ``recall of Tool Order: 0.75 over 3 of 4 (1 errored)``."""
    for row in metric_rows(report):
        head = f"{safe_line(row.name, 80)} of {safe_line(row.scorer, 80)}"
        informs = " (qa)" if row.informs else ""
        if row.error is not None:
            yield Line(f"! {head}{informs}: errored: {safe_line(row.error, 500)}", "yellow")
        else:
            yield Line(f"{head}{informs}: {safe_line(row.values, 1_000)} over {row.samples}")


def has_errored_metric(report: EvaluationReport) -> bool:
    """Whether a metric could not be worked out."""
    return any(row.error is not None for row in metric_rows(report))


def _row(metric: Mapping[str, Any]) -> MetricRow:
    values, error = metric.get("values"), metric.get("error")
    left_out = metric.get("left_out")
    samples = f"{metric.get('count', 0)} of {metric.get('total', 0)}"
    if isinstance(left_out, Mapping) and left_out:
        samples += f" ({', '.join(f'{count} {reason}' for reason, count in left_out.items())})"
    text = _values(values if isinstance(values, Mapping) else {})
    reason = metric.get("reason")
    if text == "undefined" and reason:
        text += f" ({reason})"
    return MetricRow(
        name=str(metric.get("name")),
        scorer=str(metric.get("scorer")),
        values=text,
        samples=samples,
        error=None if error is None else str(error),
        informs=metric.get("purpose") == "qa",
    )


def _values(values: Mapping[str, Any]) -> str:
    if not values:
        return "undefined"
    texts = [f"{name} {_number(value)}".strip() for name, value in values.items()]
    more = f", … {len(texts) - _SHOWN} more" if len(texts) > _SHOWN else ""
    return ", ".join(texts[:_SHOWN]) + more


def _number(value: Any) -> str:
    return f"{value:.4g}" if isinstance(value, int | float) else "undefined"
