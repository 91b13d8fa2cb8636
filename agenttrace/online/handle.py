"""The promise of an online evaluation's scores."""

from __future__ import annotations

import threading
from collections.abc import Callable, Generator, Sequence
from concurrent.futures import CancelledError
from typing import TYPE_CHECKING, Any, Literal

from agenttrace.core.protocols import Scorer
from agenttrace.core.score import Score
from agenttrace.process.said_once import SaidOnce
from agenttrace.process.threads import settle
from agenttrace.redaction import without_secrets
from agenttrace.tracing.context import runs_inside
from agenttrace.tracing.record import Record

if TYPE_CHECKING:
    import asyncio

State = Literal["queued", "running", "scored", "dropped", "sampled_out", "cancelled", "left"]
"""*scored* includes errored scores: the evaluation has said all that it will say. *left*: the tracer was shut
down before it was done; `resume_evaluations` finishes what the store keeps of it."""

_warnings = SaidOnce(without_secrets)


class EvaluationHandle:
    """The promise of an online evaluation's scores. May be ignored.

    `result` waits, ``await handle`` awaits; both give the scores in the order of the scorers. An evaluation
    that was dropped, or left undone at a shutdown, gives errored scores that say why; one that was sampled
    out gives none.
    """

    __slots__ = (
        "__weakref__",
        "_claims",
        "_end",
        "_listeners",
        "_scores",
        "_undone",
        "record",
        "waited_for_inside",
    )

    def __init__(self, record: Record | None = None) -> None:
        self._claims: dict[str, object] = {}
        self._end: State | None = None
        self._scores: tuple[Score, ...] = ()
        self._undone: tuple[Sequence[Scorer], str] | None = None
        self._listeners: list[Callable[[], Any]] = []
        self.record = record
        """The running call that is judged, if any: whoever waits inside it cannot wait for its end."""
        self.waited_for_inside = False

    @property
    def state(self) -> State:
        """Where the evaluation is."""
        return self._end or ("running" if "begin" in self._claims else "queued")

    def done(self) -> bool:
        """Whether nothing more will happen."""
        return self._end is not None

    @property
    def scores(self) -> tuple[Score, ...]:
        """The scores so far: empty until done."""
        if self._undone is not None:
            scorers, why = self._undone
            return tuple(Score.errored(scorer.name, scorer.threshold, why) for scorer in scorers)
        return self._scores

    def result(self, timeout: float | None = None) -> tuple[Score, ...]:
        """Wait for the scores, at most `timeout` seconds.

        Inside the span that is judged, what there is of it by now is judged: its end would never come.

        Raises:
            TimeoutError: not in time; the evaluation goes on.
            CancelledError: `cancel` came first.
        """
        if not self.done():
            finished = threading.Event()
            self._listen(finished.set)
            if not finished.wait(timeout):
                raise TimeoutError(f"no score within {timeout:g} s; the evaluation goes on")
        return self._outcome()

    def cancel(self) -> bool:
        """Give up an evaluation that has not begun. Returns False, and does nothing, if it has."""
        return self.begin() and self.finish("cancelled")

    def begin(self) -> bool:
        """Claim the evaluation, to run it or to cancel it. Returns False if somebody else has claimed it."""
        return self._claim("begin")

    @classmethod
    def undone(cls, state: State, scorers: Sequence[Scorer], why: str) -> EvaluationHandle:
        """The handle of an evaluation that never began: `why` becomes the error of its scores."""
        handle = cls()
        handle.give_up(state, scorers, why)
        return handle

    @classmethod
    def not_begun(cls, scorers: Sequence[Scorer], error: OSError) -> EvaluationHandle:
        """The handle of one that could not begin. The trouble is logged once; the next one is tried again."""
        _warnings.warn("begin", "evaluations are dropped: they cannot begin", error)
        return cls.undone("dropped", scorers, f"online evaluation could not begin: {error}")

    def give_up(self, state: State, scorers: Sequence[Scorer], why: str) -> bool:
        """End an evaluation without scores: `why` becomes their error. Returns False if it has ended."""
        return self.finish(state, undone=(scorers, why))

    def finish(
        self, state: State, scores: tuple[Score, ...] = (), undone: tuple[Sequence[Scorer], str] | None = None
    ) -> bool:
        """Keep the scores, or why there are none, and wake whoever waits. Returns False if it had ended."""
        if not self._claim("end"):
            return False
        self._scores, self._undone, self.record = scores, undone, None
        self._end = state
        for wake in tuple(self._listeners):
            wake()
        return True

    def _claim(self, right: str) -> bool:
        """Claim what only one may have. Returns False if it was claimed before.

        `setdefault` is atomic: no lock is needed.
        """
        token = object()
        return self._claims.setdefault(right, token) is token

    def __await__(self) -> Generator[Any, None, tuple[Score, ...]]:
        if not self.done():
            import asyncio  # who awaits has it already; who does not, does not pay for it

            future: asyncio.Future[None] = asyncio.get_running_loop().create_future()
            self._listen(lambda: settle(future, None))
            yield from future
        return self._outcome()

    def _listen(self, wake: Callable[[], Any]) -> None:
        # Append first, look second, while `finish` sets first, looks second: one always sees the other.
        if self.record is not None and runs_inside(self.record):
            self.waited_for_inside = True
        self._listeners.append(wake)
        if self.done():
            wake()

    def _outcome(self) -> tuple[Score, ...]:
        if self.state == "cancelled":
            raise CancelledError("the evaluation was cancelled before it began")
        return self.scores

    def __repr__(self) -> str:
        return f"<EvaluationHandle {self.state}>"
