"""`capture`: a block of code whose recorded calls become one finished trace."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping, Sequence, Set
from functools import partial
from types import TracebackType
from typing import Any, NamedTuple

from agenttrace.core.errors import ConfigError
from agenttrace.core.identity import monotonic_ns
from agenttrace.core.interruptions import thrown_in
from agenttrace.core.limits import CAPTURED, Limits
from agenttrace.core.score import Score
from agenttrace.core.span import Span
from agenttrace.core.tool import ToolDefinition
from agenttrace.core.trace import Trace
from agenttrace.redaction import Redaction
from agenttrace.tracing.context import Entered, captured_open, captured_scopes
from agenttrace.tracing.default_recorder import default_recorder
from agenttrace.tracing.delivery import Nowhere
from agenttrace.tracing.finish import finish, scores_of
from agenttrace.tracing.freeze import Frozen
from agenttrace.tracing.observed_function import known_tools
from agenttrace.tracing.pipeline import Pipeline
from agenttrace.tracing.record import (
    END,
    EXTRA,
    INDEX,
    OBSERVED,
    SCOPE,
    START,
    FinishedSpan,
    ReceivedSpan,
    Record,
    Recorder,
    Scope,
    key_of,
    weight_of,
    with_heavy_values,
    without_heavy_values,
)
from agenttrace.tracing.repeated_secrets import secrets_of_trace
from agenttrace.tracing.state import States, StateSource, captured_states, is_root
from agenttrace.tracing.unfinished import STILL_RUNS, unfinished_tools

MAX_CAPTURED = 1_000_000
"""Records that one capture keeps. Further ones are dropped and counted."""


class _Tee(deque[Any]):
    """Keeps the records of one capture, and passes each on to the pipeline.

    Heavy values beyond those that one trace may keep are replaced by a mark in the captured trace, and
    counted; the store still gets them. So are, in what the store gets, those beyond what the pipeline lets
    wait; the captured trace still has them.
    """

    def __init__(self, scope: Scope) -> None:
        super().__init__()
        self.scope = scope
        self.weight = 0
        self.spans_lightened = 0

    def append(self, record: Record) -> None:
        weight = weight_of(record)
        if weight and self.weight + weight > self.scope.limits.trace:
            self.spans_lightened += 1
            deque.append(self, without_heavy_values(record))
        else:
            self.weight += weight
            deque.append(self, record)
        pipeline = self.scope.pipeline
        entrance = pipeline.entrance
        if len(entrance) < pipeline.limit:
            entrance.append(with_heavy_values(record, pipeline.weigh) if weight else record)
        elif pipeline.limit:  # else nothing is passed on
            pipeline.queue_full.add()


class LateCall(NamedTuple):
    """A tool's call that began in a trace whose capture had ended: it is stored, and in no score."""

    name: str
    moment: int
    """When it began, as `monotonic_ns`."""
    trace_key: int


class _Afterwards(deque[Any]):
    """Passes on to the pipeline what is recorded after a capture; notes calls that began then."""

    def __init__(self, pipeline: Any, ended: int, late: deque[LateCall]) -> None:
        super().__init__()
        self.pipeline = pipeline
        self.ended = ended
        self.late = late

    def append(self, record: Record) -> None:
        observed = record[OBSERVED]
        if record[START] > self.ended and getattr(observed, "span_type", None) == "tool":
            self.late.append(LateCall(str(observed.name), record[START], record[SCOPE].trace_key))
        pipeline = self.pipeline
        if len(pipeline.entrance) < pipeline.limit:
            pipeline.entrance.append(record)
        elif pipeline.limit:  # else nothing is passed on
            pipeline.queue_full.add()


MOST_LATE = 1_000
"""Late calls that are known: the newest, since a worker may go on for as long as the process lives."""


