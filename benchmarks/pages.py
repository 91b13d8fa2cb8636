"""What the pages cost: the viewer as its own process, over a store of realistic traces.

The store is that of `benchmarks/index.py`, with one trace of 5,000 and one of 100,000 spans beside it. Pages
are asked for over HTTP, one after the other, with an index that is there. Milliseconds are wall time at the
client, processor time that of the viewer's process: where others use the machine, read the latter. Eight
open pages ask for what has changed and for the list, over and over, while another process records as fast as
it can into the same file, or while the instructions of a recorded call are counted.

    python benchmarks/pages.py [--quick] [--json]
"""

from __future__ import annotations

import http.client
import json
import os
import re
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from agenttrace.core.span import Span, SpanError
from agenttrace.store import SQLiteStore
from benchmarks.counters import CountingFailed, missing
from benchmarks.counters import run as counted
from benchmarks.index import fill
from benchmarks.options import parse as options_of
from benchmarks.options import root
from benchmarks.percentiles import figure, markdown, median, percentile
from benchmarks.processes import measure_processes

QUICK, WHOLE = 5_000, 90_000
"""How many traces the store has."""

LONG, LONGEST = 5_000, 100_000
"""Spans of the two long traces."""

OPEN_PAGES = 8

RECORDED = 60_000
"""Spans that are recorded beside the open pages."""

_BUDGETS = {
    "start": 500, "server": 100, "worst": 250, "rss": 80, "bytes": 100, "million": 6, "new": 10, "share": 12,
}  # fmt: skip


@dataclass(frozen=True)
class Viewer:
    """A viewer that runs: its port and its process."""

    port: int
    pid: int
    started_ms: float

    def get(self, path: str) -> bytes:
        """The body of a page.

        Raises:
            RuntimeError: another status than 200.
        """
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        try:
            connection.request("GET", path)
            answer = connection.getresponse()
            body = answer.read()
            if answer.status not in (200, 304):
                raise RuntimeError(f"{path}: {answer.status}")
            return body
        finally:
            connection.close()

    def used_ms(self) -> float:
        """Processor time so far."""
        fields = Path(f"/proc/{self.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK") * 1e3

    def resident_mb(self) -> float:
        """The memory that it has now."""
        text = Path(f"/proc/{self.pid}/status").read_text()
        return int(re.findall(r"VmRSS:\s+(\d+)", text)[0]) / 1e3


@contextmanager
def viewer(store: str) -> Iterator[Viewer]:
    """A viewer of a store, until the block ends; `started_ms` is until its first page was there."""
    began = time.perf_counter()
    command = [sys.executable, "-m", "agenttrace", "view", "--no-open", "--no-token", "--store", store]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, cwd=root()
    ) as process:
        try:
            line = process.stdout.readline() if process.stdout else ""
            port = int(re.findall(r"127\.0\.0\.1:(\d+)", line)[0])
            waiting = Viewer(port, process.pid, 0.0)
            waiting.get("/runs")
            yield Viewer(port, process.pid, (time.perf_counter() - began) * 1e3)
        finally:
            process.terminate()


@contextmanager
def open_pages(shown: Viewer, pages: int = OPEN_PAGES) -> Iterator[list[int]]:
    """So many clients ask for changes and for the list, over and over; the list has one entry an answer."""
    done = threading.Event()
    answers: list[int] = []

    def look() -> None:
        while not done.is_set():
            for path in ("/api/v1/changes?q=", "/traces"):
                try:
                    answers.append(len(shown.get(path)))
                except (OSError, RuntimeError):
                    pass  # the file is not there yet, or busy: the page says so, and asks again
            done.wait(0.2)

    threads = [threading.Thread(target=look) for _ in range(pages)]
    for thread in threads:
        thread.start()
    try:
        yield answers
    finally:
        done.set()
        for thread in threads:
            thread.join()


