"""What a run spent: tokens, seconds, US dollars."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from agenttrace.core import semconv
from agenttrace.core.errors import ScorerError
from agenttrace.core.executions import AGENT
from agenttrace.core.model_requests import LLM
from agenttrace.core.numbers import is_number
from agenttrace.core.span import Span
from agenttrace.core.tool import TOOL
from agenttrace.core.trace import Trace

Measure = Literal["tokens", "seconds", "cost"]
"""What can be spent: tokens, seconds, US dollars."""

_TOTAL = ("total_tokens",)
_PARTS = (("input_tokens", "prompt_tokens"), ("output_tokens", "completion_tokens"))
_COST = ("cost", "total_cost")
_SAY_TOKENS = (
    "ask a server's stream for them (stream_options={'include_usage': True}), or record them: "
    "tracer.update_current_span(usage=…)"
)
_SAY_COST = "give the model's price: set_price(model, input=…, output=…), or usage={…, 'cost': …}"


@dataclass(frozen=True, slots=True)
class Spent:
    """What a run spent, as far as its trace tells; `untold` calls to models do not tell theirs, or so many
    spans no end."""

    amount: float
    untold: int = 0

    def text(self, amount: str) -> str:
        """The amount in words, given as it is written."""
        return f"at least {amount}" if self.untold else amount


def spent_within(trace: Trace, measure: Measure, limit: float, limited: str) -> Spent:
    """What a run spent, to be compared with a limit.

    Where some calls to models do not tell what they used, or some spans when they ended, what the others used
    is enough to break the limit, and not to keep it. `limited` says who limits what, and begins the error's
    text.

    Raises:
        ScorerError: the trace does not tell whether the limit is kept.
    """
    if measure == "seconds":
        seconds = spent_seconds(trace)
        if seconds is None:
            raise ScorerError(f"{limited}, and the trace does not tell them")
        return _seconds_within(trace, seconds, limit, limited)
    amount, calls, untold = _spent_by_models(trace, measure)
    if amount is None and (not untold or trace.is_recorded_run):
        raise ScorerError(f"{limited}, and the trace does not tell them")
    if untold and not (amount is not None and amount > limit):
        first = untold[0]
        lacks_price = measure == "cost" and tokens_of(first.usage or {}) is not None
        raise ScorerError(
            f"{limited}, and {len(untold)} of {calls} calls to models report none "
            f"(the first is of {_model(first)!r}): {_SAY_COST if lacks_price else _SAY_TOKENS}"
        )
    return Spent(amount or 0.0, len(untold))


def _seconds_within(trace: Trace, seconds: float, limit: float, limited: str) -> Spent:
    unfinished = [span for span in trace.spans if semconv.UNFINISHED in span.attributes]
    undated = [span for span in trace.spans if semconv.NO_START in span.attributes]
    if undated and seconds <= limit:
        raise ScorerError(
            f"{limited}, and {len(undated)} of {len(trace)} spans do not say when they began "
            f"(the first is {undated[0].name!r})"
        )
    if unfinished and seconds <= limit:
        raise ScorerError(
            f"{limited}, and {len(unfinished)} of {len(trace)} spans had not ended when the trace was "
            f"exported (the first is {unfinished[0].name!r}): export and import it again when they have"
        )
    return Spent(seconds, len({*map(id, unfinished), *map(id, undated)}))


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
    totals = _totals(usages, parents)
    for span, usage in usages.items():
        if span not in totals:
            yield usage


def _totals(spans: Collection[int], parents: Mapping[int, int | None]) -> set[int]:
    """Those of the spans that stand above others of them."""
    return {above for span in spans for above in _above(span, parents) if above in spans}


def _above(span: int, parents: Mapping[int, int | None]) -> Iterator[int]:
    """The spans above one, nearest first; stops at a loop."""
    key, visited = parents.get(span), {span}
    while key is not None and key not in visited:
        visited.add(key)
        yield key
        key = parents.get(key)


def _spent_by_models(trace: Trace, measure: Measure) -> tuple[float | None, int, Sequence[Span]]:
    """The amount that is told, None without any; how many calls to models there are; those that do not tell.

    A total above counts where nothing below it tells. What was summed from calls of which some tell may lack
    what these lack.
    """
    parents = {span.span_key: span.parent_key for span in trace.spans}
    amounts: dict[int, float] = {}
    for span in trace.spans:
        amount = _amount(span.usage, measure) if span.usage else None
        if amount is not None and amount >= 0:
            amounts[span.span_key] = amount
    for total in _totals(amounts, parents):
        del amounts[total]
    calls = _model_calls(trace, amounts, parents)
    untold = [
        call
        for call in calls
        if not _is_told(call, amounts, measure)
        # A total of nothing, above calls that tell nothing, was summed from nothing.
        and not any(amounts.get(above) for above in _above(call.span_key, parents))
    ]
    return (sum(amounts.values()) if amounts else None), len(calls), untold


def _model_calls(trace: Trace, amounts: Collection[int], parents: Mapping[int, int | None]) -> Sequence[Span]:
    """The calls to models, each once: of two spans of one call (a framework's, its client's) the inner one.

    What stands below a tool or an agent is another call.
    """
    calls, outer = {span.span_key: span for span in trace.spans if span.span_type == LLM}, set[int]()
    for span in trace.spans:
        if span.span_type != LLM and span.span_key not in amounts:
            continue
        for above in _above(span.span_key, parents):
            parent = trace.by_key.get(above)
            if parent is None or parent.span_type in (TOOL, AGENT):
                break
            if parent.span_type == LLM:
                outer.add(above)
                calls[span.span_key] = span
                break
    return [call for key, call in calls.items() if key not in outer]


def _is_told(call: Span, amounts: Collection[int], measure: Measure) -> bool:
    """Whether a call to a model tells all that it used.

    One that failed does not where it says nothing: a refused request is free, one that timed out may have
    been answered and charged, and the record does not say which it was. Nor does a stream that was left
    before its end, whose tokens are counted up to there.
    """
    if call.span_key not in amounts:
        return False
    recorded = call.attributes  # of an instrumentation, which tells how each answer ended
    if call.status != "ok" and semconv.OPERATION in recorded and semconv.FINISH_REASONS not in recorded:
        return False
    usage = call.usage or {}
    has_both = all(_first(usage, names) is not None for names in _PARTS)
    return measure == "cost" or has_both or _first(usage, _TOTAL) is not None


def _amount(usage: Mapping[str, Any], measure: Measure) -> float | None:
    return tokens_of(usage) if measure == "tokens" else _first(usage, _COST)


def _model(call: Span) -> str:
    """The name of the model that was asked, or that of the span."""
    names = (call.attributes.get(name) for name in (semconv.RESPONSE_MODEL, semconv.REQUEST_MODEL))
    return next((name for name in names if isinstance(name, str) and name), call.name)


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
