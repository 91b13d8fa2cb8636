"""How many records may wait for the writer: fewer while it cannot keep up."""

from __future__ import annotations

from agenttrace.tracing.delivery import BATCH, LARGEST_BATCH

MAX_QUEUED = 200_000
"""Records that may wait, about 60 MB of small ones, as many bytes as heavy values may take. Further ones are
dropped and counted."""

ENOUGH = 2 * LARGEST_BATCH
"""Records that keep the writer busy: from a longer queue it takes no larger batches."""


def lowered(limit: int) -> int:
    """The limit of a queue that was full, until nothing waits any more.

    Where more ends than is stored, a longer queue stores nothing more. But Python's garbage collector goes
    through all that waits, again and again, and stops the app for it. The limit goes down by a part of what
    the next batch makes room for, so that recording goes on meanwhile.
    """
    return max(limit - BATCH, min(limit, ENOUGH))
