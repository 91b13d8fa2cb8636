"""`redaction_of`: the redaction that a tracer's option ``redact`` asks for; that of texts of no tracer."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from agenttrace.core.errors import ConfigError
from agenttrace.redaction.options import LEVELS
from agenttrace.redaction.redaction import RedactCall, Redaction

Redact = Redaction | str | Iterable[str] | RedactCall | None
"""A level, names that are added to those of the tables, a function, or all of it as a `Redaction`."""


def redaction_of(redact: Redact) -> Redaction:
    """Make the redaction for a tracer's option `redact`.

    Raises:
        ConfigError: neither a level nor names nor a function nor a `Redaction`.
    """
    if redact is None:
        return Redaction()
    if isinstance(redact, Redaction):
        return redact
    if isinstance(redact, str):
        if redact in LEVELS:
            return Redaction(level=redact)  # type: ignore[arg-type] # it is one of these
        raise ConfigError(_wanted(redact, f"; write [{redact!r}] for a name"))
    if callable(redact):
        return Redaction(call=redact)
    asked: object = redact
    names = list(asked) if isinstance(asked, Iterable) and not isinstance(asked, bytes | Mapping) else None
    if names is None or not all(isinstance(name, str) and name for name in names):
        raise ConfigError(_wanted(redact))
    return Redaction(names)


def without_secrets(text: str) -> str:
    """A text that belongs to no trace, such as an error in a log, as the defaults redact it."""
    return Redaction().text("error", text)


def _wanted(redact: object, hint: str = "") -> str:
    levels = ", ".join(repr(level) for level in LEVELS)
    wanted = f"redact is a list of names or a function, or a level ({levels}), or a Redaction"
    return f"{wanted}, got {redact!r}{hint}"
