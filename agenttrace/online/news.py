"""Which failures are news: of each, one alert when it is new, and one when it is back after a fix."""

from __future__ import annotations

from collections.abc import Sequence

from agenttrace.core.failure import Fingerprint
from agenttrace.core.protocols import KeepsWatch, Store, optional

_MOST_REMEMBERED = 10_000


class News:
    """Asks the store, which all processes share; one that keeps no failures is remembered for here."""

    def __init__(self, store: Store, project: str) -> None:
        self._store = optional(store, KeepsWatch)
        self._project = project
        self._seen: dict[str, None] = {}

    def of(self, fingerprints: Sequence[Fingerprint]) -> dict[str, str]:
        """Of these failures those that are new, or back again, by their keys.

        Raises:
            StoreError: the store cannot be asked.
        """
        if self._store is not None:
            return dict(self._store.first_tellings(self._project, fingerprints))
        news = {one.key: "new" for one in fingerprints if one.key not in self._seen}
        if len(self._seen) < _MOST_REMEMBERED:
            self._seen.update(dict.fromkeys(news))
        return news
