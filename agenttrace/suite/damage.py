"""Damage to a run: every way in which one of its calls, or its answer, could have gone wrong.

What would be no damage is not done: calls that overlapped, or that are the same, are not swapped, nor are two
that only read and of which neither uses what the other gave; calls that only read are not repeated, and are
not called unasked. What only reads is what is tagged so (``tag:read``, or the kind of a recorded call); where
any tool is tagged ``write``, what is not. Parts that were cut, redacted or not opened stay as they are.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

from agenttrace.core.marks import cause_of, cause_within
from agenttrace.core.mutation_score import DamageKind
from agenttrace.core.span import SpanError
from agenttrace.core.tool_call import UNRECORDED_STATUSES, ToolCall
from agenttrace.core.value_key import value_key
from agenttrace.matching.parallel import groups_of
from agenttrace.matching.selection import Selection
from agenttrace.suite.value_flow import Sources, is_id, leaves, with_leaf

MAX_GUESTS = 3
"""Calls of other runs that are tried as unasked ones, for each run."""


@dataclass(frozen=True, slots=True)
class Damage:
    """One damaged copy of a run: its calls and its output, and what was done.

    `tool` and `argument` were damaged; `other` is the second of two swapped tools. `position` is that of the
    damaged call in the run, or of where one was added.
    """

    kind: DamageKind
    calls: tuple[ToolCall, ...]
    output: Any
    tool: str = ""
    position: int = 0
    argument: str = ""
    other: str = ""


@dataclass(frozen=True, slots=True)
class Effects:
    """Which tools change something: `writes`, where that is known, else all but `reads`."""

    writes: Selection | None
    reads: Selection

    @classmethod
    def of(cls, calls: Iterable[ToolCall], writes: str | Sequence[str] | None) -> Effects:
        """By the user's word, else by tags; where none is ``write``, all but what is tagged ``read``."""
        selection = Selection.of(tools="tag:write" if writes is None else writes)
        is_known = writes is not None or bool(selection.calls(tuple(calls)))
        return cls(selection if is_known else None, Selection.of(tools="tag:read"))

    def changes(self, call: ToolCall) -> bool:
        """Whether the call may have changed something."""
        return not self.reads.calls((call,)) if self.writes is None else bool(self.writes.calls((call,)))


@dataclass(frozen=True, slots=True)
class Run:
    """A run to damage: its calls, its output, and calls of other runs that nobody asked for in this one."""

    calls: tuple[ToolCall, ...]
    output: Any
    effects: Effects
    guests: tuple[ToolCall, ...] = ()

    def damages(self) -> Iterator[Damage]:
        """Every damage, in a fixed order."""
        sources = Sources(self.calls)
        for position, call in enumerate(self.calls):
            yield from self._of_call(position, call)
            yield from self._of_arguments(position, call, sources)
        yield from self._swaps(sources)
        yield from self._unasked()
        if self.output is not None and cause_within(self.output) is None:
            yield Damage("answer", self.calls, changed(self.output))

    def _of_call(self, at: int, call: ToolCall) -> Iterator[Damage]:
        calls, output = self.calls, self.output
        yield Damage("dropped", (*calls[:at], *calls[at + 1 :]), output, call.name, at)
        if self.effects.changes(call):
            end = next(group.stop for group in groups_of(calls) if at in group)
            again = (*calls[:end], replace(call, window=None), *calls[end:])
            yield Damage("repeated", again, output, call.name, end)
        if call.failed is False:
            error = SpanError("ToolError", "the call failed")
            failed = replace(call, output=None, error=error, status="error")
            yield Damage("failed", _with(calls, at, failed), output, call.name, at)
        elif call.failed and call.status not in UNRECORDED_STATUSES:
            success = replace(call, output="ok", error=None, status="ok")
            yield Damage("succeeded", _with(calls, at, success), output, call.name, at)

    def _of_arguments(self, at: int, call: ToolCall, sources: Sources) -> Iterator[Damage]:
        if cause_of(call.arguments) is not None or call.arguments_error is not None:
            return
        for name, value in call.arguments.items():
            if cause_of(name) is not None or cause_within(value) is not None:
                continue
            kind: DamageKind = "argument"
            other = changed(value)
            for path, leaf in leaves(value):
                if is_id(leaf) and sources.of(leaf, at):
                    kind, other = "invented", with_leaf(value, path, sources.invented(leaf))
                    break
            damaged = replace(call, arguments={**call.arguments, name: other})
            yield Damage(kind, _with(self.calls, at, damaged), self.output, call.name, at, name)

    def _swaps(self, sources: Sources) -> Iterator[Damage]:
        overlapping = {at for group in groups_of(self.calls) for at in group[:-1]}
        for at, (first, second) in enumerate(pairwise(self.calls)):
            if at in overlapping or _same(first, second):
                continue
            only_read = not (self.effects.changes(first) or self.effects.changes(second))
            if only_read and not sources.passes_on(at, at + 1):
                continue
            swapped = (replace(second, window=None), replace(first, window=None))
            calls = (*self.calls[:at], *swapped, *self.calls[at + 2 :])
            yield Damage("swapped", calls, self.output, first.name, at, other=second.name)

    def _unasked(self) -> Iterator[Damage]:
        own = {call.name for call in self.calls}
        guests = [guest for guest in self.guests if guest.name not in own][:MAX_GUESTS]
        if not guests:  # a further call of a tool that the run has
            changing = [call for call in self.calls if self.effects.changes(call) and _is_known(call)]
            guests = [
                replace(call, arguments={name: changed(value) for name, value in call.arguments.items()})
                for call in changing[:1]
                if call.arguments
            ]
        for guest in guests:
            calls = (*self.calls, replace(guest, window=None, agent="", turn=None))
            yield Damage("unasked", calls, self.output, guest.name, len(self.calls))


def guests_among(calls: Iterable[ToolCall], effects: Effects) -> tuple[ToolCall, ...]:
    """The first successful call of each tool that changes something, to be called unasked elsewhere."""
    first: dict[str, ToolCall] = {}
    for call in calls:
        if call.failed is False and _is_known(call) and effects.changes(call):
            first.setdefault(call.name, call)
    return tuple(first[name] for name in sorted(first))


def changed(value: Any) -> Any:
    """Another value of the same type; digits are others, the length stays where it can."""
    if isinstance(value, bool):
        return not value
    if isinstance(value, int | float):
        return value + 1 if value + 1 != value else 1
    if isinstance(value, str):
        return _changed_text(value)
    if isinstance(value, dict | list) and value:
        first = next(leaves(value), None)
        if first is not None:
            return with_leaf(value, first[0], changed(first[1]))
    if isinstance(value, list):
        return [*value, "changed"]
    return {**value, "changed": True} if isinstance(value, dict) else "changed"


def _changed_text(text: str) -> str:
    other = "".join(str((int(letter) + 1) % 10) if letter in "0123456789" else letter for letter in text)
    return other if other != text else f"{text} changed".lstrip()


def _with(calls: Sequence[ToolCall], at: int, call: ToolCall) -> tuple[ToolCall, ...]:
    return (*calls[:at], call, *calls[at + 1 :])


def _same(first: ToolCall, second: ToolCall) -> bool:
    return first.name == second.name and value_key(first.arguments) == value_key(second.arguments)


def _is_known(call: ToolCall) -> bool:
    return cause_within(call.arguments) is None and call.arguments_error is None
