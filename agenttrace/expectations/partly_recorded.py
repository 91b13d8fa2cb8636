"""Agreement with values that were not recorded whole: what is known of them decides, or nothing does."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from agenttrace.core.marks import Cause, KnownPart, cause_of, known_part
from agenttrace.expectations.matcher import Context, Matcher, Unordered
from agenttrace.expectations.reading import cannot_tell


def agree_in_part(expected: Any, actual: Any, cause: Cause, context: Context, path: str) -> float | None:
    """Agreement with a value that is not known whole; None where its parts are compared one by one."""
    known = known_part(actual)
    if isinstance(expected, Matcher):
        if expected.looks_inside:
            return None
        known_agreement = expected.agree_with_part(known, actual, context)
        return cannot_tell(cause, path) if known_agreement is None else known_agreement
    if known is not None and isinstance(known.part, dict | list):
        alike = dict if isinstance(known.part, dict) else list | Unordered
        return None if isinstance(expected, alike) else 0.0
    return 0.0 if _differs_from_part(expected, known, cause) else cannot_tell(cause, path)


def _differs_from_part(expected: Any, known: KnownPart | None, cause: Cause) -> bool:
    """Whether what is known of a text or of bytes shows that they are others than expected."""
    if known is None or cause == "not opened":
        return False
    if isinstance(known.part, tuple):  # the pieces around what was redacted
        head, tail = known.part[0], known.part[-1]
        if not head and not tail and len(known.part) == 2:
            return False  # nothing is known, not even that it was a text
        return type(expected) is not str or not (expected.startswith(head) and expected.endswith(tail))
    if type(known.part) is str:
        return not _begins_with(expected, known)
    return type(known.part) is bytes and not _begins_with(expected, known)


def _begins_with(expected: Any, known: KnownPart) -> bool:
    """Whether a text, or bytes, is as long as the whole was, and begins with what is known of it."""
    return (
        type(expected) is type(known.part)
        and len(expected) == known.total
        and expected.startswith(known.part)
    )


@dataclass(frozen=True, slots=True, repr=False)
class _NotWhole(Matcher):
    """An earlier value of the run that was not recorded whole: what equals it cannot be told."""

    looks_inside = True
    cause: Cause

    def agree(self, actual: Any, context: Context) -> float:
        return cannot_tell(self.cause)

    def __repr__(self) -> str:
        return f"<{self.cause}>"


def with_doubts(recorded: Any) -> Any:
    """A recorded value as an expected one: what was not recorded whole in it agrees with nothing for sure."""
    if isinstance(recorded, Mapping) and not cause_of(recorded):
        return {key: with_doubts(item) for key, item in recorded.items()}
    if isinstance(recorded, list | tuple) and not cause_of(recorded):
        return [with_doubts(item) for item in recorded]
    cause = cause_of(recorded)
    return recorded if cause is None else _NotWhole(cause)
