"""Rules over a window: a share of passed, errored or dropped, or a cost."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal, NamedTuple

from agenttrace.core.durations import seconds_of
from agenttrace.core.errors import ConfigError
from agenttrace.core.numbers import is_number, is_whole

Measure = Literal["passed", "errored", "dropped", "cost"]


class Measured(NamedTuple):
    """What a rule found in its window: a share with what it is of, or a sum with the number of traces."""

    value: float
    cases: int


@dataclass(frozen=True)
class Rule:
    """A limit of something that is measured over a window; see `Rate`, `ErroredShare` and their neighbours.

    `window` is a duration (``"1h"``); with fewer than `at_least` cases in it, the rule says nothing.
    """

    measure: Measure
    scorer: str | None = None
    below: float | None = None
    above: float | None = None
    window: str = "1h"
    at_least: int = 20
    seconds: float = field(init=False, default=0.0)

    def __post_init__(self) -> None:
        """Raise ConfigError for a rule that cannot work."""
        object.__setattr__(self, "seconds", seconds_of(self.window, "window"))
        limits = [limit for limit in (self.below, self.above) if limit is not None]
        if len(limits) != 1 or not is_number(limits[0]) or limits[0] < 0:
            raise ConfigError(f"a rule has one limit, below= or above=, a number from 0; got {limits!r}")
        if self.measure != "cost" and limits[0] > 1:
            raise ConfigError(f"a share is from 0 to 1, got {limits[0]!r}")
        if not is_whole(self.at_least, 1):
            raise ConfigError(f"at_least is a whole number from 1, got {self.at_least!r}")

    def is_broken(self, measured: Measured) -> bool:
        """Whether what was measured lies beyond the limit."""
        if measured.cases < self.at_least:
            return False
        return measured.value < self.below if self.below is not None else measured.value > (self.above or 0.0)

    @property
    def label(self) -> str:
        """The rule in words, the same in every process that has it."""
        what = {"passed": "passed", "errored": "errored", "dropped": "dropped spans", "cost": "cost"}
        subject = f"{self.scorer} {what[self.measure]}" if self.scorer else what[self.measure]
        limit = f"below {self.below:g}" if self.below is not None else f"above {self.above:g}"
        return f"{subject} {limit} over {self.window}"


def Rate(  # noqa: N802 - it reads as the rule that it makes
    scorer: str, *, below: float | None = None, above: float | None = None, window: str = "1h",
    at_least: int = 20,
) -> Rule:  # fmt: skip
    """Tell when the share of a scorer's scores that passed is below (or above) a limit.

    Skipped and errored scores are no part of it. Raises ConfigError for a rule that cannot work.
    """
    if not isinstance(scorer, str) or not scorer:
        raise ConfigError(f"Rate is of a scorer, by its name, got {scorer!r}")
    return Rule("passed", scorer, below, above, window, at_least)


def ErroredShare(  # noqa: N802
    *, above: float, scorer: str | None = None, window: str = "1h", at_least: int = 20
) -> Rule:
    """Tell when the share of scores that are errored is above a limit; of one scorer, or of all."""
    return Rule("errored", scorer, None, above, window, at_least)


def DroppedShare(*, above: float, window: str = "1h", at_least: int = 1_000) -> Rule:  # noqa: N802
    """Tell when the share of spans that were dropped, by all processes of the store, is above a limit."""
    return Rule("dropped", None, None, above, window, at_least)


def CostLimit(*, above: float, window: str = "1h", at_least: int = 1) -> Rule:  # noqa: N802
    """Tell when traces and judges together cost more US dollars than a limit."""
    return Rule("cost", None, None, above, window, at_least)
