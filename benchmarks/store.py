"""How fast spans are stored, and what they weigh.

Each row stores the same finished spans, made beforehand, through `export` alone: the recorder and the
pipeline are not part of it. *small*: a tool call with two scalar arguments and a short text. *typical*: a
search with a query, filters and five results (about 650 bytes of JSON). Traces have ten spans unless a row
says otherwise; ids within a trace ascend, as the recorder gives them. Each figure is the best of the
repetitions: other processes on the machine only ever slow one down.

    python benchmarks/store.py [--spans 60000] [--repeat 5]
"""

from __future__ import annotations

import argparse
import os
import tempfile
import time
import tracemalloc
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any

from agenttrace.core.protocols import Store
from agenttrace.core.span import Span
from agenttrace.core.tool import Parameter, ToolDefinition
from agenttrace.store import MemoryStore, SQLiteStore

WEATHER = ToolDefinition("get_weather", (Parameter("city"), Parameter("days", default=3)))
SEARCH = ToolDefinition("search", (Parameter("query"), Parameter("filters"), Parameter("limit", default=5)))


@dataclass(frozen=True)
class Row:
    """One line of the table: rates in spans a second, `cpu_us` of the whole process a span."""

    name: str
    spans_per_s: float
    cpu_us: float
    bytes_per_span: float | None


def small(number: int) -> dict[str, Any]:
    return {
        "name": "get_weather",
        "tool": WEATHER,
        "input": {"city": "Paris", "days": number % 7},
        "output": f"Sunny in Paris for {number % 7} days",
    }


def typical(number: int) -> dict[str, Any]:
    results = [
        {
            "title": f"Result {i} of {number}",
            "url": f"https://example.org/{number}/{i}",
            "score": 0.9 - i / 10,
        }
        for i in range(5)
    ]
    filters = {"language": "en", "after": "2024-01-01", "kinds": ["article", "report"], "safe": True}
    return {
        "name": "search",
        "tool": SEARCH,
        "input": {"query": f"trade winds of {number}", "filters": filters, "limit": 5},
        "output": results,
    }


def make_spans(count: int, payload: Callable[[int], dict[str, Any]], per_trace: int = 10) -> list[Span]:
    """Finished spans, children before their root, as a recorder hands them over."""
    random = Random(7)
    now = time.time_ns()
    spans: list[Span] = []
    for first in range(0, count, per_trace):
        trace, root = random.getrandbits(128), random.getrandbits(63)
        for index in range(1, per_trace):
            start = now + (first + index) * 1000
            spans.append(
                Span(
                    trace_key=trace, span_key=root + index, parent_key=root, index=index,
                    span_type="tool", start_ns=start, end_ns=start + 700, project="bench",
                    **payload(first + index),
                )
            )  # fmt: skip
        spans.append(
            Span(
                trace_key=trace, span_key=root, name="agent", span_type="agent", project="bench",
                start_ns=now + first * 1000, end_ns=now + (first + per_trace) * 1000,
                input={"prompt": "What will the weather be?"}, output="Sunny",
            )
        )  # fmt: skip
    return spans


def measure(name: str, make: Callable[[], Store], spans: list[Span], batch: int, repeat: int) -> Row:
    rate, cpu, size = 0.0, float("inf"), None
    for _ in range(repeat):
        store = make()
        store.export(spans[:1])  # opens the file, makes the tables
        wall, used = time.perf_counter(), time.process_time()
        for start in range(0, len(spans), batch):
            store.export(spans[start : start + batch])
        rate = max(rate, len(spans) / (time.perf_counter() - wall))
        cpu = min(cpu, (time.process_time() - used) / len(spans) * 1e6)
        store.close()
        path = getattr(store, "path", None)
        if path is not None:
            size = os.path.getsize(path) / len(spans)
            os.unlink(path)
    return Row(name, rate, cpu, size)


def queued_bytes(payload: Callable[[int], dict[str, Any]], count: int = 5_000) -> float:
    """Memory that one finished span holds while it waits, its arguments and output included."""
    tracemalloc.start()
    before, _ = tracemalloc.get_traced_memory()
    kept = make_spans(count, payload)
    after, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    return (after - before) / len(kept)


def rows(spans: int = 60_000, repeat: int = 5) -> list[Row]:
    """Measure everything; takes about half a minute with the defaults."""
    with tempfile.TemporaryDirectory() as directory:

        def sqlite() -> Store:
            return SQLiteStore(Path(directory) / "bench.db")

        little, usual = make_spans(spans, small), make_spans(spans // 3, typical)
        pairs, alone = make_spans(spans // 3, small, 2), make_spans(spans // 3, small, 1)
        return [
            measure("SQLite, small, batches of 5,000", sqlite, little, 5_000, repeat),
            measure("SQLite, small, batches of 1,000", sqlite, little, 1_000, repeat),
            measure("SQLite, small, batches of 100", sqlite, little[: spans // 3], 100, repeat),
            measure("SQLite, small, 2 spans a trace, 1,000", sqlite, pairs, 1_000, repeat),
            measure("SQLite, small, 1 span a trace, 1,000", sqlite, alone, 1_000, repeat),
            measure("SQLite, small, 1 trace, 1,000", sqlite, make_spans(spans, small, spans), 1_000, repeat),
            measure("SQLite, typical, batches of 1,000", sqlite, usual, 1_000, repeat),
            measure("memory, small, batches of 1,000", MemoryStore, little, 1_000, repeat),
            measure("memory, typical, batches of 1,000", MemoryStore, usual, 1_000, repeat),
        ]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--spans", type=int, default=60_000)
    parser.add_argument("--repeat", type=int, default=5)
    options = parser.parse_args()
    print(f"{'':40} {'spans/s':>10} {'CPU µs/span':>12} {'bytes/span':>11}")
    for row in rows(options.spans, options.repeat):
        size = "" if row.bytes_per_span is None else f"{row.bytes_per_span:.0f}"
        print(f"{row.name:40} {row.spans_per_s:>10,.0f} {row.cpu_us:>12.2f} {size:>11}")
    print(
        f"memory of a waiting span: small {queued_bytes(small):.0f} B, typical {queued_bytes(typical):.0f} B"
    )


if __name__ == "__main__":
    main()
