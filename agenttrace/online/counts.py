"""What became of the online evaluations, in numbers that add up."""

from __future__ import annotations

from agenttrace.process.signal_safe import Counter


class Counts:
    """What became of the online evaluations: `asked` is the sum of pending, scored, errored, dropped, sampled
    out, cancelled.

    `unstored` and `failed_calls` (of callbacks, alerts) are troubles beside them; `left` are those of the
    pending that nobody in this process will do any more. The counters that several threads touch are exact
    without a lock; the others belong to the worker.
    """

    def __init__(self) -> None:
        self.asked = Counter()
        self.dropped = Counter()
        self.sampled_out = Counter()
        self.left = Counter()
        self.waiting = 0
        self.running = 0
        self.callbacks_running = 0
        self.scored = 0
        self.errored = 0
        self.cancelled = 0
        self.unstored = 0
        self.failed_calls = 0
        self.weight = 0

    def to_dict(self, inbox: int) -> dict[str, int]:
        """The counts by name; `inbox` is what the worker has not seen yet."""
        return {
            "asked": self.asked.value(),
            "pending": inbox + self.waiting + self.running + self.left.value(),
            "scored": self.scored,
            "errored": self.errored,
            "dropped": self.dropped.value(),
            "sampled_out": self.sampled_out.value(),
            "cancelled": self.cancelled,
            "unstored": self.unstored,
            "failed_calls": self.failed_calls,
        }
