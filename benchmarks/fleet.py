"""What a store takes from several processes at once, from the wire, as a queue, and from a copy.

    python benchmarks/fleet.py STORE [--spans 50000] [--writers 4] [--processes 2] [--json]

STORE is a file that is not there yet, or the address of an empty schema on a PostgreSQL server. Everything
runs on this machine, the server too where it is here: what sends takes from what stores. *own spans*:
finished spans of a tool call with two small arguments, ten a trace, in batches of 1,000, by processes that
do nothing else. *from the wire*: the same spans as OTLP in protobuf, 500 a request, to one `agenttrace
serve`; the sender's requests are made beforehand; `processor` is that of the service, in microseconds a span.
*claims*: evaluations claimed 20 at a time and settled, with one score each. *copy*: `agenttrace store copy`
from the store to a new file, and once more, when all is there.
"""

from __future__ import annotations

import argparse
import http.client
import json
import resource
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path
from subprocess import PIPE
from typing import IO, Any, cast

from agenttrace.core.batch import ScoreRow
from agenttrace.core.pending import WorkItem
from agenttrace.core.score import Score
from agenttrace.exporters.otlp_encoding import encode
from agenttrace.exporters.otlp_request import trace_request
from agenttrace.store import open_store
from agenttrace.store.copying import copy_store
from agenttrace.viewer.serving import listen
from benchmarks.store import make_spans, small

BATCH, A_REQUEST, AT_ONCE, SENDERS = 1_000, 500, 20, 4


def write(where: str, count: int, seed: int) -> None:
    """What one writing process does: it says when it is ready, and begins when it is told."""
    spans = make_spans(count, small)
    for span in spans:
        span.trace_key ^= seed << 64
    store = open_store(where)
    store.export(spans[:1])
    print("ready", flush=True)
    sys.stdin.readline()
    for start in range(0, count, BATCH):
        store.export(spans[start : start + BATCH])
    if not store.flush(60.0):
        raise SystemExit("not all of it is stored")
    store.close()


def own_spans(where: str, writers: int, spans: int) -> dict[str, Any]:
    """Spans a second of several processes that write at once, and whether all are there."""
    before = stored_spans(where)
    program = [sys.executable, "-m", "benchmarks.fleet", "--write", where, str(spans)]
    seeds = range(writers * 100 + 1, writers * 101 + 1)
    with ExitStack() as ends:
        processes = [
            ends.enter_context(subprocess.Popen([*program, str(seed)], stdin=PIPE, stdout=PIPE, text=True))
            for seed in seeds
        ]
        for process in processes:
            cast(IO[str], process.stdout).readline()
        began = time.perf_counter()
        for process in processes:
            print(file=process.stdin, flush=True)
        codes = [process.wait(600) for process in processes]
        seconds = time.perf_counter() - began
    if any(codes):
        raise RuntimeError(f"writers ended with {codes}")
    stored = stored_spans(where) - before
    return {"spans/s": round(writers * spans / seconds), "made": writers * spans, "stored": stored}


def stored_spans(where: str) -> int:
    """How many spans a store has."""
    with closing(open_store(where)) as store:
        rows = store.table_rows()  # type: ignore[attr-defined]  # of a file, or of a server
        table = "span_rows" if rows.kind == "server" else "all_span_rows"
        counted = rows.select(f"SELECT count(*) FROM {table}")
    return int(counted[0][0]) if counted else 0


