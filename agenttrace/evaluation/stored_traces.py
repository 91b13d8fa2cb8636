"""`score_traces`: stored traces scored in bulk, in place, on several processes."""

from __future__ import annotations

import multiprocessing
import os
import pickle
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import chain, islice
from typing import Any, NamedTuple

from agenttrace.core.batch import ScoreRow
from agenttrace.core.changed import changed
from agenttrace.core.errors import StoreError
from agenttrace.core.example import Example
from agenttrace.core.protocols import KeepsWatch, Scorer, Store, optional
from agenttrace.core.query import Query
from agenttrace.core.report import ScoringResult
from agenttrace.core.score import Score
from agenttrace.core.trace import Trace
from agenttrace.datasets.from_traces import example_from_trace
from agenttrace.evaluation.agent_run import Run
from agenttrace.evaluation.engine import Engine
from agenttrace.evaluation.run import TIMEOUT, check_needs
from agenttrace.evaluation.worker_run import packed
from agenttrace.redaction import Redaction
from agenttrace.scoring.checks import checked_scorers
from agenttrace.scoring.isolation import Interrupted
from agenttrace.scoring.redacted import without_secrets_of
from agenttrace.scoring.score_options import option_changes, options_of, versions_of
from agenttrace.store import SQLiteStore, open_store
from agenttrace.store.bulk_scores import BY, SameScore, replace_scores, scores_by_id, traces_by_id
from agenttrace.store.searched import reads_of
from agenttrace.tracing.capture import Capture

SCORED_BY = "eval traces"
"""What the scores' metadata says of who made them."""

PART = 200
"""Traces that a process scores at once; their scores are written in one transaction."""

_NEWEST = 50
"""Stored scores of a scorer's name whose options are compared with its own."""


@dataclass(frozen=True, slots=True)
class Work:
    """What is done with each trace: its scorers, and how. `again`: also where a score is there already."""

    scorers: tuple[Scorer, ...]
    concurrency: int = 1
    timeout: float | None = TIMEOUT
    again: bool = False


class Part(NamedTuple):
    """What became of some traces: their new scores; how many were there, how many needed no new one."""

    rows: list[ScoreRow]
    roots: dict[str, str]
    """The ids of the root spans of the traces that were scored, by the ids of the traces."""
    traces: int
    unchanged: int


@dataclass(slots=True)
class Scored:
    """What `score_traces` did so far: traces looked at, those that needed no new score, outcomes.

    `errors` has by scorer the id of the first trace with an errored score, and why it is. `other_options` has
    by scorer in what its options differ from those of scores of its name that the store has.
    """

    traces: int = 0
    unchanged: int = 0
    outcomes: dict[str, Counter[str]] = field(default_factory=lambda: defaultdict(Counter))
    sums: Counter[str] = field(default_factory=Counter)
    errors: dict[str, tuple[str, str]] = field(default_factory=dict)
    other_options: dict[str, list[str]] = field(default_factory=dict)

    def add(self, part: Part) -> None:
        """Count a part."""
        self.traces += part.traces
        self.unchanged += part.unchanged
        for row in part.rows:
            self.outcomes[row.score.name][row.score.outcome] += 1
            if row.score.outcome == "errored":
                self.errors.setdefault(row.score.name, (row.trace_id or "", row.score.error or ""))
            if row.score.value is not None:
                self.sums[row.score.name] += row.score.value  # type: ignore[assignment] # floats add up, too

    def mean(self, scorer: str) -> float | None:
        """The mean of a scorer's new values, None where there are none."""
        counts = self.outcomes[scorer]
        number = counts["passed"] + counts["failed"]
        return self.sums[scorer] / number if number else None

    def count(self, outcome: str) -> int:
        """How many new scores have an outcome."""
        return sum(counts[outcome] for counts in self.outcomes.values())


