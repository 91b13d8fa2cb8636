"""Which evaluator, of which process, owns a pending evaluation."""

from __future__ import annotations

import functools
import os
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

ELSEWHERE_SECONDS = 600.0
"""Seconds for which an owner on another machine, which cannot be checked from here, counts as alive."""


def owner_text(nonce: str) -> str:
    """The name of one evaluator of this process: machine, process id, start time and `nonce`."""
    pid = os.getpid()
    return f"{_machine()}|{pid}|{_started(pid)}|{nonce}"


def at_work(saved: Mapping[str, Any], here: set[str]) -> bool:
    """Returns True if the owner of a saved evaluation is alive; `here` are this process's open owners."""
    owner = saved.get("owner")
    if not isinstance(owner, str):
        return False
    machine, pid, started, _ = owner.rsplit("|", 3)
    if machine != _machine() or sys.platform == "win32":
        return owner in here or bool(time.time() - saved.get("owned_at", 0.0) < ELSEWHERE_SECONDS)
    if pid == str(os.getpid()):
        return owner in here
    return _alive(int(pid)) and started == _started(int(pid))


@functools.cache
def _machine() -> str:
    import platform  # slow to import, and needed only once an evaluation is stored or resumed

    return platform.node()


def _started(pid: int) -> str:
    """When a process started, in the kernel's ticks; empty if that cannot be read."""
    try:
        return Path(f"/proc/{pid}/stat").read_text("utf-8", "replace").rpartition(")")[2].split()[19]
    except (OSError, IndexError):
        return ""


def _alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except OSError:  # another user's
        return True
    return True
