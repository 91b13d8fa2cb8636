"""What comparing cannot tell, read twice: once against the verdict, once in its favour.

Recording cuts, redacts and does not open everything. Where a comparison depends on what was left out, it
*cannot be told*: it counts as *differs* in the reading against the verdict, as *agrees* in the one in its
favour, and the other way round where agreeing is what breaks the verdict (inside `not_`, for repeated calls).
A score stands where both readings give the same verdict; where they do not, it is errored.

Whether a call failed may not be recorded either. Which is better for the verdict depends on the other calls
then, so a score is read with each such call failed and not, in every combination that makes a difference.
"""

from __future__ import annotations

import inspect
from collections.abc import Awaitable, Callable, Collection, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, replace
from functools import wraps
from itertools import combinations
from typing import Any, Literal, TypeVar, cast

from agenttrace.core.errors import ScorerError
from agenttrace.core.marks import Cause
from agenttrace.core.score import Score
from agenttrace.core.tool_call import ToolCall

_MOST_DOUBTS = 20
_SHOWN_DOUBTS = 3
_MOST_OUTCOMES = 6
"""Calls that are read as failed and not in every combination; a score that hangs on more is errored."""

_OUTCOME = "the outcome"
_OUTPUTS = frozenset({_OUTCOME, "output"})

Untold = Cause | Literal["not tagged"]
"""Why it cannot be told: the cause of a mark, or that nothing says which tags a tool has."""

_REMEDIES: dict[Untold, str] = {
    "cut": "keep it whole while it is recorded, or expect only its beginning",
    "redacted": "expect ANY in its place",
    "not opened": "tell recording what it holds: register_snapshot",
    "not recorded": "it did not reach the record",
    "not tagged": "choose the tools by name, or have tags recorded: observe(tags=…)",
}
_REMEDY_IN_STATE = "return plain data in its place, or say ignore"
_STATE = "the state "
_RECORD_TOOL = "observe the tool with span_type='tool', or say is_error in the message that answers the call"


@dataclass(frozen=True, slots=True)
class Doubt:
    """One comparison that cannot be told: of which call (or ``"the answer"``), where in it, and why."""

    subject: str
    path: str
    cause: Untold
    note: str = ""

    @property
    def remedy(self) -> str:
        """What would have it told."""
        if self.cause == "not recorded" and self.note:
            return self.note
        if self.cause == "not opened" and self.subject.startswith(_STATE):
            return _REMEDY_IN_STATE
        in_tool = self.cause == "not recorded" and self.path in _OUTPUTS
        return _RECORD_TOOL if in_tool else _REMEDIES[self.cause]

    def __str__(self) -> str:
        where = f"{self.path} of {self.subject}" if self.path else self.subject
        note = "" if self.cause == "not recorded" else self.note  # then it is the remedy
        return f"{where} was {self.cause}{f' ({note})' if note else ''}"


T = TypeVar("T")

CallKey = tuple[int, str]
"""A call of the run: its index and its name."""


class Reading:
    """How comparisons are read that cannot be told, and which those were.

    `unknown` are the calls of which it was asked whether they failed, and that is not recorded; those among
    `failures` are taken as failed.
    """

    __slots__ = ("call", "doubts", "failures", "favourable", "path", "subject", "unknown")

    def __init__(self, favourable: bool, failures: Collection[CallKey] = ()) -> None:
        self.favourable = favourable
        self.failures = failures
        self.call: ToolCall | None = None
        self.path = ""
        self.subject = "the answer"
        self.doubts: dict[Doubt, None] = {}
        self.unknown: dict[CallKey, None] = {}


_AGAINST = Reading(favourable=False)
_reading: ContextVar[Reading] = ContextVar("agenttrace_reading", default=_AGAINST)


def cannot_tell(cause: Cause, path: str = "", note: str = "") -> float:
    """The agreement of two values of which the record does not tell whether they agree: 0.0 or 1.0.

    `note` says more of the cause, such as the type that was not opened.
    """
    reading = _reading.get()
    call = reading.call
    subject = reading.subject if call is None else _call_text(call.index, call.name)
    return 1.0 if _in_favour(Doubt(subject, path or reading.path, cause, note)) else 0.0


