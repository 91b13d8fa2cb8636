"""Looks at rules over a window, over all processes of a store: each is told once when it is broken."""

from __future__ import annotations

import time
from bisect import bisect_right
from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from operator import itemgetter
from typing import Any

from agenttrace.core.protocols import KeepsUnsent, KeepsWatch, Store, optional
from agenttrace.core.rates import Measure, Measured, Rule
from agenttrace.core.watch import ScoreCounts

_OFTEN = 20
"""How often a rule is looked at within its window."""

_LEAST_PAUSE, _LONGEST_PAUSE = 1.0, 30.0

_DROPPED = ("queue_full", "after_shutdown", "unreadable", "rejected", "quarantined", "memory_full")


@dataclass(frozen=True, slots=True, kw_only=True)
class RateAlert:
    """A rule that is broken: `value` over the last `window`, of `cases` cases."""

    rule: str
    project: str
    value: float
    cases: int
    window: str
    since_ns: int

    def to_dict(self) -> dict[str, Any]:
        """Every field as data that JSON can hold."""
        return {"kind": "rate", **asdict(self)}

    def __str__(self) -> str:
        cases = "1 case" if self.cases == 1 else f"{self.cases} cases"
        return f"{self.rule}: {self.value:.4g} in {cases} of project {self.project}"


class RateWatch:
    """Looks at rules and says which are broken: each once, until it has held again.

    Of several processes with the same rule one tells, as long as the store has leases. `check` is called on
    one thread at a time. `pause` is how many seconds lie between two looks, None where there is nothing to
    look at.
    """

    def __init__(self, rules: Sequence[Rule], store: Store, project: str, holder: str) -> None:
        self.rules = tuple(rules)
        self._watch = optional(store, KeepsWatch)
        self._leases = optional(store, KeepsUnsent)
        self._project = project
        self._holder = holder
        self._broken: set[str] = set()
        self._spans: deque[tuple[int, int, int]] = deque()  # for the longest window of a rule
        self.pause: float | None = None
        if self.rules and self._watch is not None:
            shortest = min(rule.seconds for rule in self.rules)
            self.pause = min(max(shortest / _OFTEN, _LEAST_PAUSE), _LONGEST_PAUSE)

    def check(self, now_ns: int | None = None) -> Iterator[RateAlert]:
        """The rules that are broken and of which nobody was told.

        One that cannot be looked at keeps no other from being told; it is looked at again the next time.

        Raises:
            Exception: the store cannot be read, in the end, when all rules were looked at.
        """
        now = time.time_ns() if now_ns is None else now_ns
        failure: Exception | None = None
        for rule in self.rules:
            try:
                alert = self._looked_at(rule, now)
            except Exception as error:  # choke-point: whatever a store raises
                failure = failure or error
                continue
            if alert is not None:
                yield alert
        if failure is not None:
            raise failure

    def _looked_at(self, rule: Rule, now: int) -> RateAlert | None:
        since = now - int(rule.seconds * 1e9)
        measured = self._measured(rule, since, now)
        if not rule.is_broken(measured):
            self._recovered(rule)
            return None
        if not self._may_tell(rule):
            return None
        return RateAlert(
            rule=rule.label,
            project=self._project,
            value=measured.value,
            cases=measured.cases,
            window=rule.window,
            since_ns=since,
        )

    def _may_tell(self, rule: Rule) -> bool:
        # Held as long as the rule is broken, so that a process that begins meanwhile says nothing.
        is_ours = self._leases is None or self._leases.lease(self._lease(rule), self._holder, rule.seconds)
        is_first = rule.label not in self._broken
        self._broken.add(rule.label)
        return is_ours and is_first

    def _recovered(self, rule: Rule) -> None:
        if rule.label in self._broken:
            self._broken.discard(rule.label)
            if self._leases is not None:
                self._leases.release(self._lease(rule), self._holder)

    def _lease(self, rule: Rule) -> str:
        return f"alert {self._project} {rule.label}"

    def _measured(self, rule: Rule, since_ns: int, now_ns: int) -> Measured:
        assert self._watch is not None
        if rule.measure == "dropped":
            return self._dropped(since_ns, now_ns)
        scores = self._watch.score_counts(since_ns=since_ns, project=self._project)
        of_rule = [counts for counts in scores if rule.scorer in (None, counts.name)]
        if rule.measure == "cost":
            traces = self._watch.trace_counts(since_ns=since_ns, project=self._project)
            spent = self._watch.trace_cost(since_ns=since_ns, project=self._project)
            spent += sum(one.cost for one in scores)
            return Measured(spent, sum(one.traces for one in traces))
        return _share(of_rule, rule.measure)

    def _dropped(self, since_ns: int, now_ns: int) -> Measured:
        """The share of dropped spans, between the counts of now and those at the window's beginning."""
        assert self._watch is not None
        counts = [writer.counts for writer in self._watch.writers()]
        dropped = sum(each.get(name, 0) for each in counts for name in _DROPPED)
        stored = sum(each.get("written", 0) for each in counts)
        longest = now_ns - int(max(rule.seconds for rule in self.rules) * 1e9)
        while len(self._spans) > 1 and self._spans[1][0] <= longest:
            self._spans.popleft()
        self._spans.append((now_ns, stored, dropped))
        at = bisect_right(self._spans, since_ns, key=itemgetter(0))
        _, stored_before, dropped_before = self._spans[max(at - 1, 0)]
        lost = max(dropped - dropped_before, 0)
        ended = max(stored - stored_before, 0) + lost
        return Measured(lost / ended if ended else 0.0, ended)


def _share(counts: Sequence[ScoreCounts], measure: Measure) -> Measured:
    judged = sum(each.judged for each in counts)
    if measure == "passed":
        return Measured(sum(each.passed for each in counts) / judged if judged else 1.0, judged)
    errored = sum(each.errored for each in counts)
    return Measured(errored / (judged + errored) if errored else 0.0, judged + errored)
