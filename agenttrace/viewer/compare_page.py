"""The page of two runs: which examples got worse, what they called differently, whether it may be chance."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from agenttrace.core.query import Labelled, Query
from agenttrace.core.run_comparison import (
    CHANGE_KINDS,
    ChangeKind,
    ExampleChange,
    ExampleRecord,
    RunComparison,
    ValueChange,
)
from agenttrace.core.trace_facts import TraceFacts
from agenttrace.reports.run_comparison import chance_text, headline_text, verdicts_text
from agenttrace.runs.compare import compare_runs
from agenttrace.runs.record import record_of_run
from agenttrace.runs.reference import find_run
from agenttrace.viewer.missing_page import no_run
from agenttrace.viewer.reads import Asked, Reads
from agenttrace.viewer.render import render
from agenttrace.viewer.words import Trajectory, trajectory

ROWS = 60
_BETTER = ("better", "steadier", "same")
_MARKS: Mapping[str, str] = {"✓": "matched", "~": "differs", "-": "missing", "+": "extra", "!": "forbidden"}
_DIFF_LINES = 60


class SideView(NamedTuple):
    """An example in one of the two runs: its trials, and the calls of one that failed where there is one."""

    record: ExampleRecord | None
    trace_id: str | None
    calls: Trajectory | None


class ChangeView(NamedTuple):
    """An example in both runs; `parting` is the place of the first call that is another one."""

    change: ExampleChange
    values: Sequence[ValueChange]
    before: SideView
    after: SideView
    parting: int
    diff: Sequence[tuple[str, str, Sequence[tuple[str, str]]]]


def compare_page(reads: Reads, asked: Asked) -> tuple[int, str]:
    """The run ``b`` (the newest) against ``a``; *baseline* is the run of the same name before it.

    ``show`` keeps one kind of change, or *all*; ``from`` pages.
    """
    after = find_run(reads.store, asked.get("b") or "last")
    if after is None:
        return no_run(reads, asked.get("b") or "last")
    before = _before(reads, asked.get("a") or "baseline", after)
    if before is None:
        return no_run(reads, asked.get("a") or "the run of the same name before it")
    comparison = compare_runs(record_of_run(before), record_of_run(after))
    start = int(asked["from"]) if asked.get("from", "").isdecimal() and len(asked["from"]) < 9 else 0
    context = compare_context(reads, comparison, before, after, asked.get("show", ""), start)
    return 200, render("compare_page.html", reads, **context)


def _before(reads: Reads, wanted: str, after: Mapping[str, Any]) -> dict[str, Any] | None:
    if wanted != "baseline":
        return find_run(reads.store, wanted)
    for run in reads.store.runs(project=after["project"], limit=1_000):
        is_earlier = run.started_ns < after["started_ns"] and run.run_id != after["run_id"]
        if is_earlier and run.name == after["name"]:
            return reads.store.run(run.run_id)
    return None


def compare_context(
    reads: Reads,
    comparison: RunComparison,
    before: Mapping[str, Any],
    after: Mapping[str, Any],
    show: str = "",
    start: int = 0,
    rows: int = ROWS,
) -> dict[str, Any]:
    """What a comparison's page is drawn from."""
    chosen = [change for change in comparison.changes if _is_shown(change.kind, show)]
    sides = [_Side(reads, run) for run in (before, after)]
    views = [_view(change, comparison, *sides) for change in chosen[start : start + rows]]
    changed = sum(_is_shown(change.kind, "") for change in comparison.changes)
    return {
        "comparison": comparison,
        "headline": headline_text(comparison),
        "verdicts": verdicts_text(comparison),
        "scorers": [(scorer, chance_text(scorer)) for scorer in comparison.scorers],
        "tabs": [
            ("", "Changed", changed),
            *[
                (kind, kind.replace("_", " ").capitalize(), comparison.counts[kind])
                for kind in CHANGE_KINDS
                if kind in comparison.counts
            ],
            ("all", "All", len(comparison.changes)),
        ],
        "show": show,
        "changes": views,
        "start": start,
        "after_rows": start + rows if start + rows < len(chosen) else None,
        "passed": [
            sum(result["outcome"] == "passed" for result in run["results"]) for run in (before, after)
        ],
        "totals": [len(run["results"]) for run in (before, after)],
    }


def _is_shown(kind: ChangeKind, show: str) -> bool:
    return show == "all" or (kind != "same" if not show else kind == show)


class _Side:
    """One of the two runs: its trials by example, and what was called in each."""

    def __init__(self, reads: Reads, run: Mapping[str, Any]) -> None:
        self._trials: dict[int, list[Mapping[str, Any]]] = {}
        for result in run["results"]:
            self._trials.setdefault(result["position"], []).append(result)
        query = Query((Labelled("run", (run["run_id"],)),))
        self._facts: dict[str, TraceFacts] = {
            facts.trace_id: facts for facts in reads.traces.each_match(query)
        }

    def view(self, record: ExampleRecord | None) -> SideView:
        if record is None:
            return SideView(None, None, None)
        trials = self._trials.get(record.position, [])
        shown = next(
            (trial for trial in trials if trial["outcome"] != "passed"), trials[0] if trials else None
        )
        trace_id = None if shown is None else shown["trace_id"]
        facts = self._facts.get(trace_id or "")
        return SideView(
            record, trace_id if facts else None, None if facts is None else trajectory(facts.calls, 90)
        )


def _view(change: ExampleChange, comparison: RunComparison, old: _Side, new: _Side) -> ChangeView:
    before, after = old.view(change.before), new.view(change.after)
    values = change.value_changes(comparison.after.lower_is_better)
    record = change.after
    diffs = {} if record is None or change.kind in _BETTER else record.diffs
    diff = [
        (name, record.why or "" if record else "", _lines(text)) for name, text in list(diffs.items())[:3]
    ]
    return ChangeView(change, values, before, after, _parting(before.calls, after.calls), diff)


def _lines(text: str) -> list[tuple[str, str]]:
    lines = text.strip("\n").split("\n")[:_DIFF_LINES]
    return [(_MARKS.get(line.strip()[:1], "same"), line) for line in lines]


def _parting(one: Trajectory | None, other: Trajectory | None) -> int:
    """The place of the first call that is another one; -1 where there is none."""
    if one is None or other is None:
        return -1
    for place in range(max(len(one.calls), len(other.calls))):
        if one.calls[place : place + 1] != other.calls[place : place + 1]:
            return place
    return -1
