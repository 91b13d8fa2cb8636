"""The store in memory, which lives as long as its process."""

from __future__ import annotations

import sqlite3
import threading
import time
from collections import Counter, deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import count, repeat
from typing import TYPE_CHECKING, Any, TypeVar

from agenttrace.core.annotation import Annotation, is_word
from agenttrace.core.batch import Batch, Destination, Refusal, ScoreRow, Unsent, UnsentCounts
from agenttrace.core.failure import Failure, Fingerprint, State
from agenttrace.core.pending import WorkItem
from agenttrace.core.people import StoredScore
from agenttrace.core.protocols import KeepsUnsent, KeepsWatch, ReplacesScores, Store
from agenttrace.core.report import EvaluationReport
from agenttrace.core.score import Score
from agenttrace.core.span import Span
from agenttrace.core.summary import RunSummary, TraceSummary
from agenttrace.core.tool import ToolDefinition
from agenttrace.core.trace import Trace
from agenttrace.core.trace_reading import ReadSpans, read_with
from agenttrace.core.watch import ScoreCounts, TraceCounts, WriterState
from agenttrace.store import counts, failures
from agenttrace.store.annotations import read_annotations
from agenttrace.store.given_scores import redacted_scores
from agenttrace.store.health import StoreHealth
from agenttrace.store.human_scores import newest_words
from agenttrace.store.queries import id_prefix, only_match
from agenttrace.store.rows import dataset_text, dataset_value
from agenttrace.store.unsent_in_memory import UnsentInMemory
from agenttrace.store.watch_in_memory import WatchInMemory
from agenttrace.store.work_queue import TableWorkQueue

T = TypeVar("T")

if TYPE_CHECKING:
    from agenttrace.core.query import Query
    from agenttrace.core.trace_reads import TraceReads

DEFAULT_BYTES = 64 * 1024 * 1024
_MOST_SCORES = 100_000
_SCORE_BYTES = 600

_ID_DIGITS = 32


