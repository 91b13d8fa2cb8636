"""What `async_evaluate` costs the caller, also while judges are in trouble.

Every call is timed alone, in blocks under a root span; figures are microseconds. *room*: the queue has room
and the judge answers at once; *full*: the queue is full, what is asked is dropped, counted. The others have a
judge on loopback that hangs, answers 429 with ``Retry-After: 3600``, drips its body, or is down.

    python benchmarks/online.py [--quick] [--json]
"""

from __future__ import annotations

import asyncio
import json
import socket
import threading
import time
from typing import Any

from agenttrace import AnswerRelevancyScorer, Example, Score, Tracer
from agenttrace.judges import OpenAICompatibleModel
from benchmarks.options import parse
from benchmarks.percentiles import figure, markdown, median, percentile

TROUBLES = ("hang", "429", "drip", "down")


class AtOnce:
    """A scorer that answers at once."""

    name, threshold = "At once", 0.5

    def score(self, example: Any, trace: Any) -> Score:
        return Score.of(self.name, 1.0, self.threshold)


class Hangs(AtOnce):
    """A scorer that never answers."""

    name = "Hangs"

    async def score(self, example: Any, trace: Any) -> Score:  # type: ignore[override]
        await asyncio.sleep(3600)
        raise AssertionError


def measure(*, quick: bool) -> dict[str, Any]:
    """Microseconds a call, p50 and p99, by what goes on meanwhile."""
    calls = 300 if quick else 3_000
    found = {"room": _timed([AtOnce()], calls), "full": _timed([Hangs()], calls, fill=12_000)}
    for trouble in TROUBLES:
        with _Judge(trouble) as url:
            model = OpenAICompatibleModel("judge", base_url=url, timeout=2.0)
            found[f"judge: {trouble}"] = _timed([AnswerRelevancyScorer(model=model)], calls)
    return {"calls": calls, "microseconds": found}


def _timed(scorers: list[Any], calls: int, fill: int = 0) -> dict[str, float]:
    tracer = Tracer("bench", store="memory", drain_seconds=0.0)
    example = Example(input="Where is it?", actual_output="In Paris.", retrieval_context=["Paris"])
    taken: list[float] = []
    with tracer.span("warm up"):
        for _ in range(fill or 20):
            tracer.async_evaluate(scorers, example=example)
    time.sleep(0.3)
    for _ in range(max(calls // 100, 1)):
        with tracer.span("root"):
            for _ in range(100):
                begun = time.perf_counter_ns()
                tracer.async_evaluate(scorers, example=example)
                taken.append((time.perf_counter_ns() - begun) / 1_000)
        time.sleep(0.01)
    counts = tracer.stats()["evaluations"]
    tracer.shutdown(timeout=1.0)
    ended = sum(count for name, count in counts.items() if name not in ("asked", "unstored", "failed_calls"))
    return {
        "p50": median(taken),
        "p99": percentile(taken, 0.99),
        "asked": counts["asked"],
        "accounted": ended,
        "dropped": counts["dropped"],
    }


class _Judge:
    """A judge in trouble, on loopback."""

    def __init__(self, trouble: str) -> None:
        self.trouble = trouble
        self.listener = socket.create_server(("127.0.0.1", 0))

    def __enter__(self) -> str:
        port = self.listener.getsockname()[1]
        if self.trouble == "down":
            self.listener.close()
        else:
            threading.Thread(target=self._serve, daemon=True).start()
        return f"http://127.0.0.1:{port}/v1"

    def __exit__(self, *_: object) -> None:
        self.listener.close()

    def _serve(self) -> None:
        while True:
            try:
                connection, _ = self.listener.accept()
            except OSError:
                return
            threading.Thread(target=self._answer, args=(connection,), daemon=True).start()

    def _answer(self, connection: socket.socket) -> None:
        try:
            connection.recv(65_536)
            if self.trouble == "429":
                connection.sendall(b"HTTP/1.1 429 Busy\r\nretry-after: 3600\r\ncontent-length: 0\r\n\r\n")
            elif self.trouble == "drip":
                connection.sendall(b"HTTP/1.1 200 OK\r\ncontent-length: 100000\r\n\r\n")
                for _ in range(30):
                    connection.sendall(b" ")
                    time.sleep(0.1)
            else:
                time.sleep(10)
        except OSError:
            pass
        finally:
            connection.close()


def report(found: dict[str, Any]) -> str:
    """The figures as a table."""
    rows = [
        [
            name,
            figure(row["p50"]),
            figure(row["p99"]),
            *(str(row[word]) for word in ("asked", "accounted", "dropped")),
        ]
        for name, row in found["microseconds"].items()
    ]
    head = ["meanwhile", "p50 µs", "p99 µs", "asked", "accounted for", "dropped"]
    return markdown(head, rows)


def main() -> None:
    options = parse(__doc__)
    found = measure(quick=options.quick)
    print(json.dumps(found) if options.json else report(found))


if __name__ == "__main__":
    main()
