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
from typing import Any

MOST_FRAMES = 12
"""Lines that are shown, the innermost ones."""

_ROOMS = ("tracing", "scoring", "evaluation", "online", "process")
_OURS = tuple(str(Path(__file__).parents[1] / room) + os.sep for room in _ROOMS)
_PYTHONS = str(Path(os.__file__).parent) + os.sep
_AWAITED = (("cr_frame", "cr_await"), ("gi_frame", "gi_yieldfrom"), ("ag_frame", "ag_await"))


def is_ours(filename: str) -> bool:
    """Whether a line of this file is left out where users read a traceback."""
    return filename.startswith(("<agenttrace", *_OURS))


def place_of_thread(thread_id: int | None) -> str:
    """Where a thread is; empty where it has ended or never began."""
    frame = None if thread_id is None else sys._current_frames().get(thread_id)
    frames: list[FrameType] = []
    while frame is not None:
        frames.append(frame)
        frame = frame.f_back
    return _shown(frames[::-1])


def place_of_task(task: asyncio.Task[Any] | None) -> str:
    """Where a task waits. May be called on any thread."""
    return "" if task is None else _shown(list(_frames_awaited(task.get_coro())))


def _frames_awaited(awaited: Any) -> Iterator[FrameType]:
    while awaited is not None:
        kind = next((names for names in _AWAITED if getattr(awaited, names[0], None) is not None), None)
        if kind is None:
            return
        yield getattr(awaited, kind[0])
        awaited = getattr(awaited, kind[1])


def _shown(frames: list[FrameType]) -> str:
    entries = traceback.StackSummary.extract((frame, frame.f_lineno) for frame in frames)
    theirs = dropwhile(
        lambda entry: entry.filename.startswith(_PYTHONS), (e for e in entries if not is_ours(e.filename))
    )
    return "".join(traceback.format_list(list(theirs)[-MOST_FRAMES:])).rstrip("\n")
