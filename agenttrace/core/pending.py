"""Evaluations of stored traces that wait in a queue, which any number of processes share.

There are two kinds of evaluations that wait. What `async_evaluate` was asked for lives in its process, brings
an example and scorers of that process, and is written down (`Store.save_pending_evaluations`) only so that a
later process may finish it. What a rule asks for (evaluate each trace of this project by these scorers, once
it has come to rest) belongs to no process: it is a row here from the beginning, a trace and a rule, and
whoever knows the rule may claim it. `agenttrace work` does both.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple, Protocol

if TYPE_CHECKING:
    from agenttrace.core.batch import ScoreRow


FAILED = "failed: "
"""What `seen` of a settlement begins with, before the reason, where the item could not be evaluated."""


class WorkItem(NamedTuple):
    """A trace that a rule asks to evaluate. There is one of each."""

    project: str
    trace_id: str
    rule: str


class Claim(NamedTuple):
    """The right to evaluate an item, until its lease ends.

    `number` is higher than that of every earlier claim of the same item: what an earlier claimant brings late
    is not taken. `tries` is how often the item was claimed and neither settled nor given back, this time
    included: more than one is how many claimants died at it, or lost it.
    `seen` is what the last settlement said that it had seen; None before the first.
    """

    item: WorkItem
    number: int
    tries: int
    seen: str | None


class WorkCounts(NamedTuple):
    """How many items of a project wait for their rest, are due, are claimed, are done, could not be done."""

    resting: int = 0
    due: int = 0
    claimed: int = 0
    done: int = 0
    failed: int = 0

    @property
    def waiting(self) -> int:
        """How many are not done yet."""
        return self.resting + self.due + self.claimed


class WorkQueue(Protocol):
    """The queued evaluations of a store. Times are the store's own clock. Any thread may call its methods.

    Raises:
        StoreError: from every method, where the store cannot be used; then nothing was changed.
    """

    def add(self, items: Sequence[WorkItem], seconds: float) -> None:
        """Let items be due in so many seconds; one that waits already is put off until then.

        One that is claimed stays so, and waits again once it is settled. One that was done waits again.
        """
        ...

    def claim(
        self, owner: str, most: int, seconds: float, *, rules: Collection[str] | None = None
    ) -> list[Claim]:
        """Claim up to `most` items for so many seconds, of each project those first that are due for longest.

        An item whose lease has ended is due. Of several claimants that ask at once, each item goes to one.
        Projects take turns, so that one with many items keeps no other waiting. With `rules`, only their
        items.
        """
        ...

    def renew(self, claims: Sequence[Claim], seconds: float) -> list[Claim]:
        """Hold claims for so many seconds from now; returns those that were not lost meanwhile."""
        ...

    def settle(self, claim: Claim, seen: str, scores: Sequence[ScoreRow] | None) -> bool:
        """End a claim, and keep its scores in the place of those of its item's last settlement, in one step.

        `scores` is None where those of the last settlement stay. Returns False, and keeps nothing, where the
        claim was lost.
        """
        ...

    def give_back(self, claims: Sequence[Claim], seconds: float) -> None:
        """Let items that were not done be due again in so many seconds; lost claims are passed over.

        For `tries` it is as if they had not been claimed.
        """
        ...

    def counts(self) -> Mapping[str, WorkCounts]:
        """How many items there are, by project."""
        ...


class QueuesWork(Protocol):
    """Optional hook of a store: evaluations of its traces may be queued there."""

    def work_queue(self) -> WorkQueue:
        """The queue of this store."""
        ...
