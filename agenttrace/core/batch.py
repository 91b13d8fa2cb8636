"""`Batch`: what a store takes in one transaction; `Unsent`: what waits there to be sent."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Literal, NamedTuple

if TYPE_CHECKING:
    from agenttrace.core.annotation import Annotation
    from agenttrace.core.score import Score
    from agenttrace.core.span import Span
    from agenttrace.core.tool import ToolDefinition
    from agenttrace.core.watch import CountsRecording


class ScoreRow(NamedTuple):
    """A score with what it is about: a span, a whole trace (no span id), or nothing recorded (no ids)."""

    trace_id: str | None
    span_id: str | None
    score: Score


class Destination(NamedTuple):
    """Where all spans, or all scores, of a tracer are to be sent once they are stored.

    `name` is the same in every process that sends to the same place.
    """

    name: str
    kind: Literal["spans", "scores"]


@dataclass(frozen=True, slots=True)
class Batch:
    """What a store takes in one transaction: all of it, or nothing.

    `tools` are the definitions of each project's tools, called or not. `send_to` is where the spans and
    scores of the batch are to be sent: the store remembers it until they are settled. `annotations` are what
    people said. `recorder` is what counts the spans of the tracer that the batch comes from.
    """

    spans: Sequence[Span] = ()
    scores: Sequence[ScoreRow] = ()
    tools: Mapping[str, Sequence[ToolDefinition]] = field(default_factory=dict)
    send_to: Sequence[Destination] = ()
    annotations: Sequence[Annotation] = ()
    recorder: CountsRecording | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Unsent:
    """Spans or scores that wait for one destination, in the order in which they were stored.

    `ranges` are the row numbers that they come from, first and last, both included; `numbers` are those of
    the items: rows that were deleted in the meantime are missing. `times` are when a span ended or a
    score was stored, in nanoseconds. `tools` are the definitions of each project's tools, called or not, that
    go out beside spans; none where it cannot be told which there are.

    Versions before 0.2 stored encoded requests. Such a one has a `body` with its content type, no items, and
    its own number as the only range. `file` is the identity of the file that holds the rows: in another one,
    put in its place meanwhile, the numbers mean other rows. None: they wait in memory.
    """

    destination: Destination
    ranges: Sequence[tuple[int, int]]
    numbers: Sequence[int] = ()
    items: Sequence[Span] | Sequence[ScoreRow] = ()
    times: Sequence[int] = ()
    tools: Mapping[str, Sequence[ToolDefinition]] = field(default_factory=dict)
    body: bytes | None = None
    content_type: str = ""
    file: tuple[int, int] | None = None

    def without_tools(self) -> Unsent:
        """The same where it cannot be told which tools there are."""
        return replace(self, tools={})


class UnsentCounts(NamedTuple):
    """How many items wait for a destination, how many it refused, and for how many memory had no room."""

    waiting: int
    refused: int
    dropped: int = 0


class Refusal(NamedTuple):
    """The items from `start` up to `stop` of what was sent, how many of them were `refused`, and why."""

    start: int
    stop: int
    refused: int
    reason: str
