"""One online evaluation as it waits: what to compare, immutable from the moment it was asked for."""

from __future__ import annotations

import os
import re
import time
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, TypedDict

from agenttrace.core.errors import ConfigError, DatasetError, ExpectationError, did_you_mean
from agenttrace.core.identity import span_id_text, trace_id_text
from agenttrace.core.protocols import Scorer
from agenttrace.core.score import Score
from agenttrace.online.alerts import Alert
from agenttrace.online.handle import EvaluationHandle
from agenttrace.scoring.checks import check_alerts
from agenttrace.tracing.freeze import LIGHT_TEXT, Frozen, freeze, thaw
from agenttrace.tracing.record import END, SCOPE, Record, key_of

if TYPE_CHECKING:
    from agenttrace.core.example import Example
    from agenttrace.core.protocols import ChatModel

COPIED = ("input", "actual_output", "context", "retrieval_context", "tools_called", "additional_metadata")
"""What a run fills in: copied at the call, because the caller may change it later. The rest is what the user
wrote beforehand: kept by reference, since it may hold matchers."""

_SPAN_ID = re.compile("[0-9a-fA-F]{16}")

OnResult = Callable[[tuple[Score, ...]], Any]


class Request:
    """One online evaluation as it waits; `make_request` makes it.

    What most requests leave as it is stands on the class: making one is the agent's time.
    """

    handle: EvaluationHandle
    scorers: Sequence[Scorer]
    record: Record | None = None
    weight = 0
    model: Any = None
    timeout: float | None = None
    on_result: OnResult | None = None
    alerts: Sequence[Alert] = ()
    key: str | None = None
    saved = False
    tried = False
    taken = False
    since = 0.0
    _fields: dict[str, Any]
    _trace_key: int | None = None
    _span_key: int | None = None

    def about(self, trace_key: int | None, span_key: int | None) -> Request:
        """Say which finished span it is about; returns itself."""
        self._trace_key, self._span_key = trace_key, span_key
        return self

    @property
    def trace_key(self) -> int | None:
        """The trace that it is about, 128 bit, or None outside any."""
        return self._trace_key if self.record is None else self.record[SCOPE].trace_key

    @property
    def span_key(self) -> int | None:
        """The span that it is about, 64 bit, or None for a whole trace, or outside any."""
        return self._span_key if self._span_key is not None or self.record is None else key_of(self.record)

    def wish(self, wishes: Wishes) -> None:
        """Take what was said of how it is judged.

        Raises:
            ConfigError: the span is not 16 hex digits, or no trace runs.
        """
        self.model, self.timeout = wishes.get("model"), wishes.get("timeout")
        self.on_result = wishes.get("on_result")
        self.alerts = (*self.alerts, *wishes.get("alerts", ()))
        span_id = wishes.get("span_id")
        if span_id is None:
            return
        if self.trace_key is None:
            raise ConfigError("span_id names a span of the running trace, but none runs here")
        if not isinstance(span_id, str) or not _SPAN_ID.fullmatch(span_id):
            raise ConfigError(f"a span_id is 16 hex digits, got {span_id!r}")
        self._span_key = int(span_id, 16)

    @property
    def span_has_ended(self) -> bool:
        """Whether the span that it is about is complete, or who waits for the scores holds it up."""
        return self.record is None or bool(self.record[END]) or self.handle.waited_for_inside

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

        return Example(**{name: thaw(value) for name, value in self._fields.items() if value is not None})

    def to_data(self, owner: str | None = None) -> dict[str, Any]:
        """What a later process needs to finish it, as JSON data; it brings its own scorers of these names.

        Matchers are written by their operators; what has no file form makes it ``unfinishable``.
        """
        from agenttrace.core.file_form import strict, to_file_form  # on the worker
        from agenttrace.expectations.matcher import write_value

        if self.key is None:
            self.key = os.urandom(12).hex()
        example = self.example()
        data, unfinishable = example.to_dict(), None
        try:
            data["expected_output"] = to_file_form(
                write_value(example.expected_output), strict, "expected_output"
            )
            data["expected_tools"] = to_file_form(example.expected_tools, strict, "expected_tools")
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


def make_request(scorers: Sequence[Scorer], fields: dict[str, Any], record: Record | None = None) -> Request:
    """A request that owns `fields`: what a run fills in is copied there, heavy copies are weighed."""
    request = Request()
    request.handle = handle = EvaluationHandle()
    request.scorers = scorers
    request._fields = fields
    if record is not None:
        request.record = handle.record = record
    for name in COPIED:
        value = fields.get(name)
        if value is not None and (type(value) is not str or len(value) > LIGHT_TEXT):
            fields[name] = value = freeze(value)
            if type(value) is Frozen:
                request.weight += value.size
    return request


class Wishes(TypedDict, total=False):
    """The named parameters of `async_evaluate`: the fields of an example, then how it is judged.

    Collected in one dict, because sixteen parameters with defaults of their own cost each call half a
    microsecond.
    """

    input: Any
    actual_output: Any
    expected_output: Any
    context: list[str] | None
    retrieval_context: list[str] | None
    tools_called: list[Any] | None
    expected_tools: Any
    additional_metadata: dict[str, Any] | None
    model: str | ChatModel | None
    sample_rate: float
    span_id: str | None
    timeout: float | None
    on_result: OnResult | None
    alerts: Sequence[Alert]


_KNOWN = frozenset(Wishes.__annotations__)
_RULES = frozenset(("model", "sample_rate", "span_id", "timeout", "on_result", "alerts"))


def take_fields(wishes: Wishes, example: dict[str, Any] | None) -> dict[str, Any] | None:
    """The fields to judge: the example's, or those that are taken out of `wishes`, with all that is None.

    Raises:
        ConfigError: a name that is not known, a field beside those of an `example`.
    """
    given: dict[str, Any] = wishes  # type: ignore[assignment]
    fields = {}
    for name, value in tuple(given.items()):
        if name in _RULES:
            if value is None:
                del given[name]
            continue
        if name not in _KNOWN:
            raise ConfigError(f"async_evaluate has no parameter {name!r}{did_you_mean(name, _KNOWN)}")
        fields[name] = given.pop(name)
        if example is not None and value is not None:
            raise ConfigError(f"async_evaluate takes an example or its fields, got both: {name}")
    return example if example is not None else fields


def check_wishes(wishes: Wishes) -> None:
    """Raise ConfigError for a deadline, a callback or alerts that cannot work."""
    timeout, on_result = wishes.get("timeout"), wishes.get("on_result")
    if timeout is not None and (
        isinstance(timeout, bool) or not isinstance(timeout, int | float) or not timeout > 0
    ):
        raise ConfigError(f"timeout is a number of seconds above 0, got {timeout!r}")
    if on_result is not None and not callable(on_result):
        raise ConfigError(f"on_result is a function of the scores, got {on_result!r}")
    check_alerts(wishes.get("alerts", ()))