def score_traces(
    store: Store,
    scorers: Sequence[Scorer],
    query: Query,
    *,
    model: Any = None,
    limit: int | None = None,
    processes: int | None = None,
    concurrency: int = 1,
    timeout: float | None = TIMEOUT,
    again: bool = False,
    progress: Callable[[Scored], None] = lambda _: None,
) -> Scored:
    """Score the traces that match, the newest first, and keep the scores beside their spans.

    A trace has one score of each scorer with the same name, options and version (a judge's model is an
    option), whether it was made here, for a rule, or by an online evaluation of the trace's root span: where
    it is there, it is not made again, unless it is errored or with `again`, which replaces it. Scores of runs
    and what people said stay as they are. So what was interrupted goes on when it is called again. Each trace
    is scored as an example without expectations, made of its input, output and calls. `processes` is how many
    work, by default one a core; a store in memory is scored in this one. `concurrency` traces are scored at a
    time in each. Little is held in memory.

    Raises:
        ConfigError, ScorerError, ExpectationError: the scorers cannot be used, or not without an expectation.
        StoreError: the store cannot be read or written, or a process died; what was scored is stored.
    """
    work = Work(checked_scorers(scorers, model), concurrency, timeout, again)
    ids = islice((facts.trace_id for facts in reads_of(store).each_match(query)), limit)
    parts = iter(lambda: list(islice(ids, PART)), [])
    first = next(parts, None)
    scored = Scored()
    if first is None:
        return scored
    _check(work, store, first)
    scored.other_options = _other_options(store, work.scorers)
    processes = (os.cpu_count() or 1) if processes is None else processes
    alone = processes == 1 or len(first) < PART or not isinstance(store, SQLiteStore)
    done = _here(store, work, first, parts) if alone else _on_processes(store, work, first, parts, processes)
    try:
        for part in done:
            replace_scores(store, part.rows, part.roots)
            scored.add(part)
            progress(scored)
    except Interrupted:
        raise KeyboardInterrupt from None
    return scored


def _check(work: Work, store: Store, ids: Sequence[str]) -> None:
    """Ask the scorers whether they can do with what a trace says, before there is any work."""
    trace = next(iter(traces_by_id(store, ids[:1])), None)
    if trace is not None:
        check_needs([example_from_trace(trace, outputs=True)], lambda _: work.scorers)


def _other_options(store: Store, scorers: Sequence[Scorer]) -> dict[str, list[str]]:
    """Of each scorer in what its options differ from those of the newest stored scores of its name."""
    changes: dict[str, list[str]] = {}
    watch = optional(store, KeepsWatch)
    if watch is None:
        return changes
    for scorer in scorers:
        newest = watch.stored_scores(name=scorer.name, limit=_NEWEST)
        ids = dict.fromkeys(one.trace_id for one in newest if one.trace_id is not None and one.run_id is None)
        own = Redaction().score(_marked(Score.of(scorer.name, 0.0, 0.0), _marks(scorer))).options
        for row in chain.from_iterable(scores_by_id(store, list(ids)).values()):
            if row.score.name == scorer.name and (difference := option_changes(row.score.options, own)):
                changes.setdefault(scorer.name, difference)
    return changes


def _here(store: Store, work: Work, first: list[str], parts: Iterator[list[str]]) -> Iterator[Part]:
    yield scored_part(store, work, first)
    for ids in parts:
        yield scored_part(store, work, ids)


def _on_processes(
    store: Store, work: Work, first: list[str], parts: Iterator[list[str]], processes: int
) -> Iterator[Part]:
    """Parts as processes finish them; few wait at a time, so that little is held in memory."""
    assert isinstance(store, SQLiteStore)
    text, path = packed(work, "a scorer"), os.path.abspath(store.path)
    pool = ProcessPoolExecutor(processes, mp_context=multiprocessing.get_context("spawn"))
    running: set[Future[Part]] = {pool.submit(part_of_worker, path, text, first)}
    try:
        while running:
            for ids in islice(parts, 2 * processes - len(running)):
                running.add(pool.submit(part_of_worker, path, text, ids))
            done, running = wait(running, return_when=FIRST_COMPLETED)
            yield from (future.result() for future in done)
    except BrokenProcessPool as error:
        raise StoreError(
            f"a process that scored traces died ({error}); what was scored is stored: once more goes on there"
        ) from None
    finally:
        pool.shutdown(wait=False, cancel_futures=True)


