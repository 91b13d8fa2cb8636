"""`Look`: a look at something that is made now and then, and what it found that is still to be told."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Iterable
from typing import Any


class Look:
    """Looks with `check` every `pause` seconds; never where that is None.

    One look at a time: one that takes longer than its caller waits goes on, and what it finds is among the
    `news` all the same. So is what it found before it raised.
    """

    def __init__(self, check: Callable[[], Iterable[Any]], pause: float | None) -> None:
        self.news: deque[Any] = deque()
        self._check = check
        self._pause = pause
        self._again_at = 0.0
        self._looking = False

    @property
    def due(self) -> bool:
        """Whether it is time to look, and no look is under way."""
        return self._pause is not None and not self._looking and time.monotonic() >= self._again_at

    def look(self) -> None:
        """Look now. Raises what `check` raises."""
        self._looking = True
        self._again_at = time.monotonic() + (self._pause or 0.0)
        try:
            self.news.extend(self._check())
        finally:
            self._looking = False
