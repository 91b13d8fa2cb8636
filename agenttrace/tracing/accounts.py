"""What became of the spans that were recorded, as far as the store is concerned."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from agenttrace.core.interruptions import pass_on_interruption
from agenttrace.core.protocols import HasPath, SpanSink, TellsHealth, optional


@dataclass(frozen=True, slots=True)
class FlushResult:
    """What a flush did: true only if everything that had ended before it is stored.

    `pending` counts spans that are not where they belong yet, also those that a store keeps in memory because
    its file cannot be written; it is at least 1 where only scores wait so.
    """

    stored: int
    pending: int
    dropped: Mapping[str, int] = field(default_factory=dict)

    def __bool__(self) -> bool:
        return self.pending == 0 and not self.dropped


@dataclass(frozen=True, slots=True)
class Shortfall:
    """What a store took without having it in its file.

    `waiting` spans are in memory until the file can be written, `quarantined` ones could not be stored, for
    those that are `memory_full` there was no room to wait. Not `complete`: something still waits, if only a
    score.
    """

    waiting: int = 0
    quarantined: int = 0
    memory_full: int = 0
    complete: bool = True


class StoreAccount:
    """Asks a store that has a file what became of the spans it took, since this was made.

    A store in memory has all that it took where it belongs. One that says nothing of its health is believed
    what its `flush` returns. Of a store that several tracers share, the numbers are those of all of them.
    """

    def __init__(self, store: SpanSink) -> None:
        self._store = store
        self._flushed = True
        self._before = self._now()

    def flush(self, timeout: float) -> None:
        """Let the store finish, and note whether it has."""
        self._flushed = False
        self._flushed = self._store.flush(timeout) is not False

    def shortfall(self) -> Shortfall:
        """What is missing at this moment."""
        now = self._now()
        if now is None or self._before is None:
            return Shortfall(complete=self._flushed)
        return Shortfall(
            waiting=now.waiting,
            quarantined=max(now.quarantined - self._before.quarantined, 0),
            memory_full=max(now.memory_full - self._before.memory_full, 0),
            complete=now.complete,
        )

    def _now(self) -> Shortfall | None:
        """What the store says of its file; None where it has none, or does not say."""
        reporting = optional(self._store, TellsHealth)
        try:
            health = None if reporting is None else reporting.health()
            if health is None or optional(health, HasPath) is None:
                return None
            return Shortfall(health.waiting, health.quarantined, health.dropped, health.mode != "memory")
        except BaseException as error:  # choke-point: a store of the user's, whose health is something else
            pass_on_interruption(error)
            return None
