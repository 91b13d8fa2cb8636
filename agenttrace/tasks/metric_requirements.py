"""Whether the numbers of a metric meet what its `require` asks for."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from agenttrace.core.errors import did_you_mean
from agenttrace.evaluation.bound import Bound
from agenttrace.tasks.metric_entries import Metric
from agenttrace.tasks.observation import MetricError

Values = Mapping[str, float | None]


def requirement_rows(entry: Metric, values: Values, *, head: str, counts: str) -> list[dict[str, Any]]:
    """A row for each bound of a metric, as `reports.requirements` shows them.

    A number that is undefined meets no bound. The share of a value that never occurred is 0.

    Raises:
        MetricError: the metric gave no number of this name.
    """
    return [
        _row(f"{name} of {head}" if name else head, bound, _value(entry, values, name), counts)
        for name, bound in entry.bounds.items()
    ]


def unmet_rows(entry: Metric, *, head: str, why: str) -> list[dict[str, Any]]:
    """The rows of a metric that could not be worked out: none of its bounds is met."""
    return [
        _row(f"{name} of {head}" if name else head, bound, None, why) for name, bound in entry.bounds.items()
    ]


def _row(what: str, bound: Bound, value: float | None, counts: str) -> dict[str, Any]:
    holds = value is not None and bound.accepts(value)
    return {"require": f"{what} {bound}", "value": value, "counts": counts, "holds": holds}


def _value(entry: Metric, values: Values, name: str) -> float | None:
    if name in values:
        return values[name]
    if getattr(entry, "type", "") == "frequency":
        return 0.0 if values else None
    if not name:
        raise MetricError(f"require has one bound, and the metric several numbers: {', '.join(values)}")
    raise MetricError(f"require asks for {name!r}, which is no number of it{did_you_mean(name, values)}")
