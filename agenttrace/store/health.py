"""What a store says of itself, in numbers: spans written, lost, waiting, and its trouble."""

from __future__ import annotations

import logging
from dataclasses import dataclass, field, replace
from typing import Literal

_log = logging.getLogger("agenttrace")


@dataclass(slots=True, kw_only=True)
class StoreHealth:
    """Counts since the store was made, in this process.

    `mode` is where new spans go now; `trouble` says why that is memory. `lost` counts spans that were stored
    in a file which somebody then deleted, renamed away or replaced, `dropped` spans for which memory had no
    room. `waiting` spans are kept in memory until the file can be written again. `moved_aside` are the
    files that could not be used and were kept under a new name.
    """

    mode: Literal["sqlite", "postgres", "remote", "memory"] = "sqlite"
    path: str | None = None
    trouble: str | None = None
    written: int = 0
    waiting: int = 0
    quarantined: int = 0
    dropped: int = 0
    lost: int = 0
    reopened: int = 0
    retired_traces: int = 0
    busy: int = 0
    moved_aside: list[str] = field(default_factory=list)
    warned: set[str] = field(default_factory=set)

    def count(self, spans: int, refused: int) -> None:
        """Count written spans; `refused` of them went into the table ``quarantine``."""
        self.written += spans - refused
        if refused:
            self.quarantined += refused
            text = "%d spans could not be stored; table quarantine of %s says why"
            self.warn_once("quarantined", text, refused, self.path)

    def warn_once(self, cause: str, text: str, *values: object) -> None:
        """Log a warning the first time that a cause occurs."""
        if cause not in self.warned:
            self.warned.add(cause)
            _log.warning(text, *values)

    def copy(self) -> StoreHealth:
        """The state of this moment."""
        return replace(self, moved_aside=list(self.moved_aside), warned=set(self.warned))
