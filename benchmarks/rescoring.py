"""What scoring stored traces anew costs: reading them, and their scores.

A store in a file with traces of ten spans, nine of them tool calls. *in a stream* is `store.iter_traces()`,
*one by one* `store.trace(id)` for each. `ToolOrderScorer` compares the nine calls with their arguments; of
the runs that fail, one argument is another one. Times are those of the processor, of one thread, the best of
the repetitions; instructions stand beside them where this machine lets a process count its own. What a
million traces take is worked out from these.

    python benchmarks/rescoring.py [--quick] [--json]
"""

from __future__ import annotations

import json
import tempfile
import time
from collections.abc import Callable, Iterator
from itertools import islice
from pathlib import Path
from typing import Any

from agenttrace import Example, ToolOrderScorer
from agenttrace.core.span import Span
from agenttrace.core.trace import Trace
from agenttrace.store import SQLiteStore
from benchmarks.counters import counted
from benchmarks.options import parse
from benchmarks.percentiles import figure, markdown

CALLS = 9
MILLION = 1_000_000
BUDGET_SECONDS = 90.0
_AT_ONCE = 500


def measure(*, quick: bool) -> dict[str, Any]:
    """Seconds, and instructions where they can be counted, of one trace, by what was done with it."""
    traces, repeat = (1_000, 2) if quick else (20_000, 5)
    with tempfile.TemporaryDirectory() as directory:
        store = SQLiteStore(Path(directory) / "traces.db", max_bytes=1 << 40)
        fill(store, traces)
        few = traces // 10
        works = {
            "read in a stream": lambda: _take(store.iter_traces()),
            "read one by one": lambda: _take(_one_by_one(store, few)),
            "read in a stream and scored: passes": lambda: _score(store, _example(-1), passes=True),
            "read in a stream and scored: fails": lambda: _score(store, _example(4), passes=False),
            "the same, and its diff read": lambda: _score(
                store, _example(4), passes=False, most=traces // 10
            ),
        }
        found = {name: _measure(work, repeat) for name, work in works.items()}
        store.close()
    return {"traces": traces, "spans": CALLS + 1, "rows": found}


def fill(store: SQLiteStore, traces: int) -> None:
    """Store so many traces, each of an agent that makes nine calls."""
    for first in range(1, traces + 1, _AT_ONCE):
        numbers = range(first, min(first + _AT_ONCE, traces + 1))
        store.export([span for number in numbers for span in _spans(number)])


def _spans(number: int) -> Iterator[Span]:
    key, start = number << 64 | 1, number * 1_000_000
    yield Span(
        trace_key=key, span_key=1, name="agent", span_type="agent", project="bench", start_ns=start,
        end_ns=start + 1_000, input={"prompt": "Where to?"}, output="Paris",
    )  # fmt: skip
    for at in range(CALLS):
        yield Span(
            trace_key=key, span_key=at + 2, parent_key=1, index=at + 1, name=f"tool_{at % 5}",
            span_type="tool", project="bench", start_ns=start + at * 100 + 1, end_ns=start + at * 100 + 90,
            input={"q": f"x{at}", "n": at}, output=f"result {at}",
        )  # fmt: skip


def _example(differing: int) -> Example:
    calls = [
        {"tool_name": f"tool_{at % 5}", "parameters": {"q": f"x{at}", "n": -1 if at == differing else at}}
        for at in range(CALLS)
    ]
    return Example(expected_tools=calls)


def _take(traces: Iterator[Trace]) -> int:
    return sum(1 for _ in traces)


def _one_by_one(store: SQLiteStore, most: int) -> Iterator[Trace]:
    for line in store.traces(limit=most):
        trace = store.trace(line.trace_id)
        assert trace is not None
        yield trace


def _score(store: SQLiteStore, example: Example, *, passes: bool, most: int | None = None) -> int:
    """Score the stored traces; with `most` so many of them, and read each diff."""
    scorer, count = ToolOrderScorer(), 0
    for trace in islice(store.iter_traces(limit=most), most):
        score = scorer.score(example, trace)
        assert score.passed == passes
        assert most is None or score.diff
        count += 1
    return count


def _measure(work: Callable[[], int], repeat: int) -> dict[str, float | None]:
    fastest, count = float("inf"), work()
    for _ in range(repeat):
        began = time.thread_time()
        work()
        fastest = min(fastest, time.thread_time() - began)
    instructions = counted(work, 1)
    return {
        "seconds": fastest / count,
        "instructions": None if instructions is None else instructions / count,
    }


def report(found: dict[str, Any]) -> str:
    """The table as Markdown."""
    rows = []
    for name, row in found["rows"].items():
        counted_here = row["instructions"]
        rows.append(
            [
                name,
                figure(row["seconds"] * 1e6),
                "—" if counted_here is None else f"{counted_here / 1000:,.0f} k",
                f"{row['seconds'] * MILLION:,.0f} s",
            ]
        )
    million = found["rows"]["read in a stream and scored: passes"]["seconds"] * MILLION
    met = "met" if million <= BUDGET_SECONDS else "not met"
    promise = f"a million stored traces of {found['spans']} spans scored anew in ≤ {BUDGET_SECONDS:.0f} s"
    extrapolated = f"{million:,.0f} s, worked out from {found['traces']:,}"
    return "\n\n".join(
        [
            markdown(["budget 7", "measured", ""], [[promise, extrapolated, met]]),
            markdown(["one trace", "µs", "instructions", "a million"], rows),
        ]
    )


if __name__ == "__main__":
    options = parse(__doc__)
    measured = measure(quick=options.quick)
    print(json.dumps(measured) if options.json else report(measured))
