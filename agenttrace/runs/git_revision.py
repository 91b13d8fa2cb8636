"""The git revision of a directory, read from the files of its repository: no process is started."""

from __future__ import annotations

import os
import re
from functools import lru_cache
from pathlib import Path
from typing import TypedDict

_BRANCH_VARIABLES = ("GITHUB_HEAD_REF", "GITHUB_REF_NAME", "CI_COMMIT_REF_NAME", "BRANCH_NAME")
"""What CI systems call the branch, of which they check out a commit."""
_DEEPEST = 5
"""How many references may lead to each other."""
_COMMIT = re.compile(r"[0-9a-f]{40}(?:[0-9a-f]{24})?")
_NO_BRANCH = ".invalid"
"""What git writes into HEAD where the references are in a table, which is not read here."""


class GitRevision(TypedDict):
    """A commit (None before the first), its branch (None where none is known), and whether files differ.

    `dirty` is None: that cannot be known without comparing every file, which is git's own work.
    """

    commit: str | None
    branch: str | None
    dirty: bool | None


def git_revision(directory: str | Path | None = None) -> GitRevision | None:
    """Return the revision that is checked out in a directory (the working directory), or None outside of git.

    Where a CI system has checked out a commit without a branch, the branch is the one that its environment
    names. What is no repository after all (damaged, not readable) is as if there were none.
    """
    try:
        return _revision(directory)
    except (OSError, ValueError):  # not readable, the working directory is gone; a path with a NUL in it
        return None


def _revision(directory: str | Path | None) -> GitRevision | None:
    home = _git_directory(os.path.abspath(directory or os.curdir))
    head = None if home is None else _line(home / "HEAD")
    if home is None or head is None:
        return None
    branch = head.removeprefix("ref: refs/heads/") if head.startswith("ref: refs/heads/") else None
    if branch is None or branch == _NO_BRANCH:
        branch = next((name for key in _BRANCH_VARIABLES if (name := os.environ.get(key))), None)
    return {"commit": _commit(home, head), "branch": branch, "dirty": None}


@lru_cache(maxsize=16)
def _git_directory(directory: str) -> Path | None:
    """The directory with HEAD: ``.git`` here or above, or what a worktree's file ``.git`` names."""
    for place in (Path(directory), *Path(directory).parents):
        git = place / ".git"
        if git.is_dir():
            return git
        target = _line(git)
        if target is not None and target.startswith("gitdir: "):
            return place / target.removeprefix("gitdir: ")
    return None


def _commit(home: Path, head: str) -> str | None:
    """The commit that HEAD leads to: loose references go before packed ones, and worktrees share both."""
    text: str | None = head
    shared = home / (_line(home / "commondir") or "")
    for _ in range(_DEEPEST):
        if text is None or not text.startswith("ref: "):
            return text if text and _COMMIT.fullmatch(text) else None
        name = text.removeprefix("ref: ")
        if not name.startswith("refs/") or ".." in name:  # no reference of git's, and perhaps any file
            return None
        text = _line(home / name) or _line(shared / name) or _packed(shared, name)
    return None


def _packed(shared: Path, name: str) -> str | None:
    try:
        with (shared / "packed-refs").open(encoding="utf-8", errors="replace") as lines:
            return next((line.split()[0] for line in lines if line.rstrip().endswith(f" {name}")), None)
    except OSError:
        return None


def _line(path: Path) -> str | None:
    """The first line of a small file, or None where there is no such file or nothing in it."""
    try:
        with path.open(encoding="utf-8", errors="replace") as file:
            return file.readline(4096).strip() or None
    except OSError:
        return None
