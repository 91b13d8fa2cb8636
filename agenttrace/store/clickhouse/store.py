"""`ClickHouseStore`: traces are read from the collector's table; scores and runs are beside it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import groupby, islice
from typing import TYPE_CHECKING, Any, cast

from agenttrace.core.batch import Batch
from agenttrace.core.errors import StoreError
from agenttrace.core.numbers import is_whole
from agenttrace.core.protocols import Store
from agenttrace.core.query_parsing import parse
from agenttrace.core.summary import TraceSummary
from agenttrace.core.trace import Trace
from agenttrace.otlp_in.arrival import Arrival
from agenttrace.otlp_in.traces import spans_of, traces_of
from agenttrace.store.clickhouse.address import Address
from agenttrace.store.clickhouse.connection import Connection
from agenttrace.store.clickhouse.rows import COLUMNS, arrived
from agenttrace.store.queries import id_prefix, only_match

if TYPE_CHECKING:
    from agenttrace.core.query import Query
    from agenttrace.core.trace_reads import TraceReads

# Statements are put together from names that the address has checked and constants; values are bound.
# ruff: noqa: S608

_TRACES_AT_ONCE = 200
_WHOLE_ID = 32
_MOST_SPANS = 100_000
"""Of the traces that are read at once; a trace that has more is read in part, the first of them."""

_BESIDE = frozenset(
    {
        *("write_scores", "replace_scores", "scores", "write_report", "add_results", "runs", "run"),
        *("save_pending_evaluations", "pending_evaluations", "claim_pending_evaluations"),
        *("drop_pending_evaluations", "save_dataset", "load_dataset", "datasets", "delete_run"),
        *("annotate", "annotations", "stored_scores", "work_queue", "after_fork", "flush", "end", "health"),
        *("save_annotation", "write_annotations", "delete_annotation", "all_evaluations"),
    }
)
"""What the store beside answers. All else, such as counts of its own traces, would be about other traces."""


class ClickHouseStore:
    """A `Store` that takes no spans: ``clickhouse://user:password@host:8123/database?table=otel_traces``.

    Made by `open_store`. Scores, annotations, runs, datasets and pending evaluations are kept in `beside`.
    Making one opens nothing. With ``since=30d`` only traces of that time are listed and searched.

    Raises:
        ConfigError: the address cannot be read.
    """

    only_read = True

    def __init__(self, address: str, beside: Store) -> None:
        self._address = Address.of(address)
        self.address = self._address.shown
        """Where it is, without the password."""
        self._beside = beside
        self._connection = Connection(self._address)

    def __repr__(self) -> str:
        return f"ClickHouseStore({self.address!r})"

    def __getattr__(self, name: str) -> Any:
        if name in _BESIDE:
            return getattr(self._beside, name)
        raise AttributeError(f"{type(self).__name__} has no {name}: traces in ClickHouse are only read")

    def write(self, batch: Batch) -> None:
        """Keep what belongs beside the traces.

        Raises:
            StoreError: the batch has spans.
        """
        if batch.spans:
            raise StoreError(
                f"{self.address} is only read: record with an OTLPExporter to the collector that fills it, "
                "or with another store"
            )
        self._beside.write(batch)

    def delete_trace(self, trace_id: str) -> bool:
        """Never deletes a trace.

        Raises:
            StoreError: always.
        """
        raise StoreError(f"{self.address} is only read: delete {trace_id} there, by a TTL or ALTER … DELETE")

    def close(self) -> None:
        """Give connections up, and close the store beside."""
        self._connection.close()
        self._beside.close()

    def trace(self, trace_id: str) -> Trace | None:
        """One trace by its id or unique prefix, as `Store.trace`."""
        prefix = id_prefix(trace_id)
        if prefix is None:
            return None
        if len(prefix) < _WHOLE_ID:
            ids = self._connection.ask(
                f"SELECT DISTINCT TraceId FROM {self._address.source} "
                "WHERE startsWith(TraceId, {prefix:String}) ORDER BY TraceId LIMIT 10",
                {"prefix": prefix},
            )
            match = only_match(prefix, [row[0] for row in ids])
            if match is None:
                return None
            prefix = match
        return next(iter(self._whole([prefix])), None)

    def traces(
        self, *, project: str | None = None, limit: int = 50, name: str | None = None
    ) -> list[TraceSummary]:
        """The newest traces first, as `Store.traces`."""
        lines = (TraceSummary.of(trace) for trace in self._newest_first(limit))
        matches = (line for line in lines if project in (None, line.project) and name in (None, line.name))
        return list(islice(matches, max(limit, 0)))

    def iter_traces(
        self, query: Query | str = "", *, project: str | None = None, limit: int | None = None
    ) -> Iterator[Trace]:
        """The traces that match a query, the newest first, as `Store.iter_traces`."""
        if parse(query) if isinstance(query, str) else query:
            from agenttrace.store.trace_stream import one_by_one  # on use: a list needs none of it

            return one_by_one(cast(Store, self), query, project=project, limit=limit)
        if limit is not None and not is_whole(limit):
            raise StoreError(f"limit is how many traces there are at most, or None, got {limit!r}")
        each = self._newest_first(_TRACES_AT_ONCE if limit is None else limit)
        return islice((trace for trace in each if project in (None, trace.spans[0].project)), limit)

    def trace_reads(self) -> TraceReads:
        """What answers queries for traces: it looks at every trace."""
        from agenttrace.store.searched import every_trace  # on use

        return every_trace(cast(Store, self))

    def _newest_first(self, first: int) -> Iterator[Trace]:
        """Every trace, read in parts, of which the first has `first` traces at most."""
        size = min(max(first, 1), _TRACES_AT_ONCE)
        began, last = (1 << 63) - 1, ""
        newer = (
            "" if self._address.since is None else f"WHERE Timestamp >= now() - {int(self._address.since)} "
        )
        while True:
            rows = self._connection.ask(
                "SELECT TraceId, min(toUnixTimestamp64Nano(Timestamp)) AS began "
                f"FROM {self._address.source} {newer}GROUP BY TraceId "
                "HAVING (began, TraceId) < ({began:Int64}, {last:String}) "
                "ORDER BY began DESC, TraceId DESC LIMIT {size:UInt32}",
                {"began": began, "last": last, "size": size},
            )
            ids = [row[0] for row in rows]
            whole = {f"{trace.trace_key:032x}": trace for trace in self._whole(ids)}
            yield from (whole[trace_id] for trace_id in ids if trace_id in whole)
            if len(ids) < size:
                return
            last, began = rows[-1][0], rows[-1][1]
            size = _TRACES_AT_ONCE

    def _whole(self, trace_ids: Iterable[str]) -> Iterator[Trace]:
        """The traces of these ids, in the ids' own order."""
        rows = self._connection.ask(
            f"SELECT {', '.join(COLUMNS)} FROM {self._address.source} "
            "WHERE TraceId IN {ids:Array(String)} "
            "ORDER BY TraceId, Timestamp, Duration DESC, SpanId LIMIT {most:UInt32}",
            {"ids": list(trace_ids), "most": _MOST_SPANS},
        )
        for _, of_trace in groupby(rows, key=lambda row: row[0]):
            spans = [span for row in of_trace if (span := arrived(row)) is not None]
            yield from traces_of(spans_of(Arrival(spans)))
