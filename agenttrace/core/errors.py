"""The errors that agenttrace raises on purpose, and the suggestions in their messages.

::

    AgentTraceError
    ├── ConfigError          a setting, an option or a combination of them cannot work
    ├── DatasetError         an examples file or a dataset cannot be read or written (path:line, field)
    ├── ExpectationError     an expectation cannot be understood, or can never hold
    ├── StoreError           the store cannot be read
    ├── QueryError           a query for traces cannot be read (position), or takes too long
    ├── ExportError          spans could not be sent; never reaches user code
    ├── ScorerError          a scorer lacks what it needs, or is used wrongly
    ├── JudgeError           a judge gave no usable verdict
    ├── SimulationError      a simulated or replayed call has no answer
    └── MissingDependency    an optional extra is not installed (also an ImportError)

    EvaluationFailed         examples failed or errored (an AssertionError: pytest shows it as a failure)
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from pathlib import Path

from agenttrace.core.interruptions import pass_on_interruption


class AgentTraceError(Exception):
    """Root of every error that agenttrace raises on purpose, but for `EvaluationFailed`."""


class ConfigError(AgentTraceError, ValueError):
    """A setting, an option or a combination of them cannot work."""


class DatasetError(AgentTraceError, ValueError):
    """An examples file or a dataset cannot be read or written.

    `path`, `line` (1-based) and `field` say where, so far as they are known; the text begins with
    ``path:line:``.
    """

    def __init__(
        self,
        message: str,
        *,
        path: str | Path | None = None,
        line: int | None = None,
        field: str | None = None,
    ) -> None:
        self.path = str(path) if path is not None else None
        self.line = line
        self.field = field
        place = self.path or ""
        if line is not None:
            place += f":{line}" if place else f"line {line}"
        where = ": ".join(part for part in (place, field) if part)
        super().__init__(f"{where}: {message}" if where else message)


class ExpectationError(AgentTraceError, ValueError):
    """An expectation cannot be understood, or can never hold."""


class StoreError(AgentTraceError):
    """The store cannot be read."""


class AmbiguousId(StoreError):
    """Several ids begin with the digits that were given."""


class QueryError(AgentTraceError, ValueError):
    """A query for traces cannot be read, or takes too long.

    `position` is the place of the trouble in the query's text, from 0; None where it is no one place's.
    """

    def __init__(self, message: str, *, position: int | None = None) -> None:
        super().__init__(message)
        self.position = position


class ExportError(AgentTraceError):
    """Spans could not be sent. Counted and logged by the pipeline; never reaches user code."""


class ScorerError(AgentTraceError, ValueError):
    """A scorer lacks what it needs, or is used wrongly."""


class JudgeError(AgentTraceError):
    """A judge gave no usable verdict."""


class SimulationError(AgentTraceError):
    """A simulated or replayed call has no answer; the real tool was not called."""


class MissingDependency(AgentTraceError, ImportError):
    """An optional extra is not installed; the text names the extra."""


def error_text(error: BaseException) -> str:
    """The type and the text of an exception; the type alone where its own code cannot give the text."""
    try:
        return f"{type(error).__name__}: {error}"
    except BaseException as failure:  # choke-point: a `__str__` of the user's
        pass_on_interruption(failure)
        return type(error).__name__


def with_article(word: str) -> str:
    """The word with its article, for a message: ``"an int"``, ``"a list"``."""
    return f"{'an' if word[:1] in set('aeiouAEIO') else 'a'} {word}"


def did_you_mean(word: str, candidates: Iterable[str]) -> str:
    """``"; did you mean 'x'?"`` for the nearest candidate, else ``"; known: a, b"``; ``""`` without any."""
    names = sorted(set(candidates))
    close = difflib.get_close_matches(word, names, n=1, cutoff=0.6)
    if close:
        return f"; did you mean {close[0]!r}?"
    if not names:
        return ""
    listing = ", ".join(names[:20]) + (", …" if len(names) > 20 else "")
    return f"; known: {listing}"
