"""What keeps recording from being sound that the store's own counts do not say: memory, collectors."""

from __future__ import annotations

import time
from collections.abc import Iterator

from agenttrace.core.losses import Trouble
from agenttrace.reports.tree import duration_text
from agenttrace.store.damage import damage_of
from agenttrace.store.memory_note import MemoryNote, memory_notes
from agenttrace.store.sending_state import Sending, sending_state

PATIENCE_SECONDS = 300.0
"""For how long spans may wait to be sent before that is a trouble."""


def memory_troubles(path: str) -> Iterator[Trouble]:
    """The processes of this machine that keep spans in memory, or ended while they did."""
    for note in memory_notes(path):
        process = f"process {note.pid} ({note.program or 'python'})"
        if note.runs:
            yield Trouble(
                "memory",
                f"{process} keeps {note.waiting} spans in memory: the store cannot be written ({note.cause})",
                "mend that before the process ends: they are stored as soon as the file can be written; "
                "`agenttrace doctor` looks at file and disk",
            )
        elif note.waiting:
            yield Trouble(
                "lost_in_memory",
                f"{process} ended with {note.waiting} spans in memory, which are lost: the store could not "
                f"be written ({note.cause})",
                "mend what kept the store from being written; this is forgotten after a week",
            )
        yield from _dropped(note)


def _dropped(note: MemoryNote) -> Iterator[Trouble]:
    if note.dropped:
        yield Trouble(
            "memory_full",
            f"process {note.pid} dropped {note.dropped} spans for which memory had no room",
            "mend what keeps the store from being written",
        )


def file_troubles(path: str, timeout: float) -> Iterator[Trouble]:
    """What is damaged in the file.

    Raises:
        StoreError: it cannot be read at all.
    """
    damage = damage_of(path, timeout)
    if damage:
        yield Trouble(
            "damaged",
            f"{path} is damaged: {damage}",
            "`sqlite3 FILE .recover` gets out of it what can be read; with the file renamed, the next span "
            "begins a new one",
        )


def sending_troubles(path: str, timeout: float, *, now_ns: int | None = None) -> Iterator[Trouble]:
    """The destinations that take nothing, or refused something.

    Raises:
        StoreError: the store cannot be read.
    """
    now = time.time_ns() if now_ns is None else now_ns
    for one in sending_state(path, timeout):
        if one.waiting and one.oldest_ns is not None and now - one.oldest_ns > PATIENCE_SECONDS * 1e9:
            yield _not_sent(one, now - one.oldest_ns)
        if one.refused:
            yield Trouble(
                "refused",
                f"{one.refused} {one.kind} were refused by {one.destination}: {one.reason}",
                "mend what it says, then `exporter.resend()` tries them again",
            )


def _not_sent(one: Sending, age_ns: int) -> Trouble:
    return Trouble(
        "not_sent",
        f"{one.waiting} {one.kind} wait to be sent to {one.destination}, the oldest for "
        f"{duration_text(age_ns)}",
        "is a process with this exporter running, and the collector up at this address, with the right key? "
        "The log of the process has its answer; what waits is sent as soon as it is taken",
    )
