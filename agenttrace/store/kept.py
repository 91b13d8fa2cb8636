"""`check_kept`: whether what a store was given is more than in memory."""

from __future__ import annotations

from agenttrace.core.errors import StoreError
from agenttrace.core.protocols import HasPath, Store, TellsHealth, optional


def check_kept(store: Store) -> None:
    """Raise StoreError where what was given to a store is in memory only: it would end with the process."""
    reporting = optional(store, TellsHealth)
    health = None if reporting is None else reporting.health()
    trouble = getattr(health, "trouble", None)
    if getattr(health, "mode", None) == "memory" and trouble:
        place = optional(store, HasPath)
        where = "the store" if place is None else place.path
        raise StoreError(f"{where} cannot be written, and nothing was kept: {trouble}")