def long_trace(key: int, spans: int) -> Iterator[Span]:
    """A long run in steps of 25 calls, with a kilobyte of values each; a few failed."""
    for number in range(1, spans + 1):
        is_step = number % 25 == 0
        parent = None if number == 1 else 1 if is_step or number < 25 else number // 25 * 25
        error = SpanError("PaymentError", "the card was refused") if number % 1_997 == 0 else None
        start = time.time_ns() - 10**12 + number * 1_000_000
        yield Span(
            trace_key=key, span_key=number, parent_key=parent, index=number, name=f"step_{number % 9}",
            span_type="agent" if number == 1 else "chain" if is_step else ("tool", "llm")[number % 2],
            project="shop", start_ns=start, end_ns=start + 900_000,
            input={"order_id": number, "text": "words of a customer " * 20},
            output={"items": [{"sku": f"sku-{n}", "price": n / 2} for n in range(12)]},
            status="ok" if error is None else "error", error=error,
        )  # fmt: skip


def addresses(store: SQLiteStore) -> dict[str, str]:
    """The pages that are asked for."""
    newest = next(line.trace_id for line in store.traces(limit=5) if line.spans < LONG)
    return {
        "traces": "/traces",
        "traces, a tool failed for a customer": "/traces?q=failed%3Arefund+customer%3Acustomer-7",
        "traces, nothing matches": "/traces?q=customer%3Anobody",
        "traces, a score and a duration": "/traces?q=score%3C0.5+dur%3E10ms",
        "traces, dearest first": "/traces?sort=-cost",
        "a trace of 12 spans": f"/t/{newest}",
        f"a trace of {LONG:,} spans": f"/t/{LONG:032x}",
        f"a trace of {LONGEST:,} spans": f"/t/{LONGEST:032x}",
        "a span": f"/t/{LONG:032x}/s/{40:016x}",
        "two traces": f"/t/{newest}/vs/{newest}",
        "a session": "/session/session-7",
        "runs": "/runs",
        "scores": "/scores",
        "a score": "/scores/Tool%20Order",
        "tools": "/tools",
        "health": "/health",
        "changes": "/api/v1/changes?q=",
    }


def timed(shown: Viewer, path: str, times: int) -> dict[str, float]:
    """What a page costs, asked for again and again."""
    size = len(shown.get(path))
    used = shown.used_ms()
    waited = []
    for _ in range(times):
        began = time.perf_counter()
        shown.get(path)
        waited.append((time.perf_counter() - began) * 1e3)
    return {
        "median_ms": median(waited),
        "p99_ms": percentile(waited, 0.99),
        "cpu_ms": (shown.used_ms() - used) / times,
        "kb": size / 1e3,
    }


def filling(store: SQLiteStore, traces: int, spans: int) -> dict[str, Any]:
    """What the side index costs."""
    reads = store.trace_reads()
    wall, used = time.perf_counter(), time.process_time()
    reads.refresh()
    built = {
        "wall_s": (time.perf_counter() - wall) / spans * 1e6,
        "cpu_s": (time.process_time() - used) / spans * 1e6,
    }
    share = os.path.getsize(store.path + "-index") / os.path.getsize(store.path)
    new = []
    for turn in range(7):
        fill(store, traces + turn * 100, 100)
        wall, used = time.perf_counter(), time.process_time()
        reads.refresh()
        new.append(((time.perf_counter() - wall) * 1e3, (time.process_time() - used) * 1e3))
    return {
        "built": built,
        "share": share,
        "new_wall_ms": median(wall for wall, _ in new),
        "new_cpu_ms": median(used for _, used in new),
    }


def beside(directory: Path, spans: int) -> dict[str, Any]:
    """Recording with nobody looking and with open pages: what is stored, and how fast."""
    found: dict[str, Any] = {}
    for name, pages in (("alone", 0), ("beside", OPEN_PAGES)):
        place = directory / name
        place.mkdir()
        with viewer(str(place / "traces.db")) as shown, open_pages(shown, pages) as answers:
            together = measure_processes(place, 1, spans)
            found[name] = {
                "made": together.made,
                "stored": together.stored,
                "spans_per_s": together.made / together.seconds,
                "answers": len(answers),
            }
    return found