class Capture:
    """Everything that is recorded inside a block, as one finished trace, whatever tracer records it.

    Entering starts a trace of its own, also inside a traced call; sampling does not apply.
    Calls in tasks, threads and executors started inside the block belong to it. `trace` has all calls that
    ended before the block did, without a flush, and those of tools that began and run still: what they return
    is not known. Calls that end later still reach the store; `late_calls` are
    those of tools that began later. Values are kept whole, within `limits`. `states` are read when the block
    begins and when it ends; async functions among them need ``async with`` where an event loop runs. Who sets
    `reads_states` to False reads them itself.
    """

    def __init__(
        self,
        recorder: Recorder | None = None,
        limits: Limits = CAPTURED,
        states: Mapping[str, StateSource] | None = None,
        *,
        trace_key: int | None = None,
    ) -> None:
        self._recorder = recorder
        self._limits = limits
        self._trace_key = trace_key
        self._tools: dict[str, ToolDefinition] = {}
        self._sources = {} if states is None else states
        self.states: States | None = None
        self.reads_states = True
        self.late_calls: deque[LateCall] = deque(maxlen=MOST_LATE)
        self._scope: Scope | None = None
        self._records: _Tee | None = None
        self._entered: Entered | None = None
        self._trace: Trace | None = None
        self._unfinished: list[Record] = []
        self._secrets_elsewhere: Set[str] = frozenset()

    def __enter__(self) -> Capture:
        if self._scope is not None:
            raise ConfigError("a capture is opened once; make another with capture()")
        recorder = self._recorder or default_recorder()
        pipeline = recorder.resolve()
        if pipeline is None:
            pipeline = Pipeline(Nowhere(), limit=0)
        elif pipeline.limit:
            pipeline.ensure_worker()
        self._scope = scope = Scope(pipeline, recorder.project, trace_key=self._trace_key)
        self._records = scope.queue = _Tee(scope)
        scope.limit = MAX_CAPTURED
        scope.limits = self._limits
        scope.weigh = _admitted
        self.states = States(scope, list(self._sources.values()))
        if self.reads_states:
            self.states.read()
        self._entered = Entered(scope.head())
        captured_scopes[scope.trace_key] = scope
        captured_states[scope.trace_key] = self.states
        return self

    async def __aenter__(self) -> Capture:
        reads, self.reads_states = self.reads_states, False
        self.__enter__()
        if reads and self.states is not None:
            await self.states.read_async()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            if self.states is not None:
                await self.states.read_async()
        finally:
            self.__exit__(kind, error, trace)

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        assert self._scope is not None
        assert self._entered is not None
        try:
            self._end_states()
            self._unfinished = unfinished_tools(self._scope, list(self._records or ()))
            self._trace = self._finish()
        finally:
            captured_scopes.pop(self._scope.trace_key, None)
            captured_open.pop(self._scope.trace_key, None)
            captured_states.pop(self._scope.trace_key, None)
            self._scope.queue = _Afterwards(self._scope.pipeline, monotonic_ns(), self.late_calls)
            self._scope.limit = self._scope.pipeline.limit
            self._scope.weigh = self._scope.pipeline.weigh
            self._entered.leave()

    def _end_states(self) -> None:
        assert self.states is not None
        if self.states.any:
            if self.reads_states:
                self.states.read()
            self.states.write(record for record in list(self._records or ()) if is_root(record))

    @property
    def trace(self) -> Trace:
        """The captured trace: what has ended so far, while the block is open."""
        return self._trace if self._trace is not None else self._finish()

    @property
    def secrets(self) -> Set[str]:
        """What was taken out of the values of `trace`: what its function returns or raises may repeat it."""
        own = set() if self._scope is None else secrets_of_trace(self._scope)
        return own | self._secrets_elsewhere

    @property
    def spans_lightened(self) -> int:
        """How many spans of `trace` have no heavy values, because the capture had no room for them."""
        return 0 if self._records is None else self._records.spans_lightened

    def part_elsewhere(self) -> PartElsewhere:
        """What another process needs to record a part of this trace; the capture is open."""
        assert self._scope is not None, "a capture that is not open has no trace"
        pipeline = self._scope.pipeline
        return PartElsewhere(self._scope.trace_key, self._scope.project, pipeline.redaction, self._limits)

    @property
    def scope(self) -> Scope | None:
        """The trace that is being captured; None before the block."""
        return self._scope

    def take(self, recorded: RecordedElsewhere) -> None:
        """Add what another process recorded for this trace: it goes where calls of this process go."""
        assert self._scope is not None, "a capture that is not open has no trace"
        self._tools.update(recorded.tools)
        self._secrets_elsewhere |= recorded.secrets
        for span in recorded.spans:
            scores = recorded.scores.get(span.span_key, ())
            self._scope.queue.append(FinishedSpan(self._scope, monotonic_ns(), span, scores))

    def recorded(self) -> RecordedElsewhere:
        """What was recorded so far, for the process that asked for it."""
        trace = self.trace
        redaction = Redaction() if self._scope is None else self._scope.pipeline.redaction
        records = [record for record in list(self._records or ()) if record[EXTRA] and record[END]]
        scores = {key_of(record): scores_of(record, redaction) for record in records}
        return RecordedElsewhere(
            trace.spans,
            dict(known_tools()),
            {key: some for key, some in scores.items() if some},
            self.secrets,
        )

    def _finish(self) -> Trace:
        if self._scope is None or self._records is None:
            return Trace()
        redaction = self._scope.pipeline.redaction
        records = [record for record in list(self._records) if record[END]]
        spans = list(filter(None, [_span_of(record, redaction) for record in records]))
        ended = {record[INDEX] for record in records if type(record) is list}
        for record in self._unfinished:
            span = None if record[INDEX] in ended else _span_of(record, redaction)
            if span is not None:
                span.output = STILL_RUNS
                spans.append(span)
        tools = {**self._tools, **known_tools()} if self._tools else known_tools()
        if any(type(record) is ReceivedSpan for record in records):
            from agenttrace.otlp_in.reading import read_together  # on use: most captures need none of it

            spans, received_tools = read_together(spans)
            tools = {**received_tools, **tools}
        return Trace(spans, trace_key=self._scope.trace_key, tools=tools)


