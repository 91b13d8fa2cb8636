"""Where a call stands that did not end in time: the user's lines, as in a traceback."""

from __future__ import annotations

import asyncio
import os
import sys
import traceback
from collections.abc import Iterator
from itertools import dropwhile
from pathlib import Path
from types import FrameType
from typing import Any, NamedTuple

MOST_FRAMES = 12
"""Lines of the user's own code that are shown, the innermost ones."""
INNERMOST = 3
"""Lines that are shown in any case, also those of libraries, which are left out elsewhere."""

_ROOMS = ("tracing", "scoring", "evaluation", "online", "process")
_OURS = tuple(str(Path(__file__).parents[1] / room) + os.sep for room in _ROOMS)
_PYTHONS = str(Path(os.__file__).parent) + os.sep
_LIBRARIES = (f"{os.sep}site-packages{os.sep}", f"{os.sep}dist-packages{os.sep}")
_AWAITED = (("cr_frame", "cr_await"), ("gi_frame", "gi_yieldfrom"), ("ag_frame", "ag_await"))


def is_ours(filename: str) -> bool:
    """Whether a line of this file is left out where users read a traceback."""
    return filename.startswith(("<agenttrace", *_OURS))


class Place(NamedTuple):
    """Where a call stands: lines as in a traceback, and in short the innermost one of the user's code.

    Both are empty where that is not known.
    """

    lines: str = ""
    innermost: str = ""


NOWHERE = Place()


def place_of_thread(thread_id: int | None) -> Place:
    """Where a thread is; nowhere if it has ended or never began."""
    frame = None if thread_id is None else sys._current_frames().get(thread_id)
    frames: list[FrameType] = []
    while frame is not None:
        frames.append(frame)
        frame = frame.f_back
    return _shown(frames[::-1])


def place_of_task(task: asyncio.Task[Any] | None) -> Place:
    """Where a task waits. May be called on any thread."""
    return NOWHERE if task is None else _shown(list(_frames_awaited(task.get_coro())))


def _frames_awaited(awaited: Any) -> Iterator[FrameType]:
    while awaited is not None:
        kind = next((names for names in _AWAITED if getattr(awaited, names[0], None) is not None), None)
        if kind is None:
            return
        yield getattr(awaited, kind[0])
        awaited = getattr(awaited, kind[1])


def _shown(frames: list[FrameType]) -> Place:
    entries = traceback.StackSummary.extract((frame, frame.f_lineno) for frame in frames)
    shown = dropwhile(
        lambda entry: entry.filename.startswith(_PYTHONS), (e for e in entries if not is_ours(e.filename))
    )
    lines = list(shown)
    users = [number for number, entry in enumerate(lines) if not _is_library(entry.filename)]
    numbers = sorted({*users[-MOST_FRAMES:], *range(len(lines))[-INNERMOST if users else -MOST_FRAMES :]})
    parts, last = [], numbers[0] - 1 if numbers else 0
    for number in numbers:
        if number > last + 1:
            parts.append(f"  … {number - last - 1} lines of libraries\n")
        parts += traceback.format_list([lines[number]])
        last = number
    own = lines[users[-1]] if users else None
    innermost = "" if own is None else f"{os.path.basename(own.filename)}:{own.lineno} in {own.name}"
    return Place("".join(parts).rstrip("\n"), innermost)


def _is_library(filename: str) -> bool:
    return filename.startswith((_PYTHONS, "<")) or any(part in filename for part in _LIBRARIES)
