"""Looks at a store as a user who may write nothing there: prints what each page answers. Run by a test."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from agenttrace.store import SQLiteStore
from agenttrace.viewer.app import PAGES
from agenttrace.viewer.reads import Reads


def look(path: str) -> list[str]:
    reads = Reads.of(SQLiteStore(path))
    answers = [f"{name} {page(reads, {})[0]}" for name, page in PAGES.items() if "{" not in name]
    listed = PAGES["/traces"](reads, {"q": "name:handle_ticket"})[1]
    return [*answers, "rows" if "data-id=" in listed else "no rows"]


if __name__ == "__main__":
    shut, warm = sys.argv[1:]
    look(warm)  # what is imported late is imported now: the other user may not be able to
    if os.geteuid() == 0:
        os.setgroups([])
        os.setgid(65_534)
        os.setuid(65_534)
    try:
        Path(shut).parent.joinpath("probe").touch()
        print("may write")
    except OSError:
        print(*look(shut), sep="\n")
