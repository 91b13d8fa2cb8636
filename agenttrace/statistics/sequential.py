"""When do the trials so far settle what all of them would say? A sequential test with a stated error.

There are at most N trials, and the verdict of all N depends on how many of them pass. Given that number,
every order of passes and failures is as likely as any other, whatever the agent's true rate is: the trials
so far are a sample, without putting back, of all N. So the chance that an early verdict differs from the
verdict of all N is a number that can be computed, and that nobody has to guess a rate for.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

ERROR = 0.05
"""The share of early verdicts, of each side, that all trials would reverse, at most."""

Verdict = Literal["holds", "fails"]


@dataclass(frozen=True, slots=True)
class Boundary:
    """The numbers of passes that settle a verdict after each number of trials.

    After n trials it *holds* with `holds_at[n]` passes or more, and *fails* with `fails_at[n]` or fewer.
    """

    max_trials: int
    needed: int
    holds_at: tuple[int, ...]
    fails_at: tuple[int, ...]

    def verdict(self, trials: int, passes: int) -> Verdict | None:
        """The verdict that these trials settle, or None: then more are needed.

        Raises:
            ValueError: not 0 ≤ passes ≤ trials ≤ max_trials.
        """
        if not 0 <= passes <= trials <= self.max_trials:
            raise ValueError(f"{passes!r} passes of {trials!r} trials, of {self.max_trials} at most")
        if passes >= self.holds_at[trials]:
            return "holds"
        return "fails" if passes <= self.fails_at[trials] else None


@lru_cache(maxsize=256)
def boundary(max_trials: int, needed: int, error: float = ERROR) -> Boundary:
    """Return when it is settled that at least `needed` of `max_trials` trials pass, or that fewer do.

    Whatever the true rate, an early verdict is one that all `max_trials` would reverse with a probability
    of at most `error`; it is spent evenly over the trials. `error=0` stops only where the rest cannot
    change the verdict. `needed` of 0 always holds, one above `max_trials` never does.

    Raises:
        ValueError: `max_trials` below 1, `needed` not from 0 to max_trials + 1, `error` not from 0 to below
        1.
    """
    if max_trials < 1 or not 0 <= needed <= max_trials + 1 or not 0 <= error < 1:
        raise ValueError(f"no boundary of {needed!r} of {max_trials!r} trials with the error {error!r}")
    passes = _least(max_trials, needed, error)
    failures = _least(max_trials, max_trials + 1 - needed, error)
    fails_at = tuple(trials - failures[trials] for trials in range(max_trials + 1))
    return Boundary(max_trials, needed, passes, fails_at)


def _least(max_trials: int, needed: int, error: float) -> tuple[int, ...]:
    """The least number of successes after each number of trials that says: at least `needed` in the end.

    Computed for `needed` − 1 successes in all, the likeliest population of those that it would be false of.
    """
    least = [needed]
    successes = needed - 1
    reached = {0: 1.0}  # the chance of each number of successes so far, of paths that have not stopped
    spent = 0.0
    for trials in range(1, max_trials + 1):
        left = max_trials - trials + 1
        following: dict[int, float] = {}
        for count, chance in reached.items():
            more = min(max((successes - count) / left, 0.0), 1.0)
            following[count + 1] = following.get(count + 1, 0.0) + chance * more
            following[count] = following.get(count, 0.0) + chance * (1 - more)
        allowed = error * trials / max_trials
        bound = min(needed, trials + 1)
        while bound > 0 and spent + following.get(bound - 1, 0.0) <= allowed:
            bound -= 1
            spent += following.pop(bound, 0.0)
        least.append(bound)
        reached = following
    return tuple(least)
