"""What may be lost between a call and the store: in words, with what to do."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, NamedTuple


class Loss(NamedTuple):
    """How a loss is said after its count, and what to do about it."""

    text: str
    remedy: str


LOSSES: Mapping[str, Loss] = {
    "queue_full": Loss(
        "spans were dropped: more ended than the writer could store, and the queue was full",
        "record less with Tracer(sample_rate=), or let more wait with queue_limit=",
    ),
    "memory_full": Loss(
        "spans were dropped: the store's file could not be written, and memory was full",
        "mend what keeps the file from being written; `agenttrace doctor` looks for it",
    ),
    "quarantined": Loss(
        "spans could not be stored by themselves",
        "the table quarantine of the store, and the page Health, say why",
    ),
    "rejected": Loss("spans were refused by the store", "the log says why, at the first of them"),
    "unreadable": Loss(
        "spans could not be read when they were to be stored",
        "the log says why, at the first of them; a redact function that raises is one reason",
    ),
    "after_shutdown": Loss(
        "spans ended after tracer.shutdown()", "shut the tracer down when nothing records any more"
    ),
    "lost": Loss(
        "spans were in a file that was deleted, renamed or replaced while it was in use",
        "move a store as docs/store.md says; `VACUUM INTO` makes a copy of one in use",
    ),
    "values_dropped": Loss(
        "values were left out of their spans: too much waited for the store",
        "record less of large values with Tracer(limits=), or find out why the store is slow",
    ),
    "redaction_failed": Loss(
        "values were taken out whole: the redact function raised, and they could have held secrets",
        "let redact(name, value) return for every value: a text, a number, a list, a mapping, None",
    ),
    "left_at_end": Loss(
        "spans were left when their process ended, and are lost",
        "call tracer.flush(timeout=) before it ends; `agenttrace doctor` finds out why the store is slow",
    ),
    "recording_errors": Loss(
        "calls were recorded in part: recording itself failed",
        "see what `agenttrace doctor` says: too little memory or stack is left in the process, a handler of "
        "yours for a type raised, or it is a bug of ours: please report it",
    ),
}
"""Counts that are 0 while recording is sound."""


@dataclass(frozen=True, slots=True)
class Trouble:
    """Something that keeps recording from being sound: its cause in a word, a sentence, what to do."""

    cause: str
    text: str
    remedy: str

    def to_dict(self) -> dict[str, Any]:
        """Every field under its name, as JSON data."""
        return asdict(self)


def trouble_of_loss(name: str, count: int) -> Trouble:
    """The loss of that name, which occurred `count` times."""
    loss = LOSSES[name]
    return Trouble(name, f"{count} {loss.text}", loss.remedy)
