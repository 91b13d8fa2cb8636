"""Tracebacks as the user knows the code: without the frames of the engine and of the recorder."""

from __future__ import annotations

import traceback
from pathlib import Path

from agenttrace import tracing

_ENGINE = str(Path(__file__).parent)
_RECORDER = str(Path(tracing.__file__).parent)


def users_traceback(error: BaseException) -> str:
    """The traceback without those frames; causes, contexts and the parts of groups included."""
    told = traceback.TracebackException.from_exception(error)
    shown: set[int] = set()
    pending = [told]
    while pending:
        part = pending.pop()
        if id(part) in shown:
            continue
        shown.add(id(part))
        part.stack = traceback.StackSummary.from_list(
            [(f.filename, f.lineno or 0, f.name, f.line) for f in part.stack if not _is_ours(f.filename)]
        )
        pending += [p for p in (part.__cause__, part.__context__, *(part.exceptions or ())) if p is not None]
    return "".join(told.format()).rstrip("\n")


def _is_ours(filename: str) -> bool:
    return filename.startswith(("<agenttrace", _ENGINE, _RECORDER))


def last_line(error: BaseException) -> str:
    """The error's type and text, also where its own ``__str__`` fails."""
    return traceback.format_exception_only(error)[-1].strip()
