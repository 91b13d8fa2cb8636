"""`RecordedCall`: a call of a recording that can be answered again, or why it cannot be."""

from __future__ import annotations

import builtins
import sys
from ast import literal_eval
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from agenttrace.core import semconv
from agenttrace.core.errors import ConfigError
from agenttrace.core.marks import cause_within
from agenttrace.core.span import Span, SpanError
from agenttrace.core.tagged import opened_throughout
from agenttrace.core.text import shorten
from agenttrace.core.tool import TOOL
from agenttrace.core.trace import Trace

ANSWERED = (TOOL, "llm", "retriever")
"""The types of spans that a recording answers: what reaches outside of the agent's own code."""

_REMEDY = "record it whole (Tracer(limits=…, redact=…)), or simulate that tool"


@dataclass(frozen=True, slots=True)
class RecordedCall:
    """One call of the recording, by its number among those that are answered."""

    number: int
    span: Span

    @property
    def is_request(self) -> bool:
        """Whether a wrapped client made it: a request to a model."""
        return self.span.span_type == "llm" and semconv.OPERATION in self.span.attributes

    @property
    def arguments(self) -> Mapping[str, Any]:
        """What it was called with, as recorded."""
        return self.span.input or {}

    @property
    def text(self) -> str:
        """``search(city='Paris')``."""
        items = ", ".join(f"{name}={shorten(repr(value), 60)}" for name, value in self.arguments.items())
        return f"{self.span.name}({shorten(items, 160)})"

    def check(self) -> None:
        """Raise ConfigError where what was recorded of it is not enough to answer it again."""
        why = self._why_not()
        if why is not None:
            raise ConfigError(f"call {self.number} of the recording, {self.text}, cannot be replayed: {why}")

    def _why_not(self) -> str | None:
        span = self.span
        if span.input is None:
            return f"its arguments were not recorded; {_REMEDY}"
        if span.error is not None:
            if self.is_request:
                return "the request failed, and providers' errors cannot be made again"
            kind = _class_of(span.error)
            if kind is None:
                return f"{span.error.type} is not among the imported classes"
            made = _made(kind, span.error.message)
            return None if made else f"{span.error.type} cannot be made of its text again; simulate that tool"
        if span.status != "ok" and semconv.ITEMS not in span.attributes:
            return f"it was {span.status}"
        if semconv.RETURNED in span.attributes:
            return "it is a generator that returned a value beside its items"
        cause = cause_within(span.output)
        return None if cause is None else f"its output was {cause} when it was recorded; {_REMEDY}"

    @property
    def output(self) -> Any:
        """What it gave, as recorded: dataclasses and models are mappings."""
        return opened_throughout(self.span.output)

    @property
    def error(self) -> BaseException | None:
        """A new exception like the one that it raised: of its class, with its text."""
        if self.span.error is None:
            return None
        kind = _class_of(self.span.error)
        return None if kind is None else _made(kind, self.span.error.message)


def _made(kind: type[BaseException], message: str) -> BaseException | None:
    """An exception of this class with this text; None where none can be made of the text alone."""
    ways: tuple[Callable[[], BaseException], ...] = (
        lambda: kind(message) if message else kind(),
        lambda: kind(_unquoted(message)),  # a KeyError
        lambda: kind.__new__(kind, message),  # the class takes other arguments, or makes a text of them
    )
    return next((error for error in map(_tried, ways) if error is not None and _text(error) == message), None)


def _tried(way: Callable[[], BaseException]) -> BaseException | None:
    try:
        return way()
    except Exception:  # choke-point: the class's own code
        return None


def _text(error: BaseException) -> str | None:
    try:
        return str(error)
    except Exception:  # choke-point: the class's own code
        return None


def _unquoted(text: str) -> Any:
    try:
        return literal_eval(text)
    except (ValueError, SyntaxError):
        return text


def _class_of(error: SpanError) -> type[BaseException] | None:
    """The exception's class, where it is imported: a recording does not decide what is."""
    parts = error.type.split(".")
    for length in range(len(parts) - 1, -1, -1):
        module = sys.modules.get(".".join(parts[:length])) if length else builtins
        value: Any = module
        for part in parts[length:] if module is not None else ():
            value = getattr(value, part, None)
        if isinstance(value, type) and issubclass(value, BaseException):
            return value
    return None


def recorded_calls(trace: Trace) -> list[RecordedCall]:
    """The calls that reach outside: what stands below one of them is answered with it."""
    return [RecordedCall(number, span) for number, span in enumerate(_outermost(trace), 1)]


def _outermost(trace: Trace) -> Iterator[Span]:
    inside: int | None = None
    for depth, span in trace.walk():
        if inside is not None and depth > inside:
            continue
        inside = None
        if span.span_type in ANSWERED:
            inside = depth
            yield span
