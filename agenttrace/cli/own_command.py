"""What to type to run the command line from where the user is."""

from __future__ import annotations

import os
import shlex
import shutil
import sys
from pathlib import Path

NAME = "agenttrace"


def own_command() -> str:
    """``agenttrace`` where the shell finds the one of this interpreter, else the path to it, quoted.

    The path is relative below the working directory. Where the interpreter has no such script, it is
    ``python -m agenttrace`` with the interpreter's own path.
    """
    directory = os.path.dirname(sys.executable)
    beside = shutil.which(NAME, path=directory) if directory else None
    if beside is None:
        return f"{_typed(sys.executable)} -m {NAME}" if sys.executable else NAME
    found = shutil.which(NAME)
    if found is not None and os.path.samefile(found, beside):
        return NAME
    return _typed(beside)


def _typed(path: str) -> str:
    """A program's path as the shell takes it: relative where it lies below the working directory."""
    try:
        return shlex.quote(str(Path(path).relative_to(Path.cwd())))
    except (ValueError, OSError):
        return shlex.quote(path)