@contextmanager
def service(where: str, processes: int) -> Iterator[int]:
    """One `agenttrace serve` over the store, with processes that store beside it; gives its port."""
    with listen("127.0.0.1", 0) as free:
        port = int(free.getsockname()[1])
    program = [
        sys.executable,
        "-m",
        "agenttrace",
        "serve",
        "--store",
        where,
        "--port",
        str(port),
        "--no-token",
        "--processes",
        str(processes),
    ]
    process = subprocess.Popen(program, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        until = time.monotonic() + 60
        while not is_well(port):
            if process.poll() is not None or time.monotonic() > until:
                raise RuntimeError("agenttrace serve does not answer")
            time.sleep(0.1)
        yield port
    finally:
        process.terminate()
        process.wait(60)


def is_well(port: int) -> bool:
    """Whether the service answers."""
    try:
        with closing(http.client.HTTPConnection("127.0.0.1", port, timeout=10)) as asked:
            asked.request("GET", "/healthz")
            return asked.getresponse().status == 200
    except OSError:
        return False


def from_the_wire(where: str, spans: int, processes: int = 0) -> dict[str, Any]:
    """Spans a second from requests to one service, until each is answered, which is when it is stored."""
    made = make_spans(spans, small)
    for span in made:
        span.trace_key ^= 7 << 64
    bodies = [
        encode("traces", trace_request(made[at : at + A_REQUEST], resource={}, content=True), "http/protobuf")
        for at in range(0, spans, A_REQUEST)
    ]
    before, again = stored_spans(where), [0] * SENDERS
    processor = resource.getrusage(resource.RUSAGE_CHILDREN)
    used = processor.ru_utime + processor.ru_stime

    def send(number: int, port: int) -> None:
        with closing(http.client.HTTPConnection("127.0.0.1", port, timeout=60)) as to:
            for body in bodies[number::SENDERS]:
                while True:
                    to.request("POST", "/v1/traces", body, {"content-type": "application/x-protobuf"})
                    answer = to.getresponse()
                    answer.read()
                    if answer.status == 200:
                        break
                    again[number] += 1
                    time.sleep(float(answer.getheader("retry-after") or 1))

    with service(where, processes) as port:
        threads = [threading.Thread(target=send, args=(number, port)) for number in range(SENDERS)]
        seconds = timed(lambda: ([one.start() for one in threads], [one.join() for one in threads]))
    processor = resource.getrusage(resource.RUSAGE_CHILDREN)
    stored = stored_spans(where) - before
    return {
        "spans/s": round(spans / seconds),
        "processor": round((processor.ru_utime + processor.ru_stime - used) * 1e6 / spans, 1),
        "made": spans,
        "stored": stored,
        "asked to wait": sum(again),
    }


def claims(where: str, items: int) -> dict[str, Any]:
    """Evaluations a second that one worker claims and settles, with a score each."""
    store = open_store(where)
    queue = store.work_queue()  # type: ignore[attr-defined]
    queue.add([WorkItem("bench", f"{number:032x}", "rule") for number in range(1, items + 1)], 0.0)
    settled = 0
    began = time.perf_counter()
    while held := queue.claim("worker", AT_ONCE, 60.0):
        for claim in held:
            score = ScoreRow(claim.item.trace_id, None, Score.of("Loop", 1.0, 0.5))
            settled += queue.settle(claim, "seen", [score])
    seconds = time.perf_counter() - began
    store.close()
    return {"claims/s": round(items / seconds), "made": items, "settled": settled}


def copied(where: str) -> dict[str, Any]:
    """Spans a second that are copied from the store to a new file, read back and compared."""
    with tempfile.TemporaryDirectory() as folder:
        old, new = open_store(where), open_store(str(Path(folder) / "copy.db"))
        kinds: list[Any] = []
        seconds = timed(lambda: kinds.append(copy_store(old, new)))
        again = timed(lambda: copy_store(old, new))
        new.close()
        old.close()
    spans = kinds[0].by_kind["spans"]
    return {
        "spans/s": round(spans.there / seconds),
        "again, spans/s": round(spans.there / again),
        "missing": kinds[0].missing,
    }


def timed(do: Callable[[], Any]) -> float:
    """Seconds that something takes."""
    began = time.perf_counter()
    do()
    return time.perf_counter() - began


def main() -> None:
    if sys.argv[1:2] == ["--write"]:
        write(sys.argv[2], int(sys.argv[3]), int(sys.argv[4]))
        return
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("store")
    parser.add_argument("--processes", type=int, default=2, help="of the service, that store")
    parser.add_argument("--spans", type=int, default=50_000, help="of each writer, and from the wire")
    parser.add_argument("--writers", type=int, default=4)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    where = options.store
    figures = {
        "own spans, one writer": own_spans(where, 1, options.spans),
        f"own spans, {options.writers} writers": own_spans(where, options.writers, options.spans),
        "from the wire": from_the_wire(where, options.spans, options.processes),
        "claims": claims(where, options.spans // 10),
        "copy": copied(where),
    }
    if options.json:
        print(json.dumps(figures))
        return
    for name, values in figures.items():
        print(f"{name:28}", ", ".join(f"{key} {value}" for key, value in values.items()))


if __name__ == "__main__":
    main()
