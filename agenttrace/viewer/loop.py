"""`Loop`: the call that a trace makes again and again, and what was spent from its first time to its last."""

from __future__ import annotations

from typing import NamedTuple

from agenttrace.core.jsonable import jsonable, to_json
from agenttrace.core.tool_call import ToolCall
from agenttrace.core.trace import Trace
from agenttrace.matching.spending import spent_cost, spent_tokens

LEAST = 3


class Loop(NamedTuple):
    """Equal calls of a tool. Tokens and cost (US dollars) are None where nothing tells them."""

    name: str
    times: int
    first_span: str
    tokens: float | None
    cost: float | None


def loop_of(trace: Trace) -> Loop | None:
    """The call that was made most often with the same arguments, three times or more; no failed ones.

    What was spent is that of all spans that began between the start of its first and the end of its last.
    """
    groups: dict[tuple[str, str], list[ToolCall]] = {}
    for call in trace.tool_calls:
        if not call.failed:
            groups.setdefault((call.name, to_json(jsonable(call.arguments))), []).append(call)
    calls = max(groups.values(), key=len, default=[])
    if len(calls) < LEAST:
        return None
    ids = {call.span_id for call in calls}
    own = [span for span in trace.spans if span.span_id in ids]
    if not own:
        return None
    start, end = min(span.start_ns for span in own), max(span.end_ns for span in own)
    within = Trace([span for span in trace.spans if start <= span.start_ns < end], trace_key=trace.trace_key)
    return Loop(calls[0].name, len(calls), own[0].span_id, spent_tokens(within), spent_cost(within))