class RecordedElsewhere(NamedTuple):
    """What a process recorded of a trace of another: spans, the tools that it knows, scores by span, and the
    secrets that it took out, which the agent's answer may repeat."""

    spans: Sequence[Span]
    tools: Mapping[str, ToolDefinition]
    scores: Mapping[int, Sequence[Score]]
    secrets: Set[str] = frozenset()


class PartElsewhere(NamedTuple):
    """Where a process records a part of another's trace: id, project, rules and limits. Can be pickled."""

    trace_key: int
    project: str
    redaction: Redaction
    limits: Limits

    def capture(self) -> Capture:
        """A capture that keeps what is recorded in it, and passes it on to no store of this process."""
        pipeline = Pipeline(Nowhere(), limit=0, redaction=self.redaction)
        recorder = Recorder(self.project, lambda: pipeline)
        return Capture(recorder, self.limits, trace_key=self.trace_key)


def _admitted(value: Frozen) -> Frozen:
    """A value of a capture, which `_Tee` weighs when its call has ended."""
    return value


def receive(scope: Scope, span: Span) -> None:
    """Add a span that arrived by OpenTelemetry to a trace: to its capture, after that to the store."""
    record = ReceivedSpan(scope, monotonic_ns(), partial(_received_span, span))
    if len(scope.queue) < scope.limit:
        scope.queue.append(record)
    elif scope.limit:  # else nothing is passed on
        scope.pipeline.queue_full.add()


def _received_span(span: Span, redaction: Redaction) -> Span:
    from agenttrace.redaction.received import redact_arrived  # on use: most captures need none of it

    return redact_arrived(span, redaction)


def _span_of(record: Record, redaction: Redaction) -> Span | None:
    try:
        return finish(record, redaction)
    except Exception as error:  # choke-point: the pipeline counts it; the captured block goes on
        if thrown_in(error):
            raise
        return None


def capture(recorder: Recorder | None = None) -> Capture:
    """Capture a block: ``with capture() as captured: …``, then ``captured.trace``."""
    return Capture(recorder)
