"""`TurnBlock`: a span for one turn of a conversation; the calls inside it know their turn's number."""

from __future__ import annotations

from agenttrace.core import semconv
from agenttrace.core.errors import ConfigError
from agenttrace.core.numbers import is_whole
from agenttrace.core.trace import TURN
from agenttrace.tracing.live import LiveSpan, running_trace
from agenttrace.tracing.open_span import SpanBlock
from agenttrace.tracing.record import Recorder


class TurnBlock(SpanBlock):
    """Opens the span of a turn on entry and ends it on exit. Works in coroutines, too. Entered only once.

    Raises:
        ConfigError: `number` is not a whole number from 1.
    """

    __slots__ = ("_number",)

    def __init__(self, recorder: Recorder, number: int | None) -> None:
        if number is not None and not is_whole(number, 1):
            raise ConfigError(f"a turn's number is a whole number from 1, got {number!r}")
        super().__init__(recorder, "turn", TURN, None)
        self._number = number

    def __enter__(self) -> LiveSpan:
        span = super().__enter__()
        trace = running_trace()
        if trace is not None and span.recorded:
            number = trace.begin_turn(self._number)
            span.set_attribute(semconv.TURN, number)
            span.set_name(f"turn {number}")
        return span
