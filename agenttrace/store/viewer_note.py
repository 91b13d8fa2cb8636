"""The note beside a store that says where it is served, and the links that follow from it.

Whoever follows the note sends a secret there, so only one that this user wrote is believed.
"""

from __future__ import annotations

import os
import re
import secrets
import shlex
import socket
import stat
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from agenttrace.core.deep_link import DeepLink, See
from agenttrace.core.errors import ConfigError
from agenttrace.core.json_reader import InvalidJSON, strict_json
from agenttrace.core.jsonable import to_json
from agenttrace.core.protocols import HasPath, Store, optional
from agenttrace.store.opening import open_store

_NOTE = "-view.json"
_HOME = re.compile(r"http://127\.0\.0\.1:([1-9][0-9]{0,4})/")
_MOST_BYTES = 4_000
_MOST_VIEWERS = 20
_NO_LINK = getattr(os, "O_NOFOLLOW", 0)
_NO_WAIT = getattr(os, "O_NONBLOCK", 0)
"""For a pipe, which would wait for somebody who writes into it."""
_SHORT, _LONG = 8, 12
"""Digits of an id in a command, and in an address."""


@dataclass(frozen=True)
class Running:
    """A viewer that serves a store: its address and its process."""

    url: str
    pid: int


def see_in(store: Store | None, command: str = "agenttrace") -> See | None:
    """How to look at the traces of a store: an address where a viewer serves it, else the command.

    None where no other process could read the store. `command` is how a shell calls this package.
    """
    has_path = None if store is None else optional(store, HasPath)
    path = None if has_path is None else has_path.path
    if path is None:
        return None
    running = running_viewer(path)
    if running is not None:
        home = running.url.rstrip("/")
        return lambda trace_id: DeepLink(*[f"{home}/t/{trace_id[:_LONG]}"] * 2)
    where = store_words(path)
    return lambda trace_id: DeepLink(f"{command} view {trace_id[:_SHORT]}{where}")


def store_words(path: str) -> str:
    """What a command needs to read the store at a path: `` --store PATH``, or nothing for the usual store."""
    return "" if _is_default(path) else f" --store {shlex.quote(_short_path(path))}"


def _is_default(path: str) -> bool:
    try:
        default = optional(open_store(), HasPath)
    except ConfigError:
        return False
    own = None if default is None else default.path
    return own is not None and os.path.abspath(own) == os.path.abspath(path)


def _short_path(path: str) -> str:
    """A path relative to the working directory where it is below that."""
    short = os.path.relpath(path)
    return path if short.startswith(os.pardir) else short


def note_path(store_path: str) -> str:
    """The file that says where a store is served."""
    return store_path + _NOTE


def write_note(store_path: str, running: Running) -> None:
    """Say where a store is served, after the viewers that serve it already.

    Where the directory cannot be written, nobody is told.
    """
    others = [one for one in _noted(store_path) if one.pid != running.pid and _runs(one)]
    _write(store_path, [*others[: _MOST_VIEWERS - 1], running])


def _write(store_path: str, viewers: Sequence[Running]) -> None:
    """The first one under its own fields, which is all that is read by most."""
    first, *others = [{"url": one.url, "pid": one.pid} for one in viewers]
    path = note_path(store_path)
    new = f"{path}.{secrets.token_hex(4)}"
    try:
        file = os.open(new, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        try:
            with os.fdopen(file, "w") as writer:
                writer.write(to_json({**first, **({"others": others} if others else {})}))
            os.replace(new, path)  # whatever stands there, a link or a pipe, is not opened
        except OSError:
            os.unlink(new)
    except OSError:
        pass


def remove_note(store_path: str, pid: int) -> None:
    """Take back what `write_note` said; other viewers of the store stay noted."""
    noted = _noted(store_path)
    others = [one for one in noted if one.pid != pid]
    if others and len(others) < len(noted):
        _write(store_path, others)
    elif noted and not others:
        try:
            os.unlink(note_path(store_path))
        except OSError:
            pass


def running_viewer(store_path: str) -> Running | None:
    """The viewer that serves a store, the oldest; or None: one whose process is gone does not count."""
    return next((one for one in _noted(store_path) if _runs(one)), None)


def _runs(running: Running) -> bool:
    if not _answers(running.url):
        return False
    try:
        os.kill(running.pid, 0)
    except (OSError, OverflowError):
        return False
    return True


def _noted(store_path: str) -> list[Running]:
    try:
        noted: Any = strict_json(_own_text(note_path(store_path)))
        entries = [noted, *noted.get("others", ())]
        viewers = [Running(str(entry["url"]), int(entry["pid"])) for entry in entries[:_MOST_VIEWERS]]
    except (OSError, InvalidJSON, ValueError, KeyError, TypeError, AttributeError):
        return []
    return [one for one in viewers if _HOME.fullmatch(one.url) and one.pid > 0]


def _own_text(path: str) -> str:
    """The text of a plain file that this user owns and no one else may write.

    Raises:
        OSError: it is no such file, or cannot be read.
    """
    file = os.open(path, os.O_RDONLY | _NO_LINK | _NO_WAIT)
    try:
        status = os.fstat(file)
        if not stat.S_ISREG(status.st_mode) or not _is_own(status):
            raise PermissionError(f"{path} is not this user's")
        return os.read(file, _MOST_BYTES).decode()
    finally:
        os.close(file)


def _is_own(status: os.stat_result) -> bool:
    user = getattr(os, "geteuid", None)
    if user is None:  # Windows: the directory's own rights alone
        return True
    return bool(status.st_uid == user()) and not status.st_mode & (stat.S_IWGRP | stat.S_IWOTH)


def _answers(url: str) -> bool:
    home = _HOME.fullmatch(url)
    if home is None or int(home[1]) > 65_535:
        return False
    try:
        with socket.create_connection(("127.0.0.1", int(home[1])), timeout=1.0):
            return True
    except OSError:
        return False
