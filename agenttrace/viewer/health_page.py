"""The page of the store's health: is recording itself sound?"""

from __future__ import annotations

from agenttrace.store.file_state import FileState, file_state
from agenttrace.store.sqlite import SQLiteStore
from agenttrace.viewer.reads import Asked, Reads
from agenttrace.viewer.render import render


def health_page(reads: Reads, _asked: Asked) -> tuple[int, str]:
    """What the store's file says of itself."""
    state = state_of(reads)
    return 200, render(
        "health_page.html",
        reads,
        state=state,
        path=reads.path,
        problems=[] if state is None else problems(state),
        index=reads.index_state(),
    )


def state_of(reads: Reads) -> FileState | None:
    """The state of the file, None where there is none."""
    if not isinstance(reads.store, SQLiteStore):
        return None
    return file_state(reads.store.path, reads.store.busy_timeout)


def problems(state: FileState) -> list[str]:
    """What somebody should look at, in words."""
    refused = sum(each.refused for each in state.waiting)
    texts = []
    if state.quarantine:
        texts.append(
            f"{state.quarantine:,} spans or scores could not be stored; the newest reasons are below"
        )
    if refused:
        texts.append(
            f"{refused:,} items were refused where they were sent; exporter.resend() tries them again"
        )
    if len(state.steps) < state.known_steps:
        texts.append("the file was written by an older version; the next write brings it up to date")
    return texts
