"""`Reads`: what a page is made from. Nothing here writes to the store."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import NamedTuple, TypeAlias

from agenttrace.core.errors import StoreError
from agenttrace.core.protocols import KeepsWatch, Store, optional
from agenttrace.core.query import EVERYTHING, Identified, Query
from agenttrace.core.trace_facts import TraceFacts
from agenttrace.core.trace_reads import IndexState, TraceReads
from agenttrace.store.index_reads import IndexReads
from agenttrace.store.searched import reads_of
from agenttrace.store.sqlite import SQLiteStore

Asked: TypeAlias = Mapping[str, str]
"""What a page is asked: the parts of its path and of its query, by name."""

Page: TypeAlias = "Callable[[Reads, Asked], tuple[int, str]]"

FILL_SECONDS = 0.4
"""Seconds that a page waits for an index that is behind; then it shows what is known so far."""


class Forms(NamedTuple):
    """What the forms of a page need: the token that says that they are ours, and who the reader is."""

    token: str
    reader: str = ""


@dataclass(frozen=True)
class Reads:
    """What pages are made from: a store, what answers queries for its traces, the time.

    `root` is what the page's own addresses begin with. A page that is not `is_live` lies in a file: it has no
    links to other pages, and asks for nothing. `forms` is None where nothing may be said of what is shown.
    """

    store: Store
    traces: TraceReads
    now_ns: int = field(default_factory=time.time_ns)
    root: str = ""
    is_live: bool = True
    forms: Forms | None = None

    @classmethod
    def of(
        cls,
        store: Store,
        *,
        root: str = "",
        fill_seconds: float | None = None,
        forms: Forms | None = None,
    ) -> Reads:
        """What pages of a store are made from; with `fill_seconds`, they do not wait longer for its index."""
        reads = reads_of(store)
        if fill_seconds is not None and isinstance(reads, IndexReads):
            reads = reads.within(fill_seconds)
        return cls(store, reads, root=root, forms=forms)

    def at(self, now_ns: int) -> Reads:
        """The same at another moment."""
        return replace(self, now_ns=now_ns)

    @property
    def watch(self) -> KeepsWatch:
        """The store as what keeps failures and people's words.

        Raises:
            StoreError: it keeps none.
        """
        watch = optional(self.store, KeepsWatch)
        if watch is None:
            raise StoreError(f"{type(self.store).__name__} keeps no failures, annotations or counts")
        return watch

    def facts(self, trace_id: str) -> TraceFacts | None:
        """What lists show of one trace; None where it is not stored."""
        page = self.traces.search(Query((Identified(trace_id),)), limit=1)
        return page.traces[0] if page.traces else None

    @property
    def path(self) -> str | None:
        """The file that is read, or the address of a server; None for a store in memory."""
        address: str | None = getattr(self.store, "address", None)
        return self.store.path if isinstance(self.store, SQLiteStore) else address

    @property
    def is_missing(self) -> bool:
        """Whether the file that is read is not there, or not yet; a store in memory is there."""
        return isinstance(self.store, SQLiteStore) and not os.path.lexists(self.store.path)

    def index_state(self, query: Query = EVERYTHING) -> IndexState | None:
        """How far what a query needs of the side index has come; None without one, or where all is known."""
        if not isinstance(self.traces, IndexReads) or self.is_missing:
            return None
        state = self.traces.refresh(0.0, query=query)
        return None if state.is_ready else state
