"""`Score`: a scorer's result for one example."""

from __future__ import annotations

import math
import traceback
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from importlib import import_module
from itertools import chain
from typing import Any, Literal

from agenttrace.core.changed import changed, made
from agenttrace.core.errors import ScorerError, error_text
from agenttrace.core.later import make_when_read
from agenttrace.core.marks import text_without_digests, without_digests
from agenttrace.core.numbers import is_number
from agenttrace.core.text import printable, short_line

_REASON = 300
"""Characters of a reason in a score's line."""
_REPR = 120
_SHOWN = frozenset({str, int, float, bool, type(None)})
"""What shows itself: the repr of another value may take for ever."""

Outcome = Literal["passed", "failed", "skipped", "errored"]
"""*skipped*: a needed field is absent by design; *errored*: the scorer could not give a value. Both have
value None and are left out of every mean, which says so (`Mean`); neither is a pass."""


def _plain(value: object) -> float:
    """A number as a float itself; NaN for what is none, or beyond every float."""
    try:
        return float(value) if is_number(value) else math.nan
    except OverflowError:
        return math.nan


@dataclass(frozen=True, kw_only=True, repr=False)
class Score:
    """A scorer's result for one example.

    `value` is in 0..1, or None when skipped or errored. `reason` restates the arithmetic so that a reader
    can recompute the value; `details` holds the same facts machine-readably; `diff` is the aligned
    comparison as text, where the scorer makes one. It, and what of it stands in `details`, may be made when
    it is first read. `error` is the traceback of a broken scorer. `duration` is in seconds, `cost` in US
    dollars. Without `gate` the score informs: it decides no result's outcome. With `lower_is_better` a value
    up to the threshold passes.

    Three more say how it came about, for who looks at it later: `options` are those of the scorer that are
    not its defaults; `example` has the fields that an online evaluation judged (a result of a run has its
    own example), as the store keeps them; `evidence` is what a judge was shown and what it replied.
    """

    name: str
    value: float | None
    threshold: float
    outcome: Outcome
    reason: str = ""
    details: Mapping[str, Any] = field(default_factory=dict)
    diff: str | None = None
    error: str | None = None
    model: str | None = None
    strict: bool = False
    cost: float | None = None
    usage: Mapping[str, Any] | None = None
    duration: float | None = None
    metadata: Mapping[str, Any] = field(default_factory=dict)
    gate: bool = True
    lower_is_better: bool = False
    options: Mapping[str, Any] = field(default_factory=dict)
    example: Mapping[str, Any] = field(default_factory=dict)
    evidence: Mapping[str, Any] = field(default_factory=dict)

    @classmethod
    def of(
        cls,
        name: str,
        value: float,
        threshold: float,
        *,
        reason: str = "",
        details: Mapping[str, Any] | None = None,
        diff: str | None = None,
        lower_is_better: bool = False,
        strict: bool = False,
        model: str | None = None,
        usage: Mapping[str, Any] | None = None,
        cost: float | None = None,
        metadata: Mapping[str, Any] | None = None,
    ) -> Score:
        """Judge a value against its threshold.

        Raises:
            ValueError: `value` is not a number in 0..1 (NaN and bool included), `threshold` is NaN, or
                `reason` is no text: a scorer that produces one is broken, and the evaluation reports it as
                errored.
        """
        if not issubclass(type(reason), str):
            kind = type(reason).__name__  # its own repr may take for ever
            raise ValueError(f"a score's reason is a text, got {kind} from {name!r}")
        number = _plain(value)  # what a number of another class says of its order may be anything
        if not 0 <= number <= 1:
            got = repr(value) if type(value) in _SHOWN else type(value).__name__
            raise ValueError(f"a score must be a number from 0 to 1, got {got} from {name!r}")
        value = number
        passed = value <= threshold if lower_is_better else value >= threshold
        if threshold != threshold:  # NaN, with which nothing ever passes
            raise ValueError(f"a threshold is a number, got {threshold!r} for {name!r}")
        values: dict[str, Any] = {
            "name": name,
            "value": value,
            "threshold": threshold,
            "outcome": "passed" if passed else "failed",
            "reason": reason,
            "details": details or {},
            "diff": diff,
            "strict": strict,
            "model": model,
            "usage": usage,
            "cost": cost,
            "metadata": metadata or {},
            "lower_is_better": lower_is_better,
            "options": {},
            "example": {},
            "evidence": {},
        }
        return made(Score, _BLANK.__dict__ | values) if cls is Score else cls(**values)

    @classmethod
    def skipped(cls, name: str, threshold: float, reason: str) -> Score:
        """Make the score of an example that has nothing for this scorer, by design."""
        return cls(name=name, value=None, threshold=threshold, outcome="skipped", reason=reason)

    @classmethod
    def errored(cls, name: str, threshold: float, error: BaseException | str, reason: str = "") -> Score:
        """Make the score of a scorer that could not give a value; keeps the exception's traceback."""
        if isinstance(error, BaseException):
            text = "".join(traceback.format_exception(error))
            reason = reason or error_text(error)
        else:
            text, reason = error, reason or error
        return cls(name=name, value=None, threshold=threshold, outcome="errored", reason=reason, error=text)

    @property
    def passed(self) -> bool:
        """Whether the outcome is *passed*."""
        return self.outcome == "passed"

    def __getstate__(self) -> dict[str, Any]:
        """The fields as they are read: what is still to be made does not go into copies and pickles."""
        return {**self.__dict__, "diff": self.diff, "details": self.details}

    def with_duration(self, seconds: float) -> Score:
        """The same score with the time it took."""
        return changed(self, duration=seconds)

    def __repr__(self) -> str:
        """One short line, without values that the scorer looked at."""
        return f"<Score {short_line(str(self), _REPR)}>"

    def __str__(self) -> str:
        """One line: ``Tool Order: 0.5 (threshold 1) failed: 1 of 2 expected calls aligned``."""
        value = "" if self.value is None else f" {self.value:.4g} (threshold {self.threshold:g})"
        reason = f": {short_line(self.reason, _REASON)}" if self.reason else ""
        return printable(f"{short_line(self.name, _REASON)}:{value} {self.outcome}{reason}")

    def _repr_html_(self) -> str:
        """What a notebook shows: the page of agenttrace.viewer, loaded on use as it needs much else."""
        html: str = import_module("agenttrace.viewer.notebook").html_of(self)
        return html

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Score:
        """Make the score that `to_dict` wrote. Keys that no field has are ignored."""
        return cls(**{item.name: data[item.name] for item in fields(cls) if item.name in data})

    def informing(self) -> Score:
        """The same score, which decides no outcome."""
        return replace(self, gate=False)

    def to_dict(self) -> dict[str, Any]:
        """Every field under its name, without the digests of values that were not recorded whole."""
        values = {item.name: getattr(self, item.name) for item in fields(self)}
        for name, value in values.items():
            if isinstance(value, Mapping):
                values[name] = without_digests(dict(value))
            elif isinstance(value, str):
                values[name] = text_without_digests(value)
        return values