def instructions(directory: Path) -> dict[str, float] | str:
    """Instructions of a recorded call on the caller's thread, alone and beside open pages; or why not."""
    reason = missing("callgrind")
    if reason is not None:
        return reason
    found = {}
    for name, pages in (("alone", 0), ("beside", OPEN_PAGES)):
        place = directory / f"counted {name}"
        place.mkdir()
        with viewer(str(place / "traces.db")) as shown, open_pages(shown, pages):
            try:
                printed, readings = counted("callgrind", "benchmarks.call_beside", str(place))
            except CountingFailed as error:
                return str(error)
        calls = printed["calls"]
        once, twice = (readings[2 * n + 1] - readings[2 * n] for n in (0, 1))
        found[name] = (twice - once) / calls
    return found


def measure(*, quick: bool) -> dict[str, Any]:
    """Every figure, over a store of about a million spans, or of 60,000."""
    traces = QUICK if quick else WHOLE
    load = os.getloadavg()[0]
    with tempfile.TemporaryDirectory() as name:
        directory = Path(name)
        store = SQLiteStore(directory / "traces.db")
        spans = fill(store, 0, traces)
        for length in (LONG, LONGEST):
            store.export(list(long_trace(length, length)))
            spans += length
        index = filling(store, traces, spans)
        with viewer(store.path) as shown:
            fresh = shown.resident_mb()
            pages = {
                page: timed(shown, path, 5 if f"{LONGEST:,}" in page else 20 if quick else 60)
                for page, path in addresses(store).items()
            }
            memory = shown.resident_mb()
        store.close()
        return {
            "spans": spans,
            "load": [load, os.getloadavg()[0]],
            "started_ms": shown.started_ms,
            "resident_mb": [fresh, memory],
            "index": index,
            "pages": pages,
            "beside": beside(directory, RECORDED // (4 if quick else 1)),
            "instructions": instructions(directory),
        }


def report(found: dict[str, Any]) -> str:
    """The tables as Markdown."""
    index, together, b = found["index"], found["beside"], _BUDGETS
    fresh, memory = found["resident_mb"]
    calls = found["instructions"]
    costs = [
        ["start to the first page, ms", figure(found["started_ms"]), f"≤ {b['start']}"],
        ["resident after the first page, after all, MB", f"{fresh:.0f}, {memory:.0f}", f"≤ {b['rss']}"],
        ["index, processor seconds a million spans", figure(index["built"]["cpu_s"]), f"≤ {b['million']}"],
        ["index, seconds a million spans", figure(index["built"]["wall_s"]), f"≤ {b['million']}"],
        ["index, 100 new traces, processor ms", figure(index["new_cpu_ms"]), f"≤ {b['new']}"],
        ["index, 100 new traces, ms", figure(index["new_wall_ms"]), f"≤ {b['new']}"],
        ["index, share of the store", f"{index['share']:.1%}", f"≤ {b['share']} %"],
        *(
            [
                f"spans recorded a second, {name}{f' {OPEN_PAGES} pages' * (name != 'alone')} (stored)",
                f"{figure(each['spans_per_s'])} ({each['stored']:,} of {each['made']:,})",
                "none lost",
            ]
            for name, each in together.items()
        ),
        [
            f"instructions of a call, alone and beside {OPEN_PAGES} open pages",
            calls if isinstance(calls, str) else f"{calls['alone']:,.0f}, {calls['beside']:,.0f}",
            "± 2 %",
        ],
    ]
    rows = [
        [name, *(figure(page[key]) for key in ("median_ms", "p99_ms", "cpu_ms", "kb"))]
        for name, page in found["pages"].items()
    ]
    load = " before, ".join(f"{value:.1f}" for value in found["load"])
    header = [f"ms: median (≤ {b['server']})", f"99th (≤ {b['worst']})", "processor", f"KB (≤ {b['bytes']})"]
    return "\n\n".join(
        [
            f"{found['spans']:,} spans; load average {load} after.",
            markdown(["the viewer", "", "budget"], costs),
            markdown(["a page", *header], rows),
        ]
    )


if __name__ == "__main__":
    options = options_of(__doc__)
    measured = measure(quick=options.quick)
    print(json.dumps(measured) if options.json else report(measured))