class MemoryStore(Store, KeepsUnsent, KeepsWatch, ReplacesScores):
    """Keeps spans, scores, runs and datasets in memory, up to about `max_bytes` of spans.

    Beyond that the oldest traces go (of a single trace that is larger, its oldest spans), counted as
    *dropped*; of scores the newest 100,000 stay. For tests, for processes without a disk, and in place of a
    file that cannot be written.
    """

    def __init__(self, *, max_bytes: int = DEFAULT_BYTES) -> None:
        self.max_bytes = max_bytes
        self.send_to: Sequence[Destination] = ()
        """Where what comes through `export` and `write_scores` is to be sent."""
        self.reading: ReadSpans | None = None
        """How spans of other libraries are read; `open_store` and `Tracer` set it."""
        self._lock = threading.Lock()
        self._traces: dict[int, dict[int, Span]] = {}
        self._trace_bytes: dict[int, int] = {}
        self._bytes = 0
        self._unsent = UnsentInMemory()
        self._scores: deque[ScoreRow] = deque(maxlen=_MOST_SCORES)
        self._reports: dict[str, EvaluationReport] = {}
        self._datasets: dict[tuple[str, str], list[str]] = {}
        self._tools: dict[str, dict[str, ToolDefinition]] = {}
        self._pending: dict[str, tuple[str, dict[str, Any]]] = {}
        self._watch = WatchInMemory()
        self._settled: dict[str, list[ScoreRow]] = {}
        self._settlements = count(1)
        self._written = 0
        self._dropped = 0

    def write(self, batch: Batch) -> None:
        with self._lock:
            sizes = [self._keep(span) for span in batch.spans]
            self._written += len(sizes)
            self._keep_scores(batch.scores)
            self._watch.note(batch.scores, self._project_of)
            self._watch.annotate(batch.annotations)
            for project, tools in batch.tools.items():
                self._tools.setdefault(project, {}).update((tool.name, tool) for tool in tools)
            for destination in batch.send_to:
                if destination.kind == "spans":
                    self._unsent.add(destination, batch.spans, sizes)
                else:
                    self._unsent.add(destination, batch.scores, repeat(_SCORE_BYTES))
            while self._bytes > self.max_bytes and self._traces:
                self._make_room()

    def _keep_scores(self, scores: Sequence[ScoreRow]) -> None:
        self._scores += scores
        if any(is_word(row.score) for row in scores):  # a newer word replaces an older one
            self._scores = deque(newest_words(self._scores), maxlen=_MOST_SCORES)

    def export(self, spans: Sequence[Span]) -> None:
        """Keep spans alone; see `write`."""
        self.write(Batch(spans, send_to=self.send_to))

    def write_scores(self, scores: Sequence[tuple[str | None, str | None, Score]]) -> None:
        """Keep scores alone, redacted, each with its trace id and span id (None: the whole trace)."""
        self.write(Batch(scores=redacted_scores(scores), send_to=self.send_to))

    def replace_scores(self, rows: Sequence[ScoreRow], same: Callable[[ScoreRow], Any]) -> None:
        with self._lock:
            new = set(map(same, rows))
            self._scores = deque((row for row in self._scores if same(row) not in new), maxlen=_MOST_SCORES)
        self.write(Batch(scores=rows))

    def _keep(self, span: Span) -> int:
        """Keep a span; returns how many bytes it takes."""
        key = span.trace_key
        trace = self._traces.get(key)
        if trace is None:
            trace = self._traces[key] = {}
            self._trace_bytes[key] = 0
        size = span_bytes(span)
        earlier = trace.get(span.span_key)
        growth = size if earlier is None else size - span_bytes(earlier)
        trace[span.span_key] = span
        self._trace_bytes[key] += growth
        self._bytes += growth
        if span.tool is not None:
            self._tools.setdefault(span.project, {})[span.tool.name] = span.tool
        return size

    def _make_room(self) -> None:
        oldest = next(iter(self._traces))
        if len(self._traces) > 1:
            self._dropped += self._drop(oldest)
            return
        spans = self._traces[oldest]  # one trace larger than all the room: its oldest spans go
        size = span_bytes(spans.pop(next(iter(spans))))
        self._trace_bytes[oldest] -= size
        self._bytes -= size
        self._dropped += 1
        if not spans:
            self._drop(oldest)

    def _drop(self, key: int) -> int:
        self._bytes -= self._trace_bytes.pop(key)
        return len(self._traces.pop(key))

    def flush(self, timeout: float) -> bool:
        """Return True: nothing is ever pending."""
        return True

    def close(self) -> None:
        """Do nothing: there is nothing to release, and what is kept stays readable."""

    def after_fork(self) -> None:
        """In a forked child: replace the lock, which a thread of the parent may hold. The content stays, but
        what is to be sent is the parent's to send."""
        self._lock = threading.Lock()
        self._unsent = UnsentInMemory()
        self._watch = WatchInMemory()

    def unsent(self, destination: Destination, *, most: int, max_bytes: int) -> Unsent | None:
        with self._lock:
            return self._unsent.next_unsent(destination, most, max_bytes, self._tools)

    def settle(self, unsent: Unsent, refused: Sequence[Refusal] = ()) -> None:
        with self._lock:
            self._unsent.settle(unsent, refused)

    def retry_refused(self, destination: Destination) -> int:
        with self._lock:
            return self._unsent.retry_refused(destination)

    def count_unsent(self, destination: Destination) -> UnsentCounts:
        with self._lock:
            return self._unsent.counts(destination)

    def lease(self, name: str, holder: str, seconds: float) -> bool:
        with self._lock:
            return self._unsent.lease(name, holder, seconds)

    def release(self, name: str, holder: str) -> None:
        with self._lock:
            self._unsent.release(name, holder)

    def write_report(self, report: EvaluationReport) -> str:
        self.keep_report(report.run_id, report)
        return report.run_id

    def keep_report(self, run_id: str, report: EvaluationReport) -> None:
        """Keep a run under the id that the caller chose."""
        with self._lock:
            self._reports[run_id] = report
            self._watch.note_report(run_id, report)

    def _project_of(self, trace_id: str | None) -> str:
        trace = None if trace_id is None else self._traces.get(int(trace_id, 16))
        return next(iter(trace.values())).project if trace else ""

    def failures(
        self, *, project: str | None = None, state: State | None = None, limit: int = 100
    ) -> list[Failure]:
        return self._asked(lambda db: failures.failures(db, project=project, state=state, limit=limit))

    def set_failure_state(
        self, fingerprint: str, state: State, *, fixed_in: str | None = None, project: str | None = None
    ) -> Failure:
        def change(db: sqlite3.Connection) -> Failure:
            number = failures.find_failure(db, fingerprint, project)
            return failures.set_state(db, number, state, fixed_in)

        return self._asked(change)

    def first_tellings(self, project: str, fingerprints: Sequence[Fingerprint]) -> dict[str, str]:
        return self._asked(lambda db: failures.first_tellings(db, project, fingerprints))

    def annotations(
        self, *, trace_id: str | None = None, project: str | None = None, limit: int = 1_000
    ) -> list[Annotation]:
        if not self._watch.begun:
            return []
        return self._asked(lambda db: read_annotations(db, trace_id=trace_id, project=project, limit=limit))

    def stored_scores(
        self,
        *,
        name: str | None = None,
        project: str | None = None,
        annotated: bool = False,
        limit: int = 5_000,
    ) -> list[StoredScore]:
        return self._asked(
            lambda db: counts.stored_scores(db, name=name, project=project, annotated=annotated, limit=limit)
        )

    def score_counts(self, *, since_ns: int = 0, project: str | None = None) -> list[ScoreCounts]:
        return self._asked(lambda db: counts.score_counts(db, since_ns=since_ns, project=project))

    def trace_counts(self, *, since_ns: int = 0, project: str | None = None) -> list[TraceCounts]:
        numbers = Counter(trace.spans[0].project for trace in self._traces_since(since_ns, project))
        return [TraceCounts(project=name, traces=number) for name, number in sorted(numbers.items())]

    def trace_cost(self, *, since_ns: int, project: str | None = None) -> float:
        from agenttrace.matching.spending import spent_cost  # on use: recording needs nothing of that room

        return sum(spent_cost(trace) or 0.0 for trace in self._traces_since(since_ns, project))

    def _traces_since(self, since_ns: int, project: str | None) -> list[Trace]:
        with self._lock:
            traces = [Trace(spans.values()) for spans in self._traces.values()]
        firsts = [(trace, trace.spans[0]) for trace in traces]
        return [t for t, first in firsts if first.start_ns >= since_ns and project in (None, first.project)]

    def failure_counts(self) -> dict[tuple[str, State], int]:
        return self._asked(failures.failure_counts)

    def writers(self) -> list[WriterState]:
        """None: there is no file that several processes could share."""
        return []

    def _asked(self, query: Callable[[sqlite3.Connection], T]) -> T:
        with self._lock:
            return self._watch.ask(query)

    def save_pending_evaluations(self, project: str, requests: Sequence[Mapping[str, Any]]) -> None:
        with self._lock:
            for request in requests:
                self._pending[request["key"]] = (project, dict(request))

    def pending_evaluations(self, project: str) -> list[dict[str, Any]]:
        return [request for of_project, request in self.all_evaluations() if of_project == project]

    def claim_pending_evaluations(
        self, keys: Sequence[str], owner: str | None, *, held_by: str | None
    ) -> list[str]:
        claimed_keys = []
        with self._lock:
            for key in keys:
                project, request = self._pending.get(key, ("", {"owner": ()}))
                if request.get("owner") == held_by:
                    self._pending[key] = (project, {**request, "owner": owner, "owned_at": time.time()})
                    claimed_keys.append(key)
        return claimed_keys

    def drop_pending_evaluations(self, keys: Sequence[str]) -> None:
        with self._lock:
            for key in keys:
                self._pending.pop(key, None)

    def work_queue(self) -> TableWorkQueue:
        """The queued evaluations of this store's traces."""
        return TableWorkQueue(self._asked, lambda query, _: self._asked(query), self._replace_scores)

    def _replace_scores(
        self, _db: sqlite3.Connection, _item: WorkItem, names: str | None, scores: Sequence[ScoreRow]
    ) -> str:
        """Put scores in the place of those that have a name; returns the name of the new ones."""
        earlier = {id(row) for row in self._settled.pop(names or "", ())}
        if earlier:
            self._scores = deque((row for row in self._scores if id(row) not in earlier), maxlen=_MOST_SCORES)
        self._keep_scores(scores)
        self._watch.note(scores, self._project_of)
        name = str(next(self._settlements))
        self._settled[name] = list(scores)
        return name

    def trace(self, trace_id: str) -> Trace | None:
        prefix = id_prefix(trace_id)
        with self._lock:
            key = None if prefix is None else self._key_of(prefix)
            if key is None:
                return None
            spans = list(self._traces[key].values())
            tools: dict[str, ToolDefinition] = {}
            for project in sorted({span.project for span in spans}):
                tools.update(self._tools.get(project, {}))
        return read_with(Trace(spans, trace_key=key, tools=tools), self.reading)

    def _key_of(self, prefix: str) -> int | None:
        if len(prefix) == _ID_DIGITS:  # online evaluation reads every trace back: no search for those
            return key if (key := int(prefix, 16)) in self._traces else None
        ids = {f"{key:032x}": key for key in self._traces}
        match = only_match(prefix, [trace_id for trace_id in ids if trace_id.startswith(prefix)])
        return None if match is None else ids[match]

    def traces(
        self, *, project: str | None = None, limit: int = 50, name: str | None = None
    ) -> list[TraceSummary]:
        with self._lock:
            traces = [list(spans.values()) for spans in self._traces.values()]
        lines = (TraceSummary.of(Trace(spans)) for spans in traces)
        matches = [line for line in lines if project in (None, line.project) and name in (None, line.name)]
        matches.reverse()  # of those that began together, the one stored last is the newest
        return sorted(matches, key=lambda line: -line.start_ns)[: max(limit, 0)]

    def iter_traces(
        self, query: Query | str = "", *, project: str | None = None, limit: int | None = None
    ) -> Iterator[Trace]:
        from agenttrace.store.trace_stream import one_by_one  # recording needs none of it

        return one_by_one(self, query, project=project, limit=limit)

    def scores(self, trace_id: str) -> list[tuple[str | None, Score]]:
        with self._lock:
            scores = [(span_id, score) for of_trace, span_id, score in self._scores if of_trace == trace_id]
            for report in self._reports.values():
                for result in report:
                    if result.trace_id == trace_id:
                        scores += [(None, score) for score in result.scores]
            return scores

    def runs(self, *, project: str | None = None, limit: int = 50) -> list[RunSummary]:
        with self._lock:
            reports = list(self._reports.items())
        lines = [RunSummary.of(run_id, report) for run_id, report in reversed(reports)]
        matches = [line for line in lines if project in (None, line.project)]
        return sorted(matches, key=lambda line: -line.started_ns)[: max(limit, 0)]

    def run(self, run_id: str) -> dict[str, Any] | None:
        prefix = id_prefix(run_id)
        with self._lock:
            match = prefix and only_match(prefix, [i for i in self._reports if i.startswith(prefix)])
            return self._reports[match].to_dict() if match else None

    def save_dataset(self, alias: str, project: str, content: Any) -> int:
        text = dataset_text(alias, content)
        with self._lock:
            versions = self._datasets.setdefault((project, alias), [])
            if not versions or versions[-1] != text:
                versions.append(text)
            return len(versions)

    def load_dataset(self, alias: str, project: str, version: int | None = None) -> Any:
        with self._lock:
            versions = self._datasets.get((project, alias), [])
            number = len(versions) if version is None else version
            return dataset_value(versions[number - 1]) if 1 <= number <= len(versions) else None

    def datasets(self, *, project: str | None = None) -> list[tuple[str, str, int]]:
        with self._lock:
            return sorted((p, a, len(v)) for (p, a), v in self._datasets.items() if project in (None, p))

    def trace_reads(self) -> TraceReads:
        """What answers queries for traces: it looks at every trace."""
        from agenttrace.store.searched import every_trace  # recording needs none of it

        return every_trace(self)

    def delete_trace(self, trace_id: str) -> bool:
        trace_id = trace_id.lower()
        with self._lock:
            self._unsent.forget(lambda item: item.trace_id == trace_id)
            key = next((k for k in self._traces if f"{k:032x}" == trace_id), None)
            if key is None:
                return False
            self._drop(key)
            others = [entry for entry in self._scores if entry[0] != trace_id]
            self._scores = deque(others, maxlen=_MOST_SCORES)
            return True

    def delete_run(self, run_id: str) -> bool:
        with self._lock:
            return self._reports.pop(run_id.lower(), None) is not None

    def health(self) -> StoreHealth:
        """The state of this moment."""
        return StoreHealth(mode="memory", written=self._written, dropped=self._dropped)

    def batches(self) -> list[Batch]:
        """Every span, score and tool that is kept, in batches by where they are still to be sent."""
        with self._lock:
            send_to = self._unsent.destinations_of_items()
            groups: dict[tuple[Destination, ...], tuple[list[Span], list[ScoreRow]]] = {}
            for trace in self._traces.values():
                for span in trace.values():
                    groups.setdefault(send_to.get(id(span), ()), ([], []))[0].append(span)
            for row in self._scores:
                groups.setdefault(send_to.get(id(row), ()), ([], []))[1].append(row)
            tools = {project: list(tools.values()) for project, tools in self._tools.items()}
        return [
            Batch(tools=tools, annotations=self.annotations(limit=_MOST_SCORES)),
            *(Batch(spans, scores, send_to=where) for where, (spans, scores) in groups.items()),
        ]

    def all_reports(self) -> dict[str, EvaluationReport]:
        """Every run that is kept, by its id."""
        with self._lock:
            return dict(self._reports)

    def all_evaluations(self) -> list[tuple[str, dict[str, Any]]]:
        """Every evaluation that is to be done, with its project."""
        with self._lock:
            return list(self._pending.values())


_SPAN_BYTES = 600


def span_bytes(span: Span) -> int:
    """About how many bytes a span takes: its texts and collections, without following other objects."""
    size = _SPAN_BYTES
    values: list[Any] = [span.input, span.output, span.attributes, span.usage]
    if span.error is not None:
        size += len(span.error.message) + 300 * len(span.error.frames)
    while values:
        value = values.pop()
        if isinstance(value, str):
            size += 50 + len(value)
        elif isinstance(value, dict):
            size += 64 + 100 * len(value)
            values += value.values()
        elif isinstance(value, list | tuple):
            size += 56 + 8 * len(value)
            values += value
        else:
            size += 16
    return size