def is_favourable() -> bool:
    """Whether it is read in favour where it cannot be told; what is compared holds for this reading only."""
    return _reading.get().favourable


def may_be_left_out(tool: str) -> bool:
    """Whether an expected tool, of which nothing says which tags it has, is not among those compared."""
    return _in_favour(Doubt(f"the expected tool {tool}", "", "not tagged"))


def _in_favour(doubt: Doubt) -> bool:
    """Whether it is read in favour of the run; the doubt is noted, where a score asks for doubts."""
    reading = _reading.get()
    if reading is not _AGAINST and len(reading.doubts) < _MOST_DOUBTS:
        reading.doubts[doubt] = None
    return reading.favourable


def has_doubts() -> bool:
    """Whether anything could not be told so far, in the score that is being worked out."""
    reading = _reading.get()
    return bool(reading.doubts or reading.unknown)


def current_reading() -> Reading:
    """How it is read now, for `read_again`."""
    return _reading.get()


def read_again(reading: Reading) -> AbstractContextManager[Reading]:
    """Read in the meantime what cannot be told as in an earlier reading, which is not told of it."""
    return _read(reading.favourable, reading.failures)


def has_failed(call: ToolCall) -> bool:
    """Whether a call failed, or was not executed; as the reading has it where that is not recorded."""
    if call.failed is not None:
        return call.failed
    reading, key = _reading.get(), (call.index, call.name)
    if reading is not _AGAINST:
        reading.unknown[key] = None
    return key in reading.failures


def comparing(call: ToolCall) -> None:
    """Say which call is compared next, for the reason of a score that cannot be told."""
    reading = _reading.get()
    if reading is not _AGAINST:
        reading.call, reading.path = call, ""


def comparing_state(name: str) -> None:
    """Say which state is compared next, for the reason of a score that cannot be told."""
    reading = _reading.get()
    if reading is not _AGAINST:
        reading.call, reading.path, reading.subject = None, "", f"{_STATE}{name}"


def inside(path: str) -> None:
    """Say where in the value matchers compare next: they see no path themselves."""
    reading = _reading.get()
    if path and reading is not _AGAINST:
        reading.path = path


@contextmanager
def reversed_reading() -> Iterator[None]:
    """Read the other way round in the meantime: agreeing breaks the verdict there."""
    reading = _reading.get()
    opposite = Reading(not reading.favourable, reading.failures)
    opposite.call, opposite.path, opposite.subject = reading.call, reading.path, reading.subject
    opposite.doubts, opposite.unknown = reading.doubts, reading.unknown
    token = _reading.set(opposite)
    try:
        yield
    finally:
        _reading.reset(token)


@contextmanager
def _read(favourable: bool, failures: Collection[CallKey] = ()) -> Iterator[Reading]:
    reading = Reading(favourable, failures)
    token = _reading.set(reading)
    try:
        yield reading
    finally:
        _reading.reset(token)


def in_favour(compared: Callable[[], T]) -> T:
    """The answer of a comparison where all that cannot be told is read in favour of the run."""
    with _read(favourable=True):
        return compared()


def either_way(compared: Callable[[], bool]) -> bool | None:
    """The answer of a comparison that is the same in both readings; None where it cannot be told."""
    with _read(favourable=False) as against:
        answer = compared()
    if not against.doubts:
        return answer
    return answer if in_favour(compared) == answer else None


Method = TypeVar("Method", bound=Callable[..., Any])


def in_both_readings(score: Method) -> Method:
    """Make a scorer's `score` give a score in both readings, where anything cannot be told."""

    @wraps(score)
    def scored(*args: Any, **kwargs: Any) -> Score | Awaitable[Score]:
        against = Reading(favourable=False)
        token = _reading.set(against)  # `_read` takes as long as comparing some calls
        try:
            first = score(*args, **kwargs)
        finally:
            _reading.reset(token)
        if not isinstance(first, Score) and inspect.isawaitable(first):
            return _scored_later(score, args, kwargs, first)
        if not against.doubts and not against.unknown:
            return cast(Score, first)
        readings = _Readings(cast(Score, first), against)
        for favourable, failures in readings.others():
            with _read(favourable, failures) as reading:
                readings.add(score(*args, **kwargs), reading)
        return readings.joined()

    return cast(Method, scored)


