"""The text that runs this command line in the user's shell: ``agenttrace``, or a path to it."""

from __future__ import annotations

import os
import shlex
import shutil
import sys
from pathlib import Path

NAME = "agenttrace"


def own_command() -> str:
    """Return ``agenttrace`` where the shell finds this interpreter's own script, else its quoted path.

    The path is relative below the working directory. Where the interpreter has no such script, the text is
    ``python -m agenttrace`` with the interpreter's own path.
    """
    directory = os.path.dirname(sys.executable)
    beside = shutil.which(NAME, path=directory) if directory else None
    if beside is None:
        return f"{_shell_path(sys.executable)} -m {NAME}" if sys.executable else NAME
    on_path = shutil.which(NAME)
    if on_path is not None and os.path.samefile(on_path, beside):
        return NAME
    return _shell_path(beside)


def _shell_path(path: str) -> str:
    """Return a program's path quoted for the shell, relative where it is below the working directory."""
    try:
        return shlex.quote(str(Path(path).relative_to(Path.cwd())))
    except (ValueError, OSError):
        return shlex.quote(path)
