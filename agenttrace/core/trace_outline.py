"""A stored trace without the values of its spans, which are read when they are asked for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from agenttrace.core.span import Span
    from agenttrace.core.trace import Trace


class TraceOutline(Protocol):
    """A trace whose spans have names, types, places, times and statuses alone.

    What was deleted meanwhile has no values.

    Raises:
        StoreError: from every method, where the store cannot be read.
    """

    @property
    def trace(self) -> Trace:
        """The trace, its spans without inputs, outputs, errors, attributes and usage."""
        ...

    def whole(self, keys: Sequence[int]) -> Mapping[int, Span]:
        """Some of its spans with all their values, by their keys."""
        ...

    def inputs(self, keys: Sequence[int], longest: int) -> Mapping[int, Any]:
        """The inputs of some of its spans by their keys, without those of more characters."""
        ...

    def outputs(self, keys: Sequence[int], longest: int) -> Mapping[int, Any]:
        """The outputs of some of its spans by their keys, without those of more characters."""
        ...


class ReadsOutlines(Protocol):
    """Optional hook of a store: gives traces without their values. Else each is read whole."""

    def outline(self, trace_id: str) -> TraceOutline | None:
        """The trace of an id, or of a prefix of at least four digits that only one trace has.

        None also where it has to be read whole: parts of it wait in memory, or its spans came by
        OpenTelemetry, and only read together do those say what they are.

        Raises:
            StoreError: fewer digits, several traces, or the store cannot be read.
        """
        ...
