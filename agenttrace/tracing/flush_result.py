"""What a flush reports: how many spans are stored, still pending, or dropped."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from agenttrace.core.interruptions import pass_on_interruption
from agenttrace.core.protocols import HasPath, Health, SpanSink, TellsHealth, optional


@dataclass(frozen=True, slots=True)
class FlushResult:
    """What a flush did: true only if everything that had ended before it is stored.

    `pending` counts the spans that are not in the store's file yet, also those that a store keeps in memory
    because its file cannot be written. It is at least 1 if only scores are waiting.
    """

    stored: int
    pending: int
    dropped: Mapping[str, int] = field(default_factory=dict)

    def __bool__(self) -> bool:
        return self.pending == 0 and not self.dropped


@dataclass(frozen=True, slots=True)
class NotStored:
    """Spans that a store accepted but that are not in its file.

    `waiting` spans are in memory until the file can be written. `quarantined` spans could not be stored.
    `memory_full` spans were dropped because there was no room for them to wait. `complete` is False while
    anything waits, if only a score.
    """

    waiting: int = 0
    quarantined: int = 0
    memory_full: int = 0
    complete: bool = True


class StoreCheck:
    """Asks a store which of the spans that it accepted since this object was made are not in its file.

    A store in memory has no file, so nothing is missing from it. Of a store without a `health` method, the
    result of its last `flush` is believed. If several tracers share a store, the numbers are those of all.
    """

    def __init__(self, store: SpanSink) -> None:
        self._store = store
        self._flushed = True
        self._before = self._from_health()

    def flush(self, timeout: float) -> None:
        """Flush the store, and remember whether it finished."""
        self._flushed = False
        self._flushed = self._store.flush(timeout) is not False

    def not_stored(self) -> NotStored:
        """What is not in the file at this moment."""
        now = self._from_health()
        if now is None or self._before is None:
            return NotStored(complete=self._flushed)
        return NotStored(
            waiting=now.waiting,
            quarantined=max(now.quarantined - self._before.quarantined, 0),
            memory_full=max(now.memory_full - self._before.memory_full, 0),
            complete=now.complete,
        )

    def _from_health(self) -> NotStored | None:
        """What the store's `health` says of its file or server; None if it has neither, or no `health`."""
        reporting = optional(self._store, TellsHealth)
        try:
            health = None if reporting is None else reporting.health()
            if health is None or _is_meant_to_be_in_memory(health):
                return None
            return NotStored(health.waiting, health.quarantined, health.dropped, health.mode != "memory")
        except BaseException as error:  # choke-point: a user's store, whose `health` may be something else
            pass_on_interruption(error)
            return None


def _is_meant_to_be_in_memory(health: Health) -> bool:
    """Whether a store has neither a file nor a server, so that nothing is missing there."""
    is_away = getattr(health, "trouble", None) is not None or health.mode != "memory"
    return optional(health, HasPath) is None and not is_away
