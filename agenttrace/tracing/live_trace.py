"""`LiveTrace`: adds tags, customer, session and metadata to the whole trace while it runs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import islice
from typing import Any

from agenttrace.core import semconv
from agenttrace.core.errors import ConfigError
from agenttrace.core.identity import trace_id_text
from agenttrace.tracing.context import current
from agenttrace.tracing.live_span import as_text, plain_mapping
from agenttrace.tracing.record import SCOPE, Scope

MAX_TAGS = 1_000
"""Tags that one trace keeps."""


class LiveTrace:
    """The trace that is being recorded here. What is added to it is stored with its root span."""

    __slots__ = ("_scope",)

    def __init__(self, scope: Scope | None) -> None:
        self._scope = scope

    @property
    def trace_id(self) -> str:
        """32 hex digits; zeros when nothing is recorded."""
        return trace_id_text(0 if self._scope is None else self._scope.trace_key)

    def set_tags(self, tags: Iterable[str]) -> None:
        """Add tags."""
        if isinstance(tags, str) or not isinstance(tags, Iterable):
            raise ConfigError(f"tags are a list of strings, got {tags!r}")
        trace_tags = self._attributes().setdefault(semconv.TAGS, [])
        for tag in islice(tags, MAX_TAGS):
            if as_text(tag) not in trace_tags and len(trace_tags) < MAX_TAGS:
                trace_tags.append(as_text(tag))

    def set_customer_id(self, customer_id: str) -> None:
        """Set the customer for whom the agent runs."""
        self._attributes()[semconv.CUSTOMER_ID] = as_text(customer_id)

    def set_session_id(self, session_id: str) -> None:
        """Set the conversation to which the trace belongs."""
        self._attributes()[semconv.SESSION_ID] = as_text(session_id)

    def update_metadata(self, metadata: Mapping[str, Any]) -> None:
        """Add values of any kind, by name."""
        if not isinstance(metadata, Mapping):
            raise ConfigError(f"metadata is a mapping, got {type(metadata).__name__} {metadata!r}")
        self._attributes().setdefault(semconv.METADATA, {}).update(plain_mapping(metadata) or {})

    def _attributes(self) -> dict[str, Any]:
        scope = self._scope
        if scope is None:
            return {}
        if scope.attributes is None:
            scope.attributes = {}
        return scope.attributes


def running_trace() -> LiveTrace | None:
    """The trace that is being recorded here, or None."""
    record = current.get()
    if record is None or record[SCOPE] is None:
        return None
    return LiveTrace(record[SCOPE])
