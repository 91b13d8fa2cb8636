"""`Span`: one finished call as a value, with its error."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from agenttrace.core.identity import span_id_text, trace_id_text
from agenttrace.core.marks import without_digests

if TYPE_CHECKING:
    from agenttrace.core.tool import ToolDefinition

Status = Literal["ok", "error", "cancelled", "abandoned"]
"""How a call ended: *cancelled* for CancelledError and GeneratorExit, *abandoned* for a generator that was
dropped before it was exhausted."""

EMPTY: Mapping[str, Any] = {}


@dataclass(frozen=True, slots=True)
class Frame:
    """One line of a traceback."""

    file: str
    line: int
    function: str

    def __str__(self) -> str:
        return f"{self.file}:{self.line} in {self.function}"


@dataclass(frozen=True, slots=True)
class SpanError:
    """The exception that left a call.

    `frames` has the innermost frame last. It is empty where a nested span of the same trace already carries
    the traceback of the same exception.
    """

    type: str
    message: str
    frames: tuple[Frame, ...] = ()

    def __str__(self) -> str:
        return f"{self.type}: {self.message}" if self.message else self.type


class Span:
    """One finished call. It never changes after it was made.

    Ids are kept as integers (`trace_key` 128 bit, `span_key` and `parent_key` 64 bit) and shown as hex
    (`trace_id`, `span_id`, `parent_id`). `start_ns` and `end_ns` are nanoseconds since the Unix epoch, made
    from one wall-clock anchor and the monotonic clock, so a duration is never negative. `index` is the
    start order within the trace: scorers order by it, never by the end. `input` is ``{parameter: value}``
    with defaults applied, or None where it was not captured; `input` and `output` are JSON-safe snapshots.
    `tool` describes the recorded function's parameters, where it is known.
    """

    __slots__ = (
        "attributes",
        "end_ns",
        "error",
        "index",
        "input",
        "name",
        "output",
        "parent_key",
        "project",
        "span_key",
        "span_type",
        "start_ns",
        "status",
        "tool",
        "trace_key",
        "usage",
    )

    def __init__(
        self,
        *,
        trace_key: int,
        span_key: int,
        parent_key: int | None = None,
        index: int = 0,
        name: str,
        span_type: str = "function",
        start_ns: int = 0,
        end_ns: int = 0,
        input: Mapping[str, Any] | None = None,  # noqa: A002 - the field's own word
        output: Any = None,
        status: Status = "ok",
        error: SpanError | None = None,
        attributes: Mapping[str, Any] = EMPTY,
        usage: Mapping[str, Any] | None = None,
        project: str = "",
        tool: ToolDefinition | None = None,
    ) -> None:
        self.trace_key = trace_key
        self.span_key = span_key
        self.parent_key = parent_key
        self.index = index
        self.name = name
        self.span_type = span_type
        self.start_ns = start_ns
        self.end_ns = end_ns
        self.input = input
        self.output = output
        self.status: Status = status
        self.error = error
        self.attributes = attributes
        self.usage = usage
        self.project = project
        self.tool = tool

    @property
    def trace_id(self) -> str:
        """32 hex digits."""
        return trace_id_text(self.trace_key)

    @property
    def span_id(self) -> str:
        """16 hex digits."""
        return span_id_text(self.span_key)

    @property
    def parent_id(self) -> str | None:
        """16 hex digits, or None for a root."""
        return None if self.parent_key is None else span_id_text(self.parent_key)

    @property
    def duration_ns(self) -> int:
        """Nanoseconds from start to end."""
        return self.end_ns - self.start_ns

    def to_dict(self) -> dict[str, Any]:
        """Every field under its name, ids as hex, ready for JSON; without the digests of what was cut."""
        return {
            "trace_id": self.trace_id,
            "span_id": self.span_id,
            "parent_id": self.parent_id,
            "index": self.index,
            "name": self.name,
            "span_type": self.span_type,
            "start_ns": self.start_ns,
            "end_ns": self.end_ns,
            "input": None if self.input is None else without_digests(dict(self.input)),
            "output": without_digests(self.output),
            "status": self.status,
            "error": None
            if self.error is None
            else {
                "type": self.error.type,
                "message": self.error.message,
                "frames": [str(frame) for frame in self.error.frames],
            },
            "attributes": without_digests(dict(self.attributes)),
            "usage": None if self.usage is None else dict(self.usage),
            "project": self.project,
        }

    def __repr__(self) -> str:
        return f"<Span {self.name!r} {self.span_type} {self.status} {self.duration_ns / 1e6:.3f} ms>"
