"""One online evaluation as it waits: what to compare, fixed once it was asked for, and who owns it."""

from __future__ import annotations

import functools
import os
import re
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from agenttrace.core.errors import ConfigError, DatasetError, ExpectationError
from agenttrace.core.identity import span_id_text, trace_id_text
from agenttrace.core.numbers import is_number
from agenttrace.core.protocols import Scorer
from agenttrace.core.score import Score
from agenttrace.online.alerts import Alert
from agenttrace.online.handle import EvaluationHandle
from agenttrace.online.weight import weight_of
from agenttrace.tracing.freeze import LIGHT_TEXT, Frozen, freeze, thaw
from agenttrace.tracing.record import END, SCOPE, Record, key_of

if TYPE_CHECKING:
    from agenttrace.core.example import Example
    from agenttrace.core.protocols import ChatModel

COPIED = ("input", "actual_output", "context", "retrieval_context", "tools_called", "additional_metadata")
"""What a run fills in: copied at the call, because the caller may change it later."""

EXPECTED = ("expected_output", "expected_tools", "expected_state", "turns", "simulate")
"""What the user wrote beforehand, and may change for the next call: mappings, lists and tuples are copied,
what they hold, such as matchers, is not."""

_DEEPEST = 100
"""Levels of what is expected that are copied: one that holds itself has no end."""

_SPAN_ID = re.compile("[0-9a-fA-F]{16}")

OnResult = Callable[[tuple[Score, ...]], Any]


@dataclass(slots=True, eq=False)
class Request:
    """One online evaluation as it waits; `make_request` makes it."""

    scorers: Sequence[Scorer]
    fields: dict[str, Any]
    """Those of the example: copies, or what nobody changes."""
    record: Record | None = None
    """The running call that is judged."""
    trace_key: int | None = None
    """The trace that it is about, 128 bit, or None outside any."""
    span_key: int | None = None
    """The span that it is about, 64 bit, or None for a whole trace, or outside any."""
    weight: int = 0
    """About the bytes of its fields that are not light: they count against the backlog's bound."""
    model: str | ChatModel | None = None
    """The model of judges that name none themselves."""
    timeout: float | None = None
    """Seconds for each scorer; None is the evaluator's own."""
    on_result: OnResult | None = None
    alerts: Sequence[Alert] = ()
    key: str | None = None
    saved: bool = False
    """The store keeps it, under `key`, for a later process."""
    save_attempted: bool = False
    """The store was asked to keep it; where that failed, it is asked again only at the shutdown."""
    begun: bool = False
    """The worker holds the only right to evaluate it: nobody can cancel it any more."""
    session_id: str | None = None
    customer_id: str | None = None
    """Those of the trace, once the worker has read it."""
    received_at: float = 0.0
    """When the worker took it from the inbox, by `time.monotonic`."""
    handle: EvaluationHandle = field(default_factory=EvaluationHandle)

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

        return Example(**{name: thaw(value) for name, value in self.fields.items() if value is not None})

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
            for name in ("expected_tools", "expected_state", "turns"):
                data[name] = to_file_form(getattr(example, name), strict, name)
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


def make_request(
    scorers: Sequence[Scorer],
    fields: dict[str, Any],
    record: Record | None = None,
    *,
    trace_key: int | None = None,
    span_key: int | None = None,
    model: str | ChatModel | None = None,
    timeout: float | None = None,
    on_result: OnResult | None = None,
    alerts: Sequence[Alert] = (),
) -> Request:
    """A request that owns `fields`: what a run fills in is copied there, what is heavy is weighed.

    It is about `record`, the running call, or about the finished span that is named.
    """
    if record is not None:
        trace_key = record[SCOPE].trace_key
        span_key = key_of(record) if span_key is None else span_key
    weight = 0
    for name in COPIED:
        value = fields.get(name)
        if value is not None and (type(value) is not str or len(value) > LIGHT_TEXT):
            fields[name] = value = freeze(value)
            if type(value) is Frozen:
                weight += value.size
    copies: dict[int, Any] = {}
    for name in EXPECTED:
        value = fields.get(name)
        if value is not None:  # it is not cut: a part of it would be another expectation
            fields[name] = _with_own_containers(value, _DEEPEST, copies)
            weight += weight_of(value)
    return Request(
        scorers,
        fields,
        record,
        trace_key,
        span_key,
        weight,
        model,
        timeout,
        on_result,
        alerts,
        handle=EvaluationHandle(record),
    )


def _with_own_containers(value: Any, levels: int, copies: dict[int, Any]) -> Any:
    """The value with copies of its mappings, lists and tuples, of Python's own types, as deep as `levels`.

    `copies` holds those made so far by the identity of what was copied: what stands in several places, or
    in itself, is copied once.
    """
    kind = type(value)
    if not levels or (kind is not dict and kind is not list and kind is not tuple):
        return value
    if id(value) in copies:
        return copies[id(value)]
    if kind is dict:
        mapping = copies[id(value)] = value.copy()
        for key, item in value.copy().items():
            mapping[key] = _with_own_containers(item, levels - 1, copies)
        return mapping
    items = copies[id(value)] = list(value)
    items[:] = [_with_own_containers(item, levels - 1, copies) for item in items]
    if kind is tuple:
        copies[id(value)] = tuple(items)
    return copies[id(value)]


def key_of_span(span_id: Any, record: Record | None) -> int:
    """The key of the span that a user names, of the trace that runs here.

    Raises:
        ConfigError: the span is not 16 hex digits, or no trace runs.
    """
    if record is None:
        raise ConfigError("span_id names a span of the running trace, but none runs here")
    if not isinstance(span_id, str) or not _SPAN_ID.fullmatch(span_id):
        raise ConfigError(f"a span_id is 16 hex digits, got {span_id!r}")
    return int(span_id, 16)


ELSEWHERE_SECONDS = 600.0
"""Seconds for which an owner on another machine, which cannot be checked from here, counts as alive."""


def owner_text(nonce: str) -> str:
    """The name of one evaluator of this process: machine, process id, start time and `nonce`."""
    pid = os.getpid()
    return f"{_machine()}|{pid}|{_started(pid)}|{nonce}"


def at_work(saved: Mapping[str, Any], here: set[str]) -> bool:
    """Returns True if the owner of a saved evaluation is alive; `here` are this process's open owners."""
    owner = saved.get("owner")
    parts = owner.rsplit("|", 3) if isinstance(owner, str) else ()
    if len(parts) != 4:  # nobody, or what is no name of an owner
        return False
    machine, pid, started, _ = parts
    if machine != _machine() or sys.platform == "win32":
        owned_at = saved.get("owned_at", 0.0)
        return owner in here or (is_number(owned_at) and time.time() - owned_at < ELSEWHERE_SECONDS)
    if pid == str(os.getpid()):
        return owner in here
    return pid.isdecimal() and _alive(int(pid[:20])) and started == _started(int(pid[:20]))


@functools.cache
def _machine() -> str:
    import platform  # slow to import, and needed only once an evaluation is stored or resumed

    return platform.node()


def _started(pid: int) -> str:
    """When a process started, in the kernel's ticks; empty if that cannot be read."""
    try:
        return Path(f"/proc/{pid}/stat").read_text("utf-8", "replace").rpartition(")")[2].split()[19]
    except (OSError, IndexError):
        return ""


def _alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except (ProcessLookupError, OverflowError):  # the latter: no number of a process
        return False
    except OSError:  # another user's
        return True
    return True
