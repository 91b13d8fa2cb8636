"""What arrives by OpenTelemetry, in one form, however it was written: spans, log records, what is wrong."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, NamedTuple

from agenttrace.core.digests import digest_of
from agenttrace.core.epoch import epoch_ns
from agenttrace.core.errors import DatasetError

MOST_BYTES = 512 * 1024 * 1024
"""Of one payload, unpacked."""
MOST_RECORDS = 1_000_000
"""Spans and log records of one payload."""
DEEPEST = 32
"""Levels of lists and mappings in one attribute."""
MOST_PROBLEMS = 100

LATEST = (1 << 63) - 1
_HEX = frozenset("0123456789abcdef")


class TelemetryError(DatasetError):
    """A payload of OpenTelemetry cannot be read. The message says what was got, and where."""


class Event(NamedTuple):
    """A named event: one of a span's own, or a log record."""

    name: str
    time_ns: int
    attributes: Mapping[str, Any]
    body: Any = None


@dataclass(slots=True)
class ArrivedSpan:
    """A span as it came. `status` is OpenTelemetry's code: 0 unset, 1 ok, 2 error. `end_ns` is 0 where it
    had not ended."""

    trace_key: int
    span_key: int
    parent_key: int | None
    name: str
    start_ns: int
    end_ns: int
    attributes: dict[str, Any]
    events: list[Event] = field(default_factory=list)
    status: int = 0
    status_message: str = ""
    scope: str = ""
    resource: Mapping[str, Any] = field(default_factory=dict)


@dataclass(slots=True)
class ArrivedLog:
    """A log record as it came; without a trace it says nothing of one."""

    trace_key: int | None
    span_key: int | None
    event: Event
    scope: str = ""
    resource: Mapping[str, Any] = field(default_factory=dict)


@dataclass(slots=True)
class Arrival:
    """What one payload holds. `problems` are records that could not be read, each with its reason;
    `left_out` counts what was read and has no place in a trace, by what it is."""

    spans: list[ArrivedSpan] = field(default_factory=list)
    logs: list[ArrivedLog] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)
    unread: int = 0
    left_out: Counter[str] = field(default_factory=Counter)

    def note(self, problem: str) -> None:
        """Count a record that could not be read, and keep the reasons of the first."""
        self.unread += 1
        if len(self.problems) < MOST_PROBLEMS:
            self.problems.append(problem)

    @property
    def is_full(self) -> bool:
        """Whether there is room for no more records."""
        return len(self.spans) + len(self.logs) + self.unread >= MOST_RECORDS

    def check_room(self) -> None:
        """Refuse a payload of too many records.

        Raises:
            TelemetryError: it has more than `MOST_RECORDS`.
        """
        if self.is_full:
            raise TelemetryError(f"got more than {MOST_RECORDS:,} records, send them in several payloads")


def key_of(text: Any, digits: int) -> int:
    """An id as OpenTelemetry has them; of one that is not written so, a number made of it."""
    plain = str(text).replace("-", "").lower()
    if len(plain) != digits or not _HEX.issuperset(plain):
        plain = digest_of(str(text))[:digits]
    return int(plain, 16) or 1


def moment_ns(moment: Any) -> int:
    """Nanoseconds of an ISO text, in UTC where it names no offset, or of a number since 1970; 0 where it is
    neither."""
    number = epoch_ns(moment)
    if number is not None:
        return min(number, LATEST)
    try:
        moment = datetime.fromisoformat(str(moment).replace("Z", "+00:00"))
        moment = moment if moment.tzinfo is not None else moment.replace(tzinfo=UTC)
        return min(max(int(moment.timestamp() * 1_000_000) * 1_000, 0), LATEST)
    except (ValueError, OverflowError, OSError):
        return 0
