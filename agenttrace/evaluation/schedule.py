"""`Schedule`: which trial of which example is next, and what ends the evaluation before all were run."""

from __future__ import annotations

import threading
from collections import Counter, deque
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence

from agenttrace.core.report import ScoringResult
from agenttrace.evaluation.budget import Spending

Settled = Callable[[Sequence[ScoringResult]], bool]
"""Whether the results of one example so far, in the order of its trials, settle its verdict."""

Place = tuple[int, int]
"""The position of an example, and the number of a trial of it, both from 0."""


class Schedule:
    """The trials of an evaluation in the order in which they begin. Any thread may ask and report.

    Without `settled` each example is run `trials` times, whatever comes out. With it the trials of an example
    follow one after the other until they settle its verdict, `trials` at most. Nothing more begins when
    the money, tokens or time of `spending` are spent, or `stop_after` examples have a result that failed or
    errored. `earlier` are results that are there already: they are not run, and no failures of this run.
    `at_most` is how many results there will be beside them, where every trial is needed.
    """

    def __init__(
        self,
        examples: int,
        trials: int = 1,
        *,
        settled: Settled | None = None,
        spending: Spending | None = None,
        stop_after: int | None = None,
        earlier: Mapping[Place, ScoringResult] | None = None,
    ) -> None:
        self.results: dict[Place, ScoringResult] = {}
        self.at_most = examples * trials
        self._examples = examples
        self._trials = trials
        self._settled = settled
        self._spending = spending
        self._stop_after = stop_after
        self._next: deque[Place] = deque()
        self._rest = self._beginnings()
        self._open = dict.fromkeys(range(examples)) if settled else {}
        self._red: set[int] = set()
        self._why_ended: str | None = None
        self._lock = threading.Lock()
        for place in sorted(earlier or {}):
            self.add(place, (earlier or {})[place])
        self.at_most -= len(self.results)
        self._red.clear()

    def _beginnings(self) -> Iterator[Place]:
        at_once = 1 if self._settled else self._trials
        return ((position, trial) for position in range(self._examples) for trial in range(at_once))

    def next(self) -> Place | None:
        """The place that begins now; None where there is none, or none at present."""
        with self._lock:
            self._why_ended = self._why_ended or self._reason_to_end()
            if self._why_ended is not None:
                return None
            while (place := self._next.popleft() if self._next else next(self._rest, None)) in self.results:
                pass  # it is there from the run that this one goes on with
            return place

    def _reason_to_end(self) -> str | None:
        if self._stop_after is not None and len(self._red) >= self._stop_after:
            examples = "example" if self._stop_after == 1 else "examples"
            return f"{self._stop_after} {examples} did not pass, and stop_after={self._stop_after}"
        return None if self._spending is None else self._spending.why_spent(len(self.results))

    def end(self, why: str) -> None:
        """Let nothing more begin."""
        with self._lock:
            self._why_ended = self._why_ended or why

    def add(self, place: Place, result: ScoringResult) -> None:
        """Take the result of a place; where trials follow one after the other, the next one may begin."""
        position, trial = place
        settled = self._settled is None or trial + 1 == self._trials
        if self._settled is not None and not settled:
            settled = self._settled([self.results[position, n] for n in range(trial)] + [result])
        with self._lock:
            self.results[place] = result
            if not result.success:
                self._red.add(position)
            if settled:
                self._open.pop(position, None)
                self.at_most -= self._trials - 1 - trial if self._settled else 0
            else:
                self._next.append((position, trial + 1))

    def missing(self, stored: Collection[Place] | None = None) -> list[Place]:
        """The places that have no result; of trials that follow one after the other, the next one each.

        `stored` are the places whose results are stored: then those are missing that would have none if the
        process died now.
        """
        present = list(self.results)
        results = present if stored is None else stored
        if self._settled is None:
            places = [
                (position, trial) for position in range(self._examples) for trial in range(self._trials)
            ]
            there = set(results)
            return [place for place in places if place not in there]
        done, ran = (Counter(position for position, _ in some) for some in (results, present))
        positions = (at for at in range(self._examples) if at in self._open or done[at] < ran[at])
        return [(position, done[position]) for position in positions]

    @property
    def why_ended(self) -> str | None:
        """Why nothing more began, where places are missing for it; None where all began."""
        return self._why_ended
