"""Agreement with values that were not recorded whole: what is known of them decides, or nothing does.

A digest of the whole (`core.digests`) decides whether two values are the same, where there is one. Where they
are not, it does not tell how far lists and mappings agree.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from agenttrace.core.digests import digest_of, secret_digest
from agenttrace.core.errors import ExpectationError, with_article
from agenttrace.core.handlers import trouble_of
from agenttrace.core.jsonable import jsonable
from agenttrace.core.marks import (
    TYPE,
    Cause,
    KnownPart,
    Redacted,
    cause_of,
    cause_within,
    hidden_keys,
    known_part,
    remedy_in,
)
from agenttrace.core.tagged import opened
from agenttrace.core.tool_call import ANY
from agenttrace.expectations.matcher import Context, Matcher, Unordered
from agenttrace.expectations.reading import cannot_tell

AS_RECORDED = frozenset({str, int, float, bool, type(None), dict, list, Redacted})
"""The types of recorded values."""


def agree_in_part(expected: Any, actual: Any, cause: Cause, context: Context, path: str) -> float | None:
    """Agreement where either value is not known whole; None where their parts are compared one by one."""
    if cause_of(actual) is None or (type(expected) is str and cause_of(expected) is not None):
        # The expectation was taken from a record.
        return cannot_tell(cause, path)
    known = known_part(actual)
    if isinstance(expected, Matcher):
        if expected.looks_inside:
            return None
        known_agreement = expected.agree_with_part(known, actual, context)
        return cannot_tell(cause, path, _note_on(actual)) if known_agreement is None else known_agreement
    same = _same_by_digest(expected, actual, known, context)
    if same is not None:
        return float(same)
    if known is not None and isinstance(known.part, dict | list):
        alike = dict if isinstance(known.part, dict) else list | Unordered
        return None if isinstance(expected, alike) else 0.0
    return 0.0 if _differs_from_part(expected, known, cause) else cannot_tell(cause, path, _note_on(actual))


def _note_on(actual: Any) -> str:
    """Of an object that was not opened, its type, with what was wrong with its handler; of a value that
    another library did not record, what would have had it recorded."""
    if remedy := remedy_in(actual):
        return remedy
    name = actual.get(TYPE) if type(actual) is dict else None
    if type(name) is not str or cause_of(actual) != "not opened":
        return ""
    trouble = trouble_of(name)
    return f"{name}: {trouble}" if trouble else name


def _same_by_digest(expected: Any, actual: Any, known: KnownPart | None, context: Context) -> bool | None:
    """Whether a prepared value is the whole of which a digest is known; None where it does not tell."""
    if type(actual) is Redacted:
        if actual.digest is None or not _is_plain(expected, context):
            return None
        digest = secret_digest(expected)
        if digest is None or digest == actual.digest:
            return None if digest is None else True
        return None if isinstance(expected, dict | list) else False
    if known is None or known.digest is None or type(expected) is not type(known.part):
        return None
    return _begins_with(expected, known) and digest_of(expected) == known.digest


def _is_plain(expected: Any, context: Context) -> bool:
    """Whether an expected value agrees with its equals alone: no matcher, set or listed mapping is in it."""
    if isinstance(expected, dict):
        return context.mode == "exact" and all(_is_plain(item, context) for item in expected.values())
    if isinstance(expected, list):
        return all(_is_plain(item, context) for item in expected)
    return expected is not ANY and not isinstance(expected, Matcher | Unordered)


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
class _AsRecorded(Matcher):
    """A value of the run that was not recorded whole: its digest tells what equals it, or nothing does."""

    looks_inside = True
    takes_recorded = True
    recorded: Any

    def agree(self, actual: Any, context: Context) -> float:
        whole = type(actual) is dict and cause_of(actual) is None
        same = _are_the_same(self.recorded, opened(actual) if whole else actual)
        return cannot_tell(cause_within(self.recorded) or "not recorded") if same is None else float(same)

    def __repr__(self) -> str:
        return f"<{cause_of(self.recorded)}>"


def _are_the_same(first: Any, second: Any) -> bool | None:
    """Whether two recorded values, of which the first is not known whole, are the same; None if untold."""
    if type(first) is Redacted:
        digest = second.digest if type(second) is Redacted else secret_digest(second)
        return None if first.digest is None or digest is None else first.digest == digest
    known, other = known_part(first), known_part(second)
    if known is None or not isinstance(known.part, str | bytes):
        return None
    if cause_of(second) is None:
        if not _begins_with(second, known):
            return False
        return None if known.digest is None else digest_of(second) == known.digest
    if other is None or not isinstance(other.part, str | bytes) or cause_of(second) != "cut":
        return None
    shorter = min(len(known.part), len(other.part))
    if type(known.part) is not type(other.part) or known.total != other.total:
        return False
    if known.part[:shorter] != other.part[:shorter]:
        return False
    return None if known.digest is None or other.digest is None else known.digest == other.digest


def with_doubts(recorded: Any) -> Any:
    """A recorded value as a prepared one: what was not recorded whole in it agrees with nothing for sure."""
    if type(recorded) not in AS_RECORDED:
        recorded = jsonable(recorded)
    if cause_of(recorded) is not None:
        return _AsRecorded(recorded)
    if type(recorded) is list:
        return [with_doubts(item) for item in recorded]
    if type(recorded) is not dict:
        return recorded
    if hidden_keys(recorded):
        return _AsRecorded(recorded)
    value = opened(recorded)
    return value if type(value) is not dict else {key: with_doubts(item) for key, item in value.items()}


def taken_from_a_record(expected: Any) -> Any:
    """An expected value that may have been taken from a record: what was cut in it agrees with nothing for
    sure. Texts, and objects that were not opened, are left to the comparison."""
    if type(expected) is dict:
        if cause_of(expected) in ("cut", "redacted", "not recorded") or hidden_keys(expected):
            return _AsRecorded(expected)
        return {key: taken_from_a_record(item) for key, item in expected.items()}
    if type(expected) is not list:
        return expected
    return _AsRecorded(expected) if cause_of(expected) else list(map(taken_from_a_record, expected))


@dataclass(frozen=True, slots=True, repr=False)
class _Unopened(Matcher):
    """An expected object of a type that recording does not open: it equals no value that was opened."""

    looks_inside = True
    takes_recorded = True
    mark: Any

    def agree(self, actual: Any, context: Context) -> float:
        return 0.0 if cause_of(actual) is None else cannot_tell("not opened", note=_note_on(self.mark))

    def why(self, actual: Any, context: Context) -> str:
        return "not opened"

    def to_data(self) -> dict[str, Any]:
        raise ExpectationError(
            f"{with_article(_note_on(self.mark))} cannot be written as data; expect its fields as JSON "
            "values, or a matcher"
        )

    def __repr__(self) -> str:
        return f"<{_note_on(self.mark)}>"


def with_unopened(data: Any) -> Any:
    """An expected value's data, with a matcher in the place of each object that was not opened."""
    if type(data) is list:
        return [with_unopened(item) for item in data]
    if type(data) is not dict:
        return data
    if cause_of(data) == "not opened":
        return _Unopened(data)
    return {key: with_unopened(item) for key, item in data.items()}
