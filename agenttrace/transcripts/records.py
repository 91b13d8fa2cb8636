"""The records of a transcript: one JSON object a line; lines that cannot be read are counted."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from os import PathLike, fspath
from pathlib import Path
from typing import Any

from agenttrace.core.errors import DatasetError
from agenttrace.core.json_reader import InvalidJSON, lenient_json
from agenttrace.core.text import short_repr

MAX_BYTES = 1 << 30
"""The largest transcript that is read."""

Source = str | PathLike[str] | Mapping[str, Any] | Iterable[str | bytes | Mapping[str, Any]]
"""A file's path, or what it holds: its lines, or their JSON."""


@dataclass(slots=True)
class Records:
    """The records of a transcript in order.

    `unreadable` counts lines that are no JSON object: where a session was interrupted, the last one is cut.
    `path` is the file's, or None.
    """

    records: list[Mapping[str, Any]] = field(default_factory=list)
    unreadable: int = 0
    path: Path | None = None


def read_records(source: Source) -> Records:
    """Read a transcript: a JSON object a line, or one JSON document in all.

    Raises:
        DatasetError: the file cannot be read or is larger than a gibibyte, or nothing in it is a JSON object.
    """
    path = Path(fspath(source)) if isinstance(source, str | PathLike) else None
    records = Records(path=path)
    if isinstance(source, Mapping):
        records.records.append({str(key): value for key, value in source.items()})
        return records
    texts: list[str | bytes] = []
    for line in _lines(source if path is None else path):
        if isinstance(line, Mapping):
            records.records.append(line)
        elif line.strip():
            texts.append(line)
    for line in texts:
        value = _object(line)
        if value is None:
            records.unreadable += 1
        else:
            records.records.append(value)
    if texts and _object(texts[0]) is None:  # one document on several lines, or one that was cut
        records = _document(texts, records)
    if not records.records:
        raise DatasetError("the transcript is empty", path=path)
    return records


def _lines(source: Any) -> Iterator[Any]:
    if not isinstance(source, Path):
        if isinstance(source, bytes) or not isinstance(source, Iterable):
            raise DatasetError(f"got {short_repr(source)}, wanted a transcript's path, or its lines")
        for line in source:
            if not isinstance(line, str | bytes | Mapping):
                raise DatasetError(f"got {short_repr(line)}, wanted a line of a transcript")
            yield line
        return
    try:
        size = source.stat().st_size
        if size > MAX_BYTES:
            raise DatasetError(
                f"the file has {size / 1e6:.0f} MB, at most {MAX_BYTES / 1e6:.0f} MB are read", path=source
            )
        with source.open("rb") as file:
            yield from file
    except OSError as error:
        raise DatasetError(f"cannot be read: {error.strerror or error}", path=source) from None


def _object(line: str | bytes) -> Mapping[str, Any] | None:
    try:
        value = lenient_json(line)
    except InvalidJSON:
        return None
    return value if isinstance(value, dict) else None


def _document(lines: Iterable[str | bytes], by_line: Records) -> Records:
    """The records of lines that are one JSON document together; else those that were read line by line."""
    text = b"\n".join(line.encode() if isinstance(line, str) else line for line in lines)
    try:
        value = lenient_json(text)
    except InvalidJSON as error:
        if by_line.records:
            return by_line
        raise DatasetError(
            f"this is no transcript, or one that was cut: {error}", path=by_line.path
        ) from None
    entries = value if isinstance(value, list) else [value]
    return Records([entry for entry in entries if isinstance(entry, dict)], 0, by_line.path)


class Clock:
    """Times of records in nanoseconds since the epoch.

    A record without one has that of the record before it, the first that of the first which has one. Where
    none has one it is `start`; without that, each comes a nanosecond after the other.
    """

    def __init__(self, records: Sequence[Mapping[str, Any]] = (), start: int = 0) -> None:
        moments = (moment_ns(record.get("timestamp")) for record in records)
        first = next((moment for moment in moments if moment is not None), None)
        self.last = start if first is None else first
        self._step = 0 if self.last else 1

    def at(self, record: Mapping[str, Any]) -> int:
        """The time of a record."""
        moment = moment_ns(record.get("timestamp"))
        self.last = self.last + self._step if moment is None else moment
        return self.last


def moment_ns(text: Any) -> int | None:
    """An ISO time as nanoseconds since the epoch, in UTC where it has no offset; None for anything else."""
    if not isinstance(text, str):
        return None
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        return None
    moment = moment if moment.tzinfo is not None else moment.replace(tzinfo=UTC)
    since = moment - datetime(1970, 1, 1, tzinfo=UTC)
    return (since.days * 86_400 + since.seconds) * 1_000_000_000 + since.microseconds * 1_000


def text_field(record: Any, name: str) -> str | None:
    """A text in a record, or None where it is absent, empty or of another type."""
    value = record.get(name) if isinstance(record, Mapping) else None
    return value if isinstance(value, str) and value else None


def mapping_field(record: Any, name: str) -> Mapping[str, Any]:
    """A mapping in a record, empty where it is absent or of another type."""
    value = record.get(name) if isinstance(record, Mapping) else None
    return value if isinstance(value, Mapping) else {}


def list_field(record: Any, name: str) -> list[Any]:
    """A list in a record, empty where it is absent or of another type."""
    value = record.get(name) if isinstance(record, Mapping) else None
    return value if isinstance(value, list) else []
