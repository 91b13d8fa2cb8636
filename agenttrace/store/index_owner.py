"""Whose file stands where the side index goes: only one of ours is written, read or removed."""

from __future__ import annotations

import os
import stat
from typing import Literal

from agenttrace.store import files

APPLICATION_ID = 0x61677469
"""What marks a file as an index of ours (the letters agti)."""

_MARK_AT = 68
"""Where SQLite writes that mark: https://www.sqlite.org/fileformat.html#application_id"""


class NotOurs(Exception):
    """A file of somebody else's stands where the index goes."""


def refuse_others(path: str, owned_as: str | None) -> None:
    """Stop where we would write into a file that a link names, or one whose owner is another user's.

    The index holds what the store holds, so who owns the store's file may own it, too.

    Raises:
        NotOurs: such a file stands there.
        OSError: a file cannot be looked at, or the store is gone.
    """
    user = getattr(os, "geteuid", lambda: 0)()  # Windows says 0 of every file
    owners = {user} if owned_as is None else {os.stat(owned_as).st_uid, user}
    for suffix in files.SUFFIXES:
        try:
            status = os.stat(path + suffix, follow_symlinks=False)
        except FileNotFoundError:
            continue
        if not stat.S_ISREG(status.st_mode) or status.st_uid not in owners:
            raise NotOurs


def content_of(path: str) -> Literal["nothing", "ours", "another's", "text"]:
    """What a file holds by its first bytes, which tell it in a damaged one, too.

    *another's*: a database that has not our mark, or no file at all but a link or a pipe.

    Raises:
        OSError: it cannot be read.
    """
    if not os.path.lexists(path):
        return "nothing"
    if not files.is_plain(path):
        return "another's"
    with open(path, "rb") as file:
        head = file.read(_MARK_AT + 4)
    if not head:
        return "nothing"
    if not head.startswith(files.HEADER):
        return "text"
    return "ours" if head[_MARK_AT:] == APPLICATION_ID.to_bytes(4, "big") else "another's"