async def _scored_later(
    score: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any], first: Awaitable[Score]
) -> Score:
    """The same where a judge is asked: the comparing is done while the score is awaited."""
    if inspect.iscoroutine(first):
        first.close()  # begun anew, within its reading
    with _read(favourable=False) as against:
        score_against: Score = await score(*args, **kwargs)
    if not against.doubts and not against.unknown:
        return score_against
    readings = _Readings(score_against, against)
    for favourable, failures in readings.others():
        with _read(favourable, failures) as reading:
            readings.add(await score(*args, **kwargs), reading)
    return readings.joined()


class _Readings:
    """The scores in all readings, and what could not be told in them."""

    def __init__(self, score: Score, against: Reading) -> None:
        self._against: list[Score] = []
        self._in_favour: list[Score] = []
        self._doubts: dict[Doubt, None] = {}
        self._unknown: dict[CallKey, None] = {}
        self.add(score, against)

    def add(self, score: Score, reading: Reading) -> None:
        """Take the score in the reading that was given last."""
        (self._in_favour if reading.favourable else self._against).append(score)
        self._doubts.update(reading.doubts)
        self._unknown.update(reading.unknown)

    def others(self) -> Iterator[tuple[bool, frozenset[CallKey]]]:
        """The readings after the first, until two differ: whether favourable, and which calls failed."""
        for failures in _combinations(self._unknown):
            if failures:
                yield False, failures
            if self._doubts:
                yield True, failures
            if len({score.outcome for score in (*self._against, *self._in_favour)}) > 1:
                return

    def joined(self) -> Score:
        """The score of all readings."""
        worst = self._against[0]
        best = self._in_favour[0] if self._in_favour else worst
        if len(self._against) > 1:
            worst, best = min(self._against, key=_value), max((*self._in_favour, *self._against), key=_value)
        outcomes = {Doubt(_call_text(*key), _OUTCOME, "not recorded"): None for key in self._unknown}
        return joined(worst, best, [*self._doubts, *outcomes], complete=len(self._unknown) <= _MOST_OUTCOMES)


def _combinations(unknown: Mapping[CallKey, None]) -> Iterator[frozenset[CallKey]]:
    """Every set of failures among the unknown calls, which may grow meanwhile: none, all, then the others."""
    tried: set[frozenset[CallKey]] = set()
    while len(unknown) <= _MOST_OUTCOMES or len(tried) < 2:
        sizes = (0, len(unknown), *range(1, len(unknown)))
        every = (frozenset(keys) for size in sizes for keys in combinations(unknown, size))
        failures = next((keys for keys in every if keys not in tried), None)
        if failures is None:
            return
        tried.add(failures)
        yield failures


def _value(score: Score) -> float:
    return score.value or 0.0


def _call_text(index: int, name: str) -> str:
    return f"{name} (call {index + 1})"


def joined(against: Score, in_favour: Score, doubts: list[Doubt], *, complete: bool = True) -> Score:
    """The score of all readings: the worst one where all pass or all fail, else errored.

    It is errored too where they are not `complete`.
    """
    values = {"against": against.value, "in_favour": in_favour.value}
    reasons = [str(doubt) for doubt in dict.fromkeys(doubts)]
    details = {**against.details, "cannot_be_told": {**values, "why": reasons}}
    if complete and against.outcome == in_favour.outcome:
        return replace(against, details=details)
    shown = "; ".join(reasons[:_SHOWN_DOUBTS]) + (
        f"; … {len(reasons) - _SHOWN_DOUBTS} more" if len(reasons) > _SHOWN_DOUBTS else ""
    )
    remedies = ". ".join(dict.fromkeys(doubt.remedy for doubt in doubts))
    error = ScorerError(
        f"the record does not tell: {shown}. Read against the run the value is {_value(against):g}, in its "
        f"favour {_value(in_favour):g}. To have it told: {remedies}"
    )
    return replace(Score.errored(against.name, against.threshold, error), details=details)
