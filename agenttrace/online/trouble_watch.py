"""Looks at troubles of recording: alerts are told of each one once, until it is over."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass
from typing import Any

from agenttrace.core.losses import Trouble

PAUSE = 5.0
"""Seconds between two looks."""

PATIENCE = 60.0
"""Seconds for which a collector may take nothing before that is told: a restart is no trouble."""

_TAKE_TIME = ("not_sent",)

Troubles = Callable[[], Iterable[Trouble]]
"""The troubles that there are at the moment."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TroubleAlert:
    """Recording is in trouble: why (a word, and a sentence), and what to do about it."""

    cause: str
    text: str
    remedy: str
    project: str

    def to_dict(self) -> dict[str, Any]:
        """Every field as data that JSON can hold."""
        return {"kind": "trouble", **asdict(self)}

    def __str__(self) -> str:
        return f"recording of project {self.project} is in trouble: {self.text}; to do: {self.remedy}"


class TroubleWatch:
    """Says which troubles are new. `check` is called on one thread at a time.

    `pause` is how many seconds lie between two looks, None where there is nobody to tell.
    """

    def __init__(self, troubles: Troubles | None, project: str) -> None:
        self._troubles = troubles
        self._project = project
        self._since: dict[str, float] = {}
        self._reported: set[str] = set()
        self.pause = None if troubles is None else PAUSE

    def check(self, now: float | None = None) -> list[TroubleAlert]:
        """The troubles of which nobody was told. One that is over is told again when it is back."""
        now = time.monotonic() if now is None else now
        current = {} if self._troubles is None else {one.cause: one for one in self._troubles()}
        self._since = {cause: self._since.get(cause, now) for cause in current}
        self._reported &= current.keys()
        alerts = []
        for cause, trouble in current.items():
            kind = cause.partition(" ")[0]
            waits = kind in _TAKE_TIME and now - self._since[cause] < PATIENCE
            if cause not in self._reported and not waits:
                self._reported.add(cause)
                alerts.append(
                    TroubleAlert(cause=kind, text=trouble.text, remedy=trouble.remedy, project=self._project)
                )
        return alerts
