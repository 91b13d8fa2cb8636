"""What a scorer of the user's own was shown that was not recorded whole, for its score to say so.

Nobody knows whether such a scorer looked at the part that is missing, so its value stands. What recording did
not open counts in the answer and in the example, where a test has the object itself; in the calls it is a
mark in a test, too.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from agenttrace.core.changed import changed
from agenttrace.core.example import Example
from agenttrace.core.marks import Cause, Redacted, cause_of, hidden_keys, left_out
from agenttrace.core.score import Score
from agenttrace.core.tool_call import OUTPUT_NOT_NAMED, ToolCall
from agenttrace.core.trace import Trace

DETAIL = "not_recorded_whole"
"""The field of a score's details that says of each such value why; judges say it in the same words."""

MOST_PARTS = 100_000
"""Items, entries and texts that are looked at for one score."""

_REST = "(the rest)"
_MOST_NAMED = 5
_MOST_KEPT = 50
_FIELDS = (
    "input",
    "actual_output",
    "expected_output",
    "context",
    "retrieval_context",
    "tools_called",
    "expected_tools",
    "expected_state",
    "turns",
    "additional_metadata",
)
_LOOKED_INTO = frozenset({str, Redacted, dict, list, tuple})


class Shown(NamedTuple):
    """One value that a scorer is shown: its key in the details, what a reason calls it, the value."""

    key: str
    words: str
    value: Any
    opened: bool = True
    """Whether it counts that a part of it was not opened."""


class Missing(NamedTuple):
    """A value that was not recorded whole: its words and why."""

    words: str
    cause: Cause


class NotWhole(NamedTuple):
    """The values that were not recorded whole by their keys, and whether all were looked at."""

    values: Mapping[str, Missing]
    looked_at_all: bool = True

    def said_by(self, score: Score) -> Score:
        """The score with these in its reason and in its details; itself where all was recorded, where it has
        no value, or where it says so already."""
        if (not self.values and self.looked_at_all) or score.value is None or DETAIL in score.details:
            return score
        causes: dict[str, str] = {key: one.cause for key, one in list(self.values.items())[:_MOST_KEPT]}
        if not self.looked_at_all or len(self.values) > _MOST_KEPT:
            causes[_REST] = "not looked at" if not self.looked_at_all else "left out here"
        reason = f"{score.reason} ({self._sentence()})".lstrip()
        return changed(score, reason=reason, details={**score.details, DETAIL: causes})

    def _sentence(self) -> str:
        named = [f"{one.words} was {one.cause}" for one in list(self.values.values())[:_MOST_NAMED]]
        if len(self.values) > _MOST_NAMED:
            named.append(f"so were parts of {len(self.values) - _MOST_NAMED} more values")
        sentence = f"The scorer did not see everything: {'; '.join(named)}." if named else ""
        if not self.looked_at_all:
            sentence += f" Only {MOST_PARTS:,} parts of what it saw were looked at for what is missing."
        return sentence.lstrip()


ALL_RECORDED = NotWhole({})


def not_whole(shown: Iterable[Shown]) -> NotWhole:
    """Look for marks in what a scorer is shown, in `MOST_PARTS` parts at most. Runs no code of the user's."""
    values: dict[str, Missing] = {}
    look = _Look()
    for one in shown:
        cause = look.cause_in(one.value, one.opened)
        if cause is not None:
            values[one.key] = Missing(one.words, cause)
        if look.room < 0:
            break
    return NotWhole(values, look.room >= 0) if values or look.room < 0 else ALL_RECORDED


def shown_of_example(example: Example) -> Iterator[Shown]:
    """What an example shows: the fields of the run, and what is expected of it."""
    fields = example.__dict__
    for name in _FIELDS:
        value = fields.get(name)
        if value is not None:
            yield Shown(name, name, value)


def shown_of_trace(trace: Trace | None) -> Iterator[Shown]:
    """What a trace shows: its input, its output and its calls; that there may be more of these."""
    if trace is None:
        return
    yield Shown("trace.input", "trace.input", trace.input, opened=False)
    yield Shown("trace.output", "trace.output", trace.output)
    if trace.cut_answer is not None:  # it may have asked for more calls
        words = f"an answer of {trace.cut_answer.name!r}, which may have asked for more calls,"
        yield Shown("tool_calls", words, left_out("depth"))
    yield from shown_of_calls(trace.tool_calls)


def shown_of_calls(calls: Iterable[ToolCall]) -> Iterator[Shown]:
    """What calls show: arguments, outputs, errors."""
    for call in calls:
        key = f"tool_calls[{call.index}]"
        arguments = call.arguments
        if type(arguments) is dict and cause_of(arguments) is None and not hidden_keys(arguments):
            for name, value in arguments.items():
                if type(value) in _LOOKED_INTO:
                    yield Shown(f"{key}.arguments.{name}", f"{name} of {call.label}", value, opened=False)
        else:
            yield Shown(f"{key}.arguments", f"arguments of {call.label}", arguments, opened=False)
        # What somebody wrote down without its output is no loss of the record: the scorer knows as much.
        output = call.output if call.remedy == OUTPUT_NOT_NAMED else call.known_output
        yield Shown(f"{key}.output", f"output of {call.label}", output, opened=False)
        if call.error is not None:
            yield Shown(f"{key}.error", f"error of {call.label}", call.error.message, opened=False)


class _Look:
    """Looks into values for marks, until there is no `room` for more parts."""

    def __init__(self) -> None:
        self.room = MOST_PARTS

    def cause_in(self, value: Any, opened: bool) -> Cause | None:
        """Why the value, a part of it or a key in it is not known whole; None where nothing says so."""
        parts = [value] if type(value) in _LOOKED_INTO else []
        containers: set[int] = set()
        while parts and self.room >= 0:
            part = parts.pop()
            self.room -= 1
            kind = type(part)
            cause = cause_of(part)
            if cause is not None and (opened or cause != "not opened"):
                return cause
            if cause is not None or kind is str or kind is Redacted or id(part) in containers:
                continue
            containers.add(id(part))
            if kind is dict:
                part = part.copy()  # at once, should another thread change it meanwhile
                if hidden := hidden_keys(part):
                    return cause_of(hidden[0])
                part = part.values()
            self.room -= len(part)
            parts += [item for item in part if type(item) in _LOOKED_INTO]
        return None
