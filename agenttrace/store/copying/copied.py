"""`CopiedKinds`: how much of each kind was copied, and how much of it the other store then had."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass


@dataclass(slots=True)
class Copied:
    """Of one kind: how many there were, how many had to be written, how many were there in the end."""

    looked_at: int = 0
    written: int = 0
    there: int = 0

    @property
    def missing(self) -> int:
        """How many are not there, or not as they are."""
        return self.looked_at - self.there


class CopiedKinds:
    """The counts by kind, in the order in which the kinds were copied.

    Args:
        progress: Told of each part that is done: the kind, and how many of it were looked at so far.
    """

    def __init__(self, progress: Callable[[str, int], None] | None = None) -> None:
        self.by_kind: dict[str, Copied] = {}
        self._progress = progress

    def add(self, kind: str, *, looked_at: int, written: int, there: int) -> None:
        """Count a part of a kind."""
        counts = self.by_kind.setdefault(kind, Copied())
        counts.looked_at += looked_at
        counts.written += written
        counts.there += there
        if self._progress is not None:
            self._progress(kind, counts.looked_at)

    @property
    def missing(self) -> dict[str, int]:
        """How many of each kind are not there; empty where all is."""
        return {kind: counts.missing for kind, counts in self.by_kind.items() if counts.missing}
