"""The note that a process leaves while it keeps spans in memory, since their file cannot say so.

It lies with the user's files of running programs, not beside the store, where it may not be written either.
Whoever reads notes believes those alone that this user wrote.
"""

from __future__ import annotations

import hashlib
import os
import stat
import sys
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path

from agenttrace.core.json_reader import InvalidJSON, strict_json
from agenttrace.core.jsonable import clean_text, to_json

_KEPT_SECONDS = 7 * 24 * 3600.0
_MOST_BYTES = 4_000
_LONGEST_CAUSE = 500


@dataclass(frozen=True, kw_only=True)
class MemoryNote:
    """Which process keeps spans of a store in memory, since when (nanoseconds since 1970), how many, and why.

    `dropped` are those for which memory had no room.
    """

    path: str
    pid: int
    program: str
    since_ns: int
    waiting: int
    dropped: int
    cause: str

    @property
    def runs(self) -> bool:
        """Whether the process is still there, on this machine."""
        try:
            os.kill(self.pid, 0)
        except ProcessLookupError:
            return False
        except OSError:  # somebody else's by now, or not for us to ask
            return True
        return True


def write_note(path: str, *, since_ns: int, waiting: int, dropped: int, cause: str) -> None:
    """Say that this process keeps spans of the store at a path in memory. Raises nothing where it cannot."""
    note = MemoryNote(
        path=clean_text(path),
        pid=os.getpid(),
        program=clean_text(os.path.basename(sys.argv[0] if sys.argv else ""))[:200],
        since_ns=since_ns,
        waiting=waiting,
        dropped=dropped,
        cause=clean_text(cause)[:_LONGEST_CAUSE],
    )
    for folder in _folders():
        try:
            folder.mkdir(mode=0o700, exist_ok=True)
            if not _is_ours(folder):
                continue
            place = folder / _name(path, note.pid)
            half = place.with_suffix(".new")
            half.unlink(missing_ok=True)
            with open(
                os.open(half, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w", encoding="utf-8"
            ) as file:
                file.write(to_json(asdict(note)))
            os.replace(half, place)
        except OSError:  # no room, no right, no file handle: then the log alone has said it
            continue
        return


def remove_note(path: str) -> None:
    """Take the note of this process back."""
    for folder in _folders():
        try:
            (folder / _name(path, os.getpid())).unlink(missing_ok=True)
        except OSError:
            continue


def memory_notes(path: str) -> list[MemoryNote]:
    """The notes of all processes about the store at a path, the oldest first. Old ones are removed."""
    return sorted(_notes(path), key=lambda note: note.since_ns)


def _notes(path: str) -> Iterator[MemoryNote]:
    for folder in dict.fromkeys(_folders()):
        try:
            places = list(folder.glob(f"{_name(path, '*')}")) if _is_ours(folder) else []
        except OSError:
            continue
        for place in places:
            note = _read(place)
            if note is None or note.path != clean_text(path):
                continue
            if time.time_ns() - note.since_ns > _KEPT_SECONDS * 1e9 and not note.runs:
                place.unlink(missing_ok=True)
                continue
            yield note


def _read(place: Path) -> MemoryNote | None:
    try:
        with place.open("rb") as file:
            data = strict_json(file.read(_MOST_BYTES).decode("utf-8", "replace"))
        note = MemoryNote(**data)
    except (OSError, InvalidJSON, TypeError):
        return None
    numbers = (note.pid, note.since_ns, note.waiting, note.dropped)
    texts = (note.path, note.program, note.cause)
    sound = all(type(number) is int for number in numbers) and all(type(text) is str for text in texts)
    return note if sound and note.pid > 0 else None


def _folders() -> list[Path]:
    """Where a note may lie: the first that can be written has it, and who reads looks into all."""
    user = os.getuid() if hasattr(os, "getuid") else "notes"
    # Not by `tempfile`: this runs in trouble, maybe right before a fork, where nothing should be imported.
    shared = os.environ.get("TMPDIR") or os.environ.get("TEMP") or "/tmp"  # noqa: S108 - see `_is_ours`
    places = [os.environ.get("XDG_RUNTIME_DIR"), shared]
    return [Path(place, f"agenttrace-{user}") for place in places if place]


def _is_ours(folder: Path) -> bool:
    """Whether a folder is this user's, and nobody else may write there."""
    status = folder.stat(follow_symlinks=False)
    if not stat.S_ISDIR(status.st_mode):
        return False
    return not hasattr(os, "getuid") or (status.st_uid == os.getuid() and not status.st_mode & 0o077)


def _name(path: str, pid: int | str) -> str:
    return f"{hashlib.sha256(os.fsencode(path)).hexdigest()[:16]}-{pid}.json"
