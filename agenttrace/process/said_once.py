"""Warnings that are logged once per cause, whatever the user's log handlers do."""

from __future__ import annotations

import logging
import traceback as tracebacks
from collections.abc import Callable
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
    `without_secrets` takes secrets out of what is logged of an error: its text is of the user's code, of a
    server or of a database.
    """

    __slots__ = ("_causes", "_without_secrets")

    def __init__(self, without_secrets: Callable[[str], str] = str) -> None:
        self._causes: dict[str, object] = {}
        self._without_secrets = without_secrets

    def warn(
        self, cause: str, text: str, error: BaseException | None = None, *, traceback: Traceback = "without"
    ) -> None:
        """Log a text, followed by the error's type and text if there is one."""
        token = object()
        if len(self._causes) >= MOST_CAUSES or self._causes.setdefault(cause, token) is not token:
            return
        try:
            problem = "" if error is None else f": {self._without_secrets(error_text(error))}"
            shown = error if traceback == "with" else None
            text = log_line(text + problem)
            if shown is not None:
                lines = "".join(tracebacks.format_exception(shown))
                harmless = self._without_secrets(lines)
                if harmless != lines:  # the record of a log carries the exception itself
                    log.warning("%s (said once)\n%s", text, harmless.rstrip())
                    return
            log.warning("%s (said once)", text, exc_info=shown)
        except BaseException as failure:  # choke-point: a log handler of the user's
            if thrown_in(failure):
                raise
