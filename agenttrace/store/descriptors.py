"""The descriptors that SQLite holds on a store's files: whether they are still those files'.

A program that closes descriptors it did not open, as with ``os.closerange``, closes SQLite's, too. What it
opens next gets their numbers, and SQLite would write its pages there (How To Corrupt An SQLite Database File,
2.1). Nor can this process open the file again: SQLite keeps one list of locks for each file, with the old
numbers in it, for as long as any connection of the process stands.
"""

from __future__ import annotations

import os
from collections.abc import Collection
from typing import Any

from agenttrace.store import files

_LISTS = ("/proc/self/fd", "/dev/fd")
_lost: set[files.Identity] = set()
"""Databases whose descriptors were closed in this process, or in one that it was forked from."""

CLOSED = (
    "the program closed the descriptors of the store's file, as with os.closerange, and SQLite cannot use "
    "the file any more in this process; close only what the program opened, or close before the first trace"
)

Descriptors = dict[int, files.Identity]


def all_descriptors() -> frozenset[int]:
    """The numbers of all descriptors of this process; none where the system does not list them."""
    for directory in _LISTS:
        try:
            numbers = [int(name) for name in os.listdir(directory) if name.isdecimal()]
        except OSError:
            continue
        # One of them was the list's own: what is opened next gets its number.
        return frozenset(number for number in numbers if _identity_of(number) is not None)
    return frozenset()


def opened_since(before: Collection[int], path: str) -> Descriptors:
    """The descriptors of a database's files that were opened since `before` was listed.

    Those that were open before, where none is new: SQLite uses one again that it could not close.
    """
    wanted = {files.identity(path + suffix) for suffix in files.SUFFIXES} - {None}
    of_files: Descriptors = {}
    for number in all_descriptors():
        now = _identity_of(number)
        if now is not None and now in wanted:
            of_files[number] = now
    new = {number: identity for number, identity in of_files.items() if number not in before}
    return new or of_files


def are_open(descriptors: Descriptors) -> bool:
    """Returns True if each of the files has one of these descriptors still.

    Not all need to be left: a reader in another thread may have opened one, and closed it, meanwhile.
    """
    still = {identity for number, identity in descriptors.items() if _identity_of(number) == identity}
    return still == set(descriptors.values())


def give_up(file: files.Identity | None) -> None:
    """Note that this process cannot use a database any more."""
    if file is not None:
        _lost.add(file)


def are_lost(file: files.Identity | None) -> bool:
    """Returns True if this process cannot use a database any more."""
    return file in _lost


def keep_for_good(connection: Any) -> None:
    """Keep a connection from ever being closed, also at the interpreter's end."""
    try:
        import ctypes
    except ImportError:
        return
    ctypes.pythonapi.Py_IncRef(ctypes.py_object(connection))


def _identity_of(number: int) -> files.Identity | None:
    try:
        status = os.fstat(number)
    except OSError:  # it is closed
        return None
    return status.st_dev, status.st_ino
