"""One online evaluation as it waits: what to compare, immutable from the moment it was asked for."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from agenttrace.core.errors import ConfigError, DatasetError, ExpectationError
from agenttrace.core.identity import span_id_text, trace_id_text
from agenttrace.core.protocols import Scorer
from agenttrace.core.score import Score
from agenttrace.evaluation.alerts import Alert
from agenttrace.evaluation.handle import EvaluationHandle
from agenttrace.tracing.freeze import LIGHT_TEXT, Frozen, freeze, thaw
from agenttrace.tracing.record import END, SCOPE, Record, key_of

if TYPE_CHECKING:
    from agenttrace.core.example import Example

COPIED = ("input", "actual_output", "context", "retrieval_context", "tools_called", "additional_metadata")
"""What a run fills in: copied at the call, because the caller may change it later."""

REFERRED = ("expected_tools", "expected_output", "name", "example_id", "created_at")
"""What the user wrote beforehand: kept by reference, since it may hold matchers."""

OnResult = Callable[[tuple[Score, ...]], Any]


class Request:
    """One online evaluation as it waits."""

    __slots__ = (
        "_fields",
        "alerts",
        "handle",
        "key",
        "model",
        "on_result",
        "record",
        "saved",
        "scorers",
        "since",
        "span_key",
        "taken",
        "timeout",
        "trace_key",
        "tried",
        "weight",
    )

    def __init__(
        self,
        scorers: Sequence[Scorer],
        fields: Mapping[str, Any],
        *,
        record: Record | None = None,
        trace_key: int | None = None,
        span_key: int | None = None,
        model: Any = None,
        timeout: float | None = None,
        on_result: OnResult | None = None,
        alerts: Sequence[Alert] = (),
    ) -> None:
        self.handle = EvaluationHandle()
        self.scorers = scorers
        self.weight = 0
        self._fields = self._kept(fields)
        self.record = record
        self.trace_key = record[SCOPE].trace_key if record is not None else trace_key
        self.span_key = key_of(record) if record is not None else span_key
        self.model = model
        self.timeout = timeout
        self.on_result = on_result
        self.alerts = alerts
        self.key: str | None = None
        self.saved = False
        self.tried = False
        self.taken = False
        self.since = 0.0

    def bind_to(self, span_id: str) -> None:
        """Say which span of the running trace it is about.

        Raises:
            ConfigError: not 16 hex digits, or no trace runs.
        """
        if self.trace_key is None:
            raise ConfigError("span_id names a span of the running trace, but none runs here")
        try:
            self.span_key = int(span_id, 16)
        except (TypeError, ValueError):
            raise ConfigError(f"a span_id is 16 hex digits, got {span_id!r}") from None

    def _kept(self, fields: Mapping[str, Any]) -> dict[str, Any]:
        """What was given, copied where it may change; `weight` becomes the bytes of the heavy copies."""
        kept: dict[str, Any] = {}
        for name in COPIED:
            value = fields.get(name)
            if value is not None:
                if type(value) is not str or len(value) > LIGHT_TEXT:
                    value = freeze(value)
                    if type(value) is Frozen:
                        self.weight += value.size
                kept[name] = value
        for name in REFERRED:
            value = fields.get(name)
            if value is not None:
                kept[name] = value
        return kept

    @property
    def span_has_ended(self) -> bool:
        """Whether the span that it is about is complete."""
        return self.record is None or bool(self.record[END])

    @property
    def trace_id(self) -> str | None:
        """32 hex digits, or None outside any trace."""
        return None if self.trace_key is None else trace_id_text(self.trace_key)

    @property
    def span_id(self) -> str | None:
        """16 hex digits, or None for a whole trace, or outside any."""
        return None if self.span_key is None else span_id_text(self.span_key)

    def example(self) -> Example:
        """The example to score. Raises what `Example` raises for fields that do not fit."""
        from agenttrace.core.example import Example  # on the worker: the caller may do without pydantic

        return Example(**{name: thaw(value) for name, value in self._fields.items()})

    def to_data(self, owner: str | None = None) -> dict[str, Any]:
        """What a later process needs to finish it, as JSON data; it brings its own scorers of these names.

        Matchers are written by their operators; what has no file form makes it ``unfinishable``.
        """
        from agenttrace.core.portable import refused, to_portable  # on the worker
        from agenttrace.expectations.matcher import write_value

        if self.key is None:
            self.key = os.urandom(12).hex()
        example = self.example()
        data, unfinishable = example.to_dict(), None
        try:
            data["expected_output"] = to_portable(
                write_value(example.expected_output), refused, "expected_output"
            )
            data["expected_tools"] = to_portable(example.expected_tools, refused, "expected_tools")
        except (DatasetError, ExpectationError) as error:
            unfinishable = str(error)
        return {
            "key": self.key,
            "trace_id": self.trace_id,
            "span_id": self.span_id,
            "scorers": [scorer.name for scorer in self.scorers],
            "model": self.model if isinstance(self.model, str) else None,
            "timeout": self.timeout,
            "example": data,
            "unfinishable": unfinishable,
            "owner": owner,
            "owned_at": time.time(),
        }
