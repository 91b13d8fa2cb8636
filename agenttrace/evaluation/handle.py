"""The promise of an online evaluation's scores."""

from __future__ import annotations

import threading
from collections.abc import Callable, Generator, Sequence
from concurrent.futures import CancelledError
from typing import TYPE_CHECKING, Any, Literal

from agenttrace.core.protocols import Scorer
from agenttrace.core.score import Score

if TYPE_CHECKING:
    import asyncio

State = Literal["queued", "running", "scored", "dropped", "sampled_out", "cancelled"]
"""*scored* includes errored scores: the evaluation has said all that it will say."""

_NO_ROOM = "the evaluation was dropped: the queue of evaluations is full"
_DONE = ("scored", "dropped", "sampled_out", "cancelled")


class EvaluationHandle:
    """The promise of an online evaluation's scores. May be ignored.

    `result` waits, ``await handle`` awaits; both give the scores in the order of the scorers. A dropped
    evaluation gives errored scores that say why; one that was sampled out gives none.
    """

    __slots__ = ("__weakref__", "_dropped", "_listeners", "_scores", "state")

    def __init__(self) -> None:
        self.state: State = "queued"
        self._scores: tuple[Score, ...] = ()
        self._listeners: list[Callable[[], Any]] | None = None
        self._dropped: Sequence[Scorer] = ()

    def done(self) -> bool:
        """Whether nothing more will happen."""
        return self.state in _DONE

    @classmethod
    def dropped(cls, scorers: Sequence[Scorer]) -> EvaluationHandle:
        """The handle of an evaluation for which there was no room."""
        handle = cls()
        handle.state = "dropped"
        handle._dropped = scorers
        return handle

    @property
    def scores(self) -> tuple[Score, ...]:
        """The scores so far: empty until done."""
        if self._dropped:
            return tuple(Score.errored(s.name, s.threshold, _NO_ROOM) for s in self._dropped)
        return self._scores

    def result(self, timeout: float | None = None) -> tuple[Score, ...]:
        """Wait for the scores, at most `timeout` seconds.

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
        """Give up an evaluation that has not begun; whether that was so."""
        if self.state != "queued":
            return False
        self.finish("cancelled", ())
        return True

    def finish(self, state: State, scores: tuple[Score, ...]) -> None:
        """Keep the outcome and wake who waits. Called once, by the evaluator."""
        self._scores = scores
        self.state = state
        for wake in tuple(self._listeners or ()):
            wake()

    def __await__(self) -> Generator[Any, None, tuple[Score, ...]]:
        if not self.done():
            import asyncio  # who awaits has it already; who does not, does not pay for it

            loop = asyncio.get_running_loop()
            future: asyncio.Future[None] = loop.create_future()
            self._listen(lambda: _wake(loop, future))
            yield from future
        return self._outcome()

    def _listen(self, wake: Callable[[], Any]) -> None:
        # Append first, look second, while `finish` sets first, looks second: one always sees the other.
        if self._listeners is None:
            self._listeners = []
        self._listeners.append(wake)
        if self.done():
            wake()

    def _outcome(self) -> tuple[Score, ...]:
        if self.state == "cancelled":
            raise CancelledError("the evaluation was cancelled before it began")
        return self.scores

    def __repr__(self) -> str:
        return f"<EvaluationHandle {self.state}>"


def _wake(loop: asyncio.AbstractEventLoop, future: asyncio.Future[None]) -> None:
    def settle() -> None:
        if not future.done():
            future.set_result(None)

    try:
        loop.call_soon_threadsafe(settle)
    except RuntimeError:  # who awaited has gone, with its loop
        pass