make_when_read(Score, "diff", "details")

_BLANK = Score(name="", value=None, threshold=0.0, outcome="skipped")


class Mean(float):
    """A mean, as a number that says what it is of: printed as ``0.93 over 9 of 10``.

    `count` values were there, of `total` that were asked for: the others are those of agents that raised, and
    of skipped and errored scores.
    """

    count: int
    total: int

    def __new__(cls, mean: float, count: int, total: int) -> Mean:
        """Make the mean of `count` values, of `total`."""
        number = super().__new__(cls, mean)
        number.count, number.total = count, total
        return number

    def __getnewargs__(self) -> tuple[float, int, int]:  # type: ignore[override]  # for pickle and copy
        return float(self), self.count, self.total

    def __repr__(self) -> str:
        return f"{round(float(self), 4)} over {self.count} of {self.total}"


def asked_counts(results: Iterable[Sequence[Score]]) -> dict[str, int]:
    """Return for how many results each scorer was asked, by its name; `results` are the scores of each.

    A result without any score, because the agent raised, is one that every scorer was asked for; one with
    other scores alone is not: the scorer is another example's.
    """
    counts: Counter[str] = Counter()
    without = 0
    for scores in results:
        without += not scores
        counts.update(score.name for score in scores)
    return {name: count + without for name, count in counts.items()}


def mean_values(results: Iterable[Sequence[Score]]) -> dict[str, Mean]:
    """Return each scorer's mean over the scores that have a value, by its name, of all it was asked for."""
    results = list(results)
    values: dict[str, list[float]] = {}
    for score in chain.from_iterable(results):
        if score.value is not None:
            values.setdefault(score.name, []).append(score.value)
    asked = asked_counts(results)
    return {name: Mean(math.fsum(each) / len(each), len(each), asked[name]) for name, each in values.items()}


def mean_data(means: Mapping[str, Mean]) -> dict[str, Any]:
    """Means as JSON-safe data: the numbers, and over how many of how many each is."""
    return {
        "means": {name: float(mean) for name, mean in means.items()},
        "mean_counts": {name: {"count": mean.count, "total": mean.total} for name, mean in means.items()},
    }


def checked_threshold(threshold: float, scorer: str) -> float:
    """Return a scorer's threshold, which is a number from 0 to 1.

    Raises:
        ScorerError: it is something else.
    """
    if not (is_number(threshold) and 0 <= threshold <= 1):
        raise ScorerError(f"{scorer}: threshold is a number from 0 to 1, got {threshold!r}")
    return threshold


def checked_gate(gate: bool, scorer: str) -> bool:
    """Return whether a scorer decides the outcome of results.

    Raises:
        ScorerError: it is neither True nor False.
    """
    return checked_flag(gate, "gate", scorer)


def checked_flag(value: bool, option: str, scorer: str) -> bool:
    """Return an option of a scorer that is on or off: a text such as ``"no"`` would count as on.

    Raises:
        ScorerError: it is neither True nor False.
    """
    if not isinstance(value, bool):
        raise ScorerError(f"{scorer}: {option} is True or False, got {value!r}")
    return value