def part_of_worker(path: str, work: bytes, ids: Sequence[str]) -> Part:
    """Score traces of the store at a path, in a process of its own."""
    return scored_part(_store_at(path), _work_of(work), ids)


@lru_cache(maxsize=1)
def _store_at(path: str) -> Store:
    return open_store(path)


@lru_cache(maxsize=1)
def _work_of(work: bytes) -> Work:
    loaded: Work = pickle.loads(work)  # noqa: S301 - the process that asks made it
    return loaded


def scored_part(store: Store, work: Work, ids: Sequence[str]) -> Part:
    """Score those of these traces that have no such score yet; nothing is written."""
    before = {} if work.again else scores_by_id(store, ids)
    marks = {scorer.name: _marks(scorer) for scorer in work.scorers}
    like = {name: _marked(Score.of(name, 0.0, 0.0), mark) for name, mark in marks.items()}
    roots: dict[str, str] = {}
    same = SameScore(roots)
    rows: list[ScoreRow] = []
    traces = unchanged = 0
    by_example: dict[str, Trace] = {}
    wanted: dict[str, tuple[Scorer, ...]] = {}
    examples: list[Example] = []
    for trace in traces_by_id(store, ids):
        traces += 1
        if trace.root is not None:
            roots[trace.trace_id] = trace.root.span_id
        there = {same(row) for row in before.get(trace.trace_id, ()) if row.score.outcome != "errored"}
        missing = tuple(
            scorer
            for scorer in work.scorers
            if same(ScoreRow(trace.trace_id, None, like[scorer.name])) not in there
        )
        unchanged += not missing
        if missing:
            example = example_from_trace(trace, outputs=True)
            examples.append(example)
            by_example[example.example_id], wanted[example.example_id] = trace, missing
    if examples:
        engine = _engine(work, examples, by_example, wanted)
        engine.run()
        redaction = Redaction()
        for result in engine.results():
            scored = _scores_of(result, wanted[result.example.example_id])
            marked = [_marked(score, marks[scorer.name]) for scorer, score in scored]
            shown = map(redaction.score, without_secrets_of(marked, result.example, redaction))
            rows += (ScoreRow(result.trace_id, None, score) for score in shown)
    return Part(rows, roots, traces, unchanged)


def _scores_of(result: ScoringResult, scorers: Sequence[Scorer]) -> list[tuple[Scorer, Score]]:
    """Each scorer with its score; errored ones where the trace's values broke the engine."""
    if result.scores:
        return list(zip(scorers, result.scores, strict=True))
    return [(scorer, Score.errored(scorer.name, scorer.threshold, str(result.error))) for scorer in scorers]


def _engine(
    work: Work,
    examples: list[Example],
    traces: dict[str, Trace],
    wanted: dict[str, tuple[Scorer, ...]],
) -> Engine:
    return Engine(
        examples=tuple(examples),
        scorers=work.scorers,
        scorers_of=lambda example: wanted[example.example_id],
        target=None,
        run_of=lambda example: Run(example, traces[example.example_id]),
        capture=Capture,
        concurrency=work.concurrency,
        timeout=work.timeout,
        trials=1,
        executor=None,
        progress=None,
    )


_Marks = tuple[dict[str, Any], dict[str, Any]]
"""The options of a scorer, and the metadata of its scores."""


def _marks(scorer: Scorer) -> _Marks:
    return options_of(scorer), {**versions_of(scorer, Example()), BY: SCORED_BY}


def _marked(score: Score, marks: _Marks) -> Score:
    return changed(score, options=marks[0], metadata={**score.metadata, **marks[1]})
