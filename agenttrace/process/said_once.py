"""Warnings that are logged once per cause, whatever the user's log handlers do."""

from __future__ import annotations

import logging
from typing import Literal

from agenttrace.core.errors import error_text
from agenttrace.core.interruptions import thrown_in
from agenttrace.core.text import log_line

MOST_CAUSES = 1_000
"""Causes that are remembered. Of further ones nothing is logged, so that no log is flooded."""

Traceback = Literal["with", "without"]

log = logging.getLogger("agenttrace")


class SaidOnce:
    """Logs a warning the first time that its cause occurs, on any thread, without a lock.

    Nothing that a log handler of the user's raises leaves it, except what was thrown in from outside.
    """

    __slots__ = ("_causes",)

    def __init__(self) -> None:
        self._causes: dict[str, object] = {}

    def warn(
        self, cause: str, text: str, error: BaseException | None = None, *, traceback: Traceback = "without"
    ) -> None:
        """Log a text, followed by the error's type and text if there is one."""
        token = object()
        if len(self._causes) >= MOST_CAUSES or self._causes.setdefault(cause, token) is not token:
            return
        try:
            problem = "" if error is None else f": {error_text(error)}"
            shown = error if traceback == "with" else None
            log.warning("%s (said once)", log_line(text + problem), exc_info=shown)
        except BaseException as failure:  # choke-point: a log handler of the user's
            if thrown_in(failure):
                raise
