"""What a run spent: tokens, seconds, US dollars."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from agenttrace.core import semconv
from agenttrace.core.numbers import is_number
from agenttrace.core.trace import Trace

_TOTAL = ("total_tokens",)
_PARTS = (("input_tokens", "prompt_tokens"), ("output_tokens", "completion_tokens"))
_COST = ("cost", "total_cost")


def spent_tokens(trace: Trace) -> float | None:
    """Input and output tokens of all spans, or None where no span has them."""
    return total_tokens(_usages(trace))


def spent_cost(trace: Trace) -> float | None:
    """US dollars of all spans, or None where no span has them."""
    return total_cost(_usages(trace))


def spent_seconds(trace: Trace) -> float | None:
    """Seconds from the first start to the last end; None for a recorded run, whose clock is artificial."""
    root = trace.root
    if root is None or root.attributes.get(semconv.RECORDED):
        return None
    return trace.duration_ns / 1e9


def unpriced_spans(trace: Trace) -> int:
    """How many spans tell the tokens of a model's answer and not what they cost."""
    return sum(tokens_of(usage) is not None and _first(usage, _COST) is None for usage in _usages(trace))


def _usages(trace: Trace) -> Iterator[Mapping[str, Any]]:
    return without_totals(
        {span.span_key: span.usage for span in trace.spans if span.usage},
        {span.span_key: span.parent_key for span in trace.spans},
    )


def without_totals(
    usages: Mapping[int, Mapping[str, Any]], parents: Mapping[int, int | None]
) -> Iterator[Mapping[str, Any]]:
    """The usage of each span, without spans that have descendants with a usage: those are totals."""
    totals: set[int] = set()
    for span in usages:
        key, visited = parents.get(span), {span}
        while key is not None and key not in visited:
            visited.add(key)
            if key in usages:
                totals.add(key)
            key = parents.get(key)
    for span, usage in usages.items():
        if span not in totals:
            yield usage


def total_tokens(usages: Iterable[Mapping[str, Any]]) -> float | None:
    """The sum of input and output tokens, or None where there are none."""
    return _sum([tokens_of(usage) for usage in usages])


def total_cost(usages: Iterable[Mapping[str, Any]]) -> float | None:
    """The sum in US dollars, or None where there is none."""
    return _sum([_first(usage, _COST) for usage in usages])


def tokens_of(usage: Mapping[str, Any]) -> float | None:
    """Input and output tokens of one usage, or None where it has none."""
    total = _first(usage, _TOTAL)
    return total if total is not None else _sum(_first(usage, names) for names in _PARTS)


def _first(usage: Mapping[str, Any], names: Iterable[str]) -> float | None:
    for name in names:
        value = usage.get(name)
        if type(value) is float:
            return value
        if is_number(value):
            return float(value)
    return None


def _sum(values: Iterable[float | None]) -> float | None:
    amounts = [value for value in values if value is not None]
    return sum(amounts) if amounts else None
