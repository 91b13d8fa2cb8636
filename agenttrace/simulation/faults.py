"""Faults of recorded tools: what an agent is answered with in the place of a recorded answer."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from typing import Any, Literal, NamedTuple, get_args

from agenttrace.simulation.callee import Callee
from agenttrace.simulation.recorded_call import RecordedCall, recorded_calls
from agenttrace.simulation.recording import Recording, ReplayedRun
from agenttrace.stubs.stub import Reply
from agenttrace.tracing.context import Answering

Kind = Literal["error", "slow", "empty", "stale", "cut", "twice"]
"""*error*: a ConnectionError; *slow*: late; *empty*: nothing of the same type; *stale*: what the tool
answered to another recorded call; *cut*: the first half; *twice*: everything in it doubled."""

KINDS: tuple[Kind, ...] = get_args(Kind)


class Fault(NamedTuple):
    """What goes wrong, once: the first call of a tool whose recorded answer can have it."""

    tool: str
    kind: Kind

    def __str__(self) -> str:
        return f"{self.tool}: {self.kind}"


class FaultyRun(ReplayedRun):
    """A run that a recording answers, but for the faults; a call may be made again, and is answered again."""

    def __init__(
        self, recording: Recording, outer: Answering | None, faults: Collection[Fault], seconds: float
    ) -> None:
        super().__init__(recording, recording.open_calls(), outer)
        self._faults: dict[str, Kind] = {fault.tool: fault.kind for fault in faults}
        self._seconds = seconds

    def _reply(self, call: RecordedCall, callee: Callee) -> Reply:
        reply = super()._reply(call, callee)
        with self._lock:
            kind = self._faults.get(call.span.name)
            faulty = None if kind is None else self._with_fault(kind, call, reply)
            if faulty is None:
                return reply
            del self._faults[call.span.name]
        return faulty

    def _with_fault(self, kind: Kind, call: RecordedCall, reply: Reply) -> Reply | None:
        """The reply with a fault in it; None where this answer cannot have it, so that a later one has."""
        note = f"{reply.note}, {kind}"
        if kind == "error":
            return Reply("error", ConnectionError(f"{call.span.name} does not answer"), note)
        if kind == "slow":
            return reply._replace(delay=self._seconds, note=note)
        value = UNCHANGED if call.span.error is not None else changed(kind, call, self._recording)
        return None if value is UNCHANGED else Reply("value", value, note)


def changed(kind: Kind, call: RecordedCall, recording: Recording) -> Any:
    """The recorded answer with a fault in it; `UNCHANGED` where there is no such fault of this answer."""
    if kind == "stale":
        others = (
            other.output
            for other in recorded_calls(recording.trace)
            if other.span.name == call.span.name and other.span.error is None
        )
        return next((output for output in others if output != call.output), UNCHANGED)
    output = call.output
    for types, change in _CHANGES[kind]:
        if isinstance(output, types):
            value = change(output)
            return UNCHANGED if value == output else value
    return UNCHANGED


UNCHANGED: Any = object()


def _half(value: Mapping[str, Any]) -> dict[str, Any]:
    return dict(list(value.items())[: len(value) // 2])


_Change = tuple[type | tuple[type, ...], Callable[[Any], Any]]
_CHANGES: Mapping[str, tuple[_Change, ...]] = {
    "empty": ((dict, lambda _: {}), (list, lambda _: []), (str, lambda _: ""), (object, lambda _: None)),
    "cut": ((dict, _half), ((list, str), lambda value: value[: len(value) // 2])),
    "twice": (((list, str), lambda value: value + value),),
}


def possible_faults(recording: Recording, kinds: Collection[Kind]) -> list[Fault]:
    """Each recorded tool with each kind of fault that its first answer can have."""
    first: dict[str, RecordedCall] = {}
    for call in recorded_calls(recording.trace):
        if call.span.span_type != "llm" and call.span.error is None:
            first.setdefault(call.span.name, call)
    return [
        Fault(tool, kind)
        for tool, call in first.items()
        for kind in kinds
        if kind in ("error", "slow") or changed(kind, call, recording) is not UNCHANGED
    ]
