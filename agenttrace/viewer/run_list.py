"""The page of evaluation runs: each with its counts, and a line of pass rates for each name."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from agenttrace.core.jsonable import clean_text
from agenttrace.core.summary import RunSummary
from agenttrace.viewer.reads import Asked, Reads
from agenttrace.viewer.render import render
from agenttrace.viewer.words import column_unit

ROWS = 50
_HISTORY = 300


class RunRow(NamedTuple):
    """A run, the pass rates of its name up to it as the path of an SVG, and the run of the name before."""

    run: RunSummary
    total: int
    spark: str
    before: RunSummary | None
    branch: str
    commit: str


def run_list(reads: Reads, asked: Asked) -> tuple[int, str]:
    """The newest runs, of ``project`` where that is given, from the one with the number ``from``."""
    start = int(asked["from"]) if asked.get("from", "").isdecimal() and len(asked["from"]) < 9 else 0
    runs = reads.store.runs(project=clean_text(asked.get("project", "")) or None, limit=start + _HISTORY)
    rows = [_row(run, runs[place + 1 :]) for place, run in enumerate(runs)][start : start + ROWS]
    return 200, render(
        "run_list.html",
        reads,
        rows=rows,
        start=start,
        after=start + ROWS if len(runs) > start + ROWS else None,
        project=asked.get("project", ""),
        path=reads.path,
        unit=column_unit(row.run.duration * 1e9 for row in rows),
    )


def _row(run: RunSummary, older: Sequence[RunSummary]) -> RunRow:
    same = [other for other in older if other.name == run.name and other.project == run.project]
    git = run.metadata.get("git")
    known = git if isinstance(git, dict) else {}
    history = [run, *same[:19]][::-1]
    return RunRow(
        run,
        total_of(run),
        spark_of([rate_of(each) for each in history]),
        same[0] if same else None,
        str(known.get("branch") or ""),
        str(known.get("commit") or "")[:8],
    )


def total_of(run: RunSummary) -> int:
    """The results of a run that were run."""
    return run.passed + run.failed + run.errored


def rate_of(run: RunSummary) -> float:
    """The share of results that passed."""
    return run.passed / max(total_of(run), 1)


def spark_of(rates: Sequence[float]) -> str:
    """Rates from 0 to 1 as a line in a field of 100 by 20."""
    if len(rates) < 2:
        return ""
    step = 100 / (len(rates) - 1)
    return "M" + "L".join(f"{n * step:.1f} {19 - 18 * rate:.1f}" for n, rate in enumerate(rates))
