"""What an exporter has yet to send, as it waits."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True, slots=True)
class Parcel:
    """One request's body, encoded, not compressed.

    `kind` says to which of a collector's addresses it goes, `items` how many spans or scores it holds. `key`
    is its place in an outbox, 0 outside one.
    """

    kind: Literal["traces", "logs"]
    content_type: str
    items: int
    body: bytes
    key: int = 0
