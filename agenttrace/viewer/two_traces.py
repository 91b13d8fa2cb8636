"""The page of two traces: their tool calls aligned with each other, and where arguments differ."""

from __future__ import annotations

from collections import Counter
from difflib import SequenceMatcher
from typing import NamedTuple

from agenttrace.core.tool_call import ToolCall
from agenttrace.viewer.missing_page import no_trace
from agenttrace.viewer.reads import Asked, Reads
from agenttrace.viewer.render import render
from agenttrace.viewer.scores import Change, changed_part
from agenttrace.viewer.values import arguments_text

MOST = 120
"""Calls of each trace that are aligned and shown: a page is to stay below 100 KB."""
_LONGEST = 160
_SHORTEST = 4
"""Digits of an id that begin only one trace, as a rule."""


class PairView(NamedTuple):
    """A call of one trace beside the one of the other that stands in its place."""

    kind: str
    one: ToolCall | None
    other: ToolCall | None
    one_text: str
    other_text: Change


def two_traces(reads: Reads, asked: Asked) -> tuple[int, str]:
    """The calls of the trace ``id`` beside those of the trace ``other``."""
    traces = []
    for key in ("id", "other"):
        wanted = asked.get(key, "").strip()
        trace = reads.store.trace(wanted) if len(wanted) >= _SHORTEST else None
        if trace is None:
            return no_trace(reads, wanted)
        traces.append(trace)
    one, other = traces
    calls = [trace.tool_calls for trace in traces]  # once: the order of all calls is worked out each time
    pairs = aligned(calls[0][:MOST], calls[1][:MOST])
    counts = [len(each) for each in calls]
    return 200, render(
        "two_traces.html",
        reads,
        one=one,
        other=other,
        pairs=pairs,
        number=Counter(pair.kind for pair in pairs),
        known=[reads.facts(trace.trace_id) for trace in traces],
        counts=counts,
        left_out=max(*counts, MOST) - MOST,
    )


def aligned(one: tuple[ToolCall, ...], other: tuple[ToolCall, ...]) -> list[PairView]:
    """Calls side by side: those of one name that stand in the same order in both are pairs."""
    matcher = SequenceMatcher(
        None, [call.name for call in one], [call.name for call in other], autojunk=False
    )
    pairs: list[PairView] = []
    for tag, start, end, other_start, other_end in matcher.get_opcodes():
        if tag == "equal":
            pairs += [_pair(one[start + n], other[other_start + n]) for n in range(end - start)]
            continue
        pairs += [_pair(call, None) for call in one[start:end]]
        pairs += [_pair(None, call) for call in other[other_start:other_end]]
    return pairs


def _pair(one: ToolCall | None, other: ToolCall | None) -> PairView:
    one_text = "" if one is None else arguments_text(one.arguments, _LONGEST)
    other_text = "" if other is None else arguments_text(other.arguments, _LONGEST)
    if one is None or other is None:
        return PairView("gone" if other is None else "new", one, other, one_text, Change(other_text, "", ""))
    kind = "same" if one.arguments == other.arguments and one.failed == other.failed else "differs"
    return PairView(kind, one, other, one_text, changed_part(one_text, other_text))
