"""What a side index is filled from: a store's rows, and how it is known what is new since the last time."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from typing import Any, Protocol, TypeVar

from agenttrace.core.trace import Trace
from agenttrace.store.facts import Kind

T = TypeVar("T")

Position = int | str | None
"""How far something was taken over, as its source says it; None where nothing was."""

Numbers = range | Collection[int]
"""The numbers of traces: a range of them, or these."""


class StoreRows(Protocol):
    """The rows of a store during one read. Traces have numbers; a later one has a higher number."""

    def identity(self) -> str:
        """What tells this store from another one that had the same place."""
        ...

    def trace_count(self) -> int:
        """About how many traces there are."""
        ...

    def highest_trace(self) -> int:
        """The highest number of a trace, 0 without any."""
        ...

    def newest_span(self) -> Position:
        """The position behind all spans that are there; None where that cannot be said."""
        ...

    def new_spans(self, after: Position, until: Position) -> tuple[set[int], Position]:
        """The traces of spans behind a position, and the position up to which these were told.

        Raises:
            NeedsRebuilding: nothing is known of what came after that position.
        """
        ...

    def newest_score(self) -> Position:
        """The position behind all scores."""
        ...

    def newly_scored(self, after: Position) -> set[str]:
        """The ids of traces with scores behind a position."""
        ...

    def new_runs(self, after: Position) -> tuple[list[tuple[str, str]], Position]:
        """Id and name of the runs behind a position, also of such as were stored again; and the new one."""
        ...

    def results(self, run_id: str) -> Iterable[tuple[str, int, str, str]]:
        """Trace, place, example and outcome of a run's results that have a trace."""
        ...

    def nothing_gone(self) -> Position:
        """The position of an index that is built from what is there now."""
        ...

    def gone(self, after: Position, count: int, numbers: Callable[[], set[int]]) -> tuple[set[int], Position]:
        """Which of the `count` traces with these `numbers` are no longer there, and the new position.

        Raises:
            NeedsRebuilding: nothing is known of what went after that position.
        """
        ...

    def numbers(self, trace_ids: Sequence[str]) -> set[int]:
        """The numbers of the traces of these ids that are there."""
        ...

    def ids(self, numbers: Numbers) -> dict[int, str]:
        """The ids of the traces of some numbers that are there."""
        ...

    def kinds(self) -> dict[int, Kind]:
        """Name, type and project of functions by their numbers."""
        ...

    def outlines(self, numbers: Numbers) -> Iterator[Sequence[Any]]:
        """The spans of some traces, trace by trace: trace, start, index, span, parent, end, function, then
        JSON as bytes: input (of roots and tools), output (of roots), and the rest."""
        ...

    def values(self, numbers: Numbers) -> Iterator[tuple[int, bytes | None, bytes | None]]:
        """The inputs and outputs of roots and tools of some traces, trace by trace, as JSON."""
        ...

    def whole(self, number: int, trace_id: str) -> Trace:
        """All spans of a trace."""
        ...

    def scores(self, trace_ids: Sequence[str]) -> Iterable[Sequence[Any]]:
        """The scores of some traces in their order: trace, name, value, threshold, outcome."""
        ...


class IndexSource(Protocol):
    """A store that an index is filled from.

    `index_path` is where the index lies, and `owned_as` a file whose owner may own the index, too.
    """

    index_path: str
    owned_as: str | None

    def is_there(self) -> bool:
        """Whether there is anything to read."""
        ...

    def stamp(self) -> tuple[str, bool]:
        """What changes with every write to the store, and whether a later write certainly changes it.

        Raises:
            StoreError: the store cannot be asked.
        """
        ...

    def get_ready(self) -> None:
        """Make room for the index. Raises OSError where there cannot be one."""
        ...

    def read(self, action: Callable[[StoreRows], T]) -> T:
        """Run an action on the rows in one read.

        Raises:
            StoreError: the store cannot be read.
        """
        ...


class NeedsRebuilding(Exception):
    """The index cannot be brought up to date: it has to be made anew."""
