"""What a SQLite store gives back."""

from __future__ import annotations

import sqlite3
from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any, TypeVar

from agenttrace.core.score import Score
from agenttrace.core.summary import RunSummary, TraceSummary
from agenttrace.core.trace import Trace
from agenttrace.store import queries
from agenttrace.store.contents import dataset_value
from agenttrace.store.prefixes import id_prefix
from agenttrace.store.refuge import Refuge

T = TypeVar("T")


class SQLiteReads(ABC):
    """The reading half of `SQLiteStore`: from the file, and from memory what the file could not take."""

    _refuge: Refuge

    @abstractmethod
    def _read(self, query: Callable[[sqlite3.Connection], T], nothing: T) -> T:
        """Run a query on the file, or return `nothing` where there is none."""

    def trace(self, trace_id: str) -> Trace | None:
        """One trace by its id, or by a prefix of at least four digits that only one trace has.

        Its `tools` are all that its projects have, so that scorers judge it as they did when it ran.

        Raises:
            StoreError: fewer digits, several traces, or the file cannot be read.
        """
        prefix = id_prefix(trace_id)
        if prefix is None:
            return None

        def query(db: sqlite3.Connection) -> tuple[str, queries.SpanRows, list[tuple[str, str]]] | None:
            found = queries.find_trace(db, prefix)
            if found is None:
                return None
            number, whole_id = found
            return whole_id, queries.span_rows(db, number), queries.known_tools(db, number)

        in_file = self._read(query, None)
        waiting = self._refuge.memory.trace(prefix if in_file is None else in_file[0])
        if in_file is None:
            return waiting
        stored = queries.trace_of(*in_file)
        if waiting is None:
            return stored
        newest = {span.span_key: span for span in (*stored.spans, *waiting.spans)}
        tools = {**stored.tools, **waiting.tools}
        return Trace(newest.values(), trace_key=stored.trace_key, tools=tools)

    def traces(
        self, *, project: str | None = None, limit: int = 50, name: str | None = None
    ) -> list[TraceSummary]:
        """The newest traces first.

        Raises:
            StoreError: the file cannot be read.
        """
        waiting = self._refuge.memory.traces(project=project, limit=limit, name=name)
        nothing: list[TraceSummary] = []
        in_file = self._read(lambda db: queries.summaries(db, project, limit, name), nothing)
        if not waiting:
            return in_file
        here = {line.trace_id for line in waiting}
        both = waiting + [line for line in in_file if line.trace_id not in here]
        return sorted(both, key=lambda line: -line.start_ns)[: max(limit, 0)]

    def scores(self, trace_id: str) -> list[tuple[str | None, Score]]:
        """The scores of a trace, each with its span id (None: the whole trace), oldest first.

        Raises:
            StoreError: the file cannot be read.
        """
        nothing: list[tuple[str | None, Score]] = []
        in_file = self._read(lambda db: queries.scores(db, trace_id), nothing)
        return in_file + self._refuge.memory.scores(trace_id)

    def runs(self, *, project: str | None = None, limit: int = 50) -> list[RunSummary]:
        """The newest evaluation runs first.

        Raises:
            StoreError: the file cannot be read.
        """
        waiting = self._refuge.memory.runs(project=project, limit=limit)
        nothing: list[RunSummary] = []
        in_file = self._read(lambda db: queries.runs(db, project, limit), nothing)
        return (waiting + in_file)[: max(limit, 0)]

    def run(self, run_id: str) -> dict[str, Any] | None:
        """A run as `EvaluationReport.to_dict` gives it, with its ``run_id``, by id or unique prefix.

        Raises:
            StoreError: fewer than four digits, several runs, or the file cannot be read.
        """
        prefix = id_prefix(run_id)
        if prefix is None:
            return None

        def query(db: sqlite3.Connection) -> dict[str, Any] | None:
            found = queries.find_run(db, prefix)
            return None if found is None else queries.run(db, found)

        return self._read(query, None) or self._refuge.memory.run(prefix)

    def load_dataset(self, alias: str, project: str, version: int | None = None) -> Any:
        """The data of a dataset's version (None: the newest), or None where there is no such dataset.

        Raises:
            StoreError: the file cannot be read.
        """
        text = self._read(lambda db: queries.dataset(db, project, alias, version), None)
        return None if text is None else dataset_value(text)

    def datasets(self, *, project: str | None = None) -> list[tuple[str, str, int]]:
        """Project, alias and newest version of every dataset, by name.

        Raises:
            StoreError: the file cannot be read.
        """
        return self._read(lambda db: queries.datasets(db, project), [])

    def pending_evaluations(self, project: str) -> list[dict[str, Any]]:
        """What `save_pending_evaluations` kept and nothing dropped, oldest first.

        Raises:
            StoreError: the file cannot be read.
        """
        nothing: list[dict[str, Any]] = []
        in_file = self._read(lambda db: queries.pending_evaluations(db, project), nothing)
        return in_file + self._refuge.memory.pending_evaluations(project)
