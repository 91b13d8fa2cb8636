"""What comparing cannot tell, read twice: once against the verdict, once in its favour.

Recording cuts, redacts and does not open everything. Where a comparison depends on what was left out, it
*cannot be told*: it counts as *differs* in the reading against the verdict, as *agrees* in the one in its
favour, and the other way round where agreeing is what breaks the verdict (inside `not_`, for repeated calls).
A score stands where both readings give the same verdict; where they do not, it is errored.
"""

from __future__ import annotations

import inspect
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, replace
from functools import wraps
from typing import Any, Literal, TypeVar, cast

from agenttrace.core.errors import ScorerError
from agenttrace.core.marks import Cause
from agenttrace.core.score import Score
from agenttrace.core.tool_call import ToolCall

_MOST_DOUBTS = 20
_SHOWN_DOUBTS = 3

Untold = Cause | Literal["not tagged"]
"""Why it cannot be told: the cause of a mark, or that nothing says which tags a tool has."""

_REMEDIES: dict[Untold, str] = {
    "cut": "keep it whole while it is recorded, or expect only its beginning",
    "redacted": "expect ANY in its place",
    "not opened": "tell recording what it holds: register_snapshot",
    "not recorded": "it did not reach the record",
    "not tagged": "choose the tools by name, or have tags recorded: observe(tags=…)",
}


@dataclass(frozen=True, slots=True)
class Doubt:
    """One comparison that cannot be told: of which call (or ``"the answer"``), where in it, and why."""

    subject: str
    path: str
    cause: Untold
    note: str = ""

    def __str__(self) -> str:
        where = f"{self.path} of {self.subject}" if self.path else self.subject
        return f"{where} was {self.cause}{f' ({self.note})' if self.note else ''}"


class Reading:
    """How comparisons are read that cannot be told, and which those were."""

    __slots__ = ("call", "doubts", "favourable", "path")

    def __init__(self, favourable: bool) -> None:
        self.favourable = favourable
        self.call: ToolCall | None = None
        self.path = ""
        self.doubts: dict[Doubt, None] = {}


_AGAINST = Reading(favourable=False)
_reading: ContextVar[Reading] = ContextVar("agenttrace_reading", default=_AGAINST)


def cannot_tell(cause: Cause, path: str = "", note: str = "") -> float:
    """The agreement of two values of which the record does not tell whether they agree: 0.0 or 1.0.

    `note` says more of the cause, such as the type that was not opened.
    """
    reading = _reading.get()
    call = reading.call
    subject = "the answer" if call is None else f"{call.name} (call {call.index + 1})"
    return 1.0 if _in_favour(Doubt(subject, path or reading.path, cause, note)) else 0.0


def may_be_left_out(tool: str) -> bool:
    """Whether an expected tool, of which nothing says which tags it has, is not among those compared."""
    return _in_favour(Doubt(f"the expected tool {tool}", "", "not tagged"))


def _in_favour(doubt: Doubt) -> bool:
    """Whether it is read in favour of the run; the doubt is noted, where a score asks for doubts."""
    reading = _reading.get()
    if reading is not _AGAINST and len(reading.doubts) < _MOST_DOUBTS:
        reading.doubts[doubt] = None
    return reading.favourable


def comparing(call: ToolCall) -> None:
    """Say which call is compared next, for the reason of a score that cannot be told."""
    reading = _reading.get()
    if reading is not _AGAINST:
        reading.call, reading.path = call, ""


def inside(path: str) -> None:
    """Say where in the value matchers compare next: they see no path themselves."""
    reading = _reading.get()
    if path and reading is not _AGAINST:
        reading.path = path


@contextmanager
def reversed_reading() -> Iterator[None]:
    """Read the other way round in the meantime: agreeing breaks the verdict there."""
    reading = _reading.get()
    opposite = Reading(not reading.favourable)
    opposite.call, opposite.path, opposite.doubts = reading.call, reading.path, reading.doubts
    token = _reading.set(opposite)
    try:
        yield
    finally:
        _reading.reset(token)


@contextmanager
def _read(favourable: bool) -> Iterator[Reading]:
    reading = Reading(favourable)
    token = _reading.set(reading)
    try:
        yield reading
    finally:
        _reading.reset(token)


Method = TypeVar("Method", bound=Callable[..., Any])


def in_both_readings(score: Method) -> Method:
    """Make a scorer's `score` give a score in both readings, where anything cannot be told."""

    @wraps(score)
    def scored(*args: Any, **kwargs: Any) -> Score | Awaitable[Score]:
        with _read(favourable=False) as against:
            first = score(*args, **kwargs)
        if inspect.isawaitable(first):
            return _scored_later(score, args, kwargs, first)
        if not against.doubts:
            return cast(Score, first)
        with _read(favourable=True) as in_favour:
            second = score(*args, **kwargs)
        return joined(first, second, [*against.doubts, *in_favour.doubts])

    return cast(Method, scored)


async def _scored_later(
    score: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any], first: Awaitable[Score]
) -> Score:
    """The same where a judge is asked: the comparing is done while the score is awaited."""
    if inspect.iscoroutine(first):
        first.close()  # begun anew, within its reading
    with _read(favourable=False) as against:
        worse: Score = await score(*args, **kwargs)
    if not against.doubts:
        return worse
    with _read(favourable=True) as in_favour:
        better: Score = await score(*args, **kwargs)
    return joined(worse, better, [*against.doubts, *in_favour.doubts])


def joined(against: Score, in_favour: Score, doubts: list[Doubt]) -> Score:
    """The score of both readings: that against the verdict where both pass or both fail, else errored."""
    values = {"against": against.value, "in_favour": in_favour.value}
    reasons = [str(doubt) for doubt in dict.fromkeys(doubts)]
    details = {**against.details, "cannot_be_told": {**values, "why": reasons}}
    if against.outcome == in_favour.outcome:
        return replace(against, details=details)
    shown = "; ".join(reasons[:_SHOWN_DOUBTS]) + (
        f"; … {len(reasons) - _SHOWN_DOUBTS} more" if len(reasons) > _SHOWN_DOUBTS else ""
    )
    remedies = ". ".join(dict.fromkeys(_REMEDIES[doubt.cause] for doubt in doubts))
    error = ScorerError(
        f"the record does not tell: {shown}. Read against the run the value is {against.value:g}, in its "
        f"favour {in_favour.value:g}. To have it told: {remedies}"
    )
    return replace(Score.errored(against.name, against.threshold, error), details=details)
