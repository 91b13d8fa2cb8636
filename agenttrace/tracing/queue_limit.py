"""How many records may wait for the writer: fewer while it cannot keep up."""

from __future__ import annotations

from agenttrace.tracing.delivery import LARGEST_BATCH

MAX_QUEUED = 200_000
"""Records that may wait, about 60 MB of small ones, as many bytes as heavy values may take. Further ones are
dropped and counted."""

ENOUGH = LARGEST_BATCH
"""Records that keep the writer busy: of a full queue it takes a whole batch, and a longer one makes it no
larger."""

_PART = 8
"""The limit goes down by this part of each batch: the rest of its room is there for what ends meanwhile."""


def lowered(limit: int, batch: int) -> int:
    """The limit, until nothing waits, of a queue that was full when a batch of so many records left it.

    Where more ends than is stored, a longer queue stores nothing more. But Python's garbage collector goes
    through all that waits, again and again, and stops the app for it. The limit goes down by a part of the
    room that was made, so that recording goes on meanwhile.
    """
    return max(limit - batch // _PART, min(limit, ENOUGH))
