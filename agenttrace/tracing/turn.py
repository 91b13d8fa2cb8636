"""`TurnBlock`: a span for one turn of a conversation; the calls inside it know their turn's number."""

from __future__ import annotations

from typing import Any

from agenttrace.core import semconv
from agenttrace.core.reading_types import type_name
from agenttrace.core.trace import TURN
from agenttrace.process.said_once import SaidOnce
from agenttrace.tracing.live import LiveSpan, running_trace
from agenttrace.tracing.open_span import SpanBlock
from agenttrace.tracing.record import Recorder

_warnings = SaidOnce()
_LARGEST = 10**9


class TurnBlock(SpanBlock):
    """Opens the span of a turn on entry and ends it on exit. Works in coroutines, too. Entered only once.

    A `number` that is no whole number from 1 is said once, and the turn is counted.
    """

    __slots__ = ("_number",)

    def __init__(self, recorder: Recorder, number: int | None) -> None:
        super().__init__(recorder, "turn", TURN, None)
        self._number = None if number is None else _recorded_number(number)

    def __enter__(self) -> LiveSpan:
        span = super().__enter__()
        trace = running_trace()
        if trace is not None and span.recorded:
            number = trace.begin_turn(self._number)
            span.set_attribute(semconv.TURN, number)
            span.set_name(f"turn {number}")
        return span


def _recorded_number(number: Any) -> int | None:
    """The number as it is recorded; None, which is said once, for what can be none. Runs no user code."""
    kind = type(number)
    whole = int.__index__(number) if issubclass(kind, int) and kind is not bool else 0
    if 1 <= whole <= _LARGEST:
        return whole
    _warnings.warn("turn", f"a turn is counted: its number is a whole number from 1, got {type_name(kind)}")
    return None
