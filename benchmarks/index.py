"""What the side index costs and how fast it answers, over stores of realistic traces.

Each trace is a run of an agent: a root with a prompt and an answer, four or five calls of tools with two
scalar arguments and a mapping as output, three calls of a model with usage and cost, three plain functions;
customer, session, tags and a release; every fifth has two scores.

    python benchmarks/index.py [--quick] [--json]
"""

from __future__ import annotations

import json
import os
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from random import Random
from typing import Any

from agenttrace.core import semconv
from agenttrace.core.query_parsing import parse
from agenttrace.core.score import Score
from agenttrace.core.span import Span, SpanError
from agenttrace.core.trace_reads import Sort
from agenttrace.store import SQLiteStore
from benchmarks.options import parse as options_of
from benchmarks.percentiles import figure, markdown, median

TOOLS = ["lookup_order", "search_kb", "check_inventory", "refund", "notify", "get_weather"]
SYSTEM = (
    "You are the support agent of a shop. Be brief and kind, never promise what no tool has confirmed, look "
    "every order up before you speak of it, and hand over to a person where the customer asks for one. "
) * 2
ANSWER = "Your order has been found. It was sent on Monday and will arrive within three days; "
FACETS = ["customer", "tool", "failed", "status", "verdict", "tag", "metadata.release", "model"]

QUICK, WHOLE = 5_000, 90_000
"""How many traces the store has."""

NEW = (1, 10, 100, 1_000)
"""How many traces are new when the index is brought up to date."""

QUERIES = {
    "newest 50": ("", "-time"),
    "failed:refund customer:customer-7": ("failed:refund customer:customer-7", "-time"),
    "customer:nobody": ("customer:nobody", "-time"),
    "tag:canary release:2.5.0": ("tag:canary release:2.5.0", "-time"),
    "score<0.5 dur>10ms": ("score<0.5 dur>10ms", "-time"),
    "longest": ("", "-duration"),
    "dearest of a customer": ("customer:customer-7", "-cost"),
    "worst score": ("", "score"),
    "word order-77": ("order-77", "-time"),
    "word missing": ("xylophone", "-time"),
    "input.order_id:777": ("input.order_id:777", "-time"),
    "looped:3": ("looped:3", "-time"),
    "calls, three tools": ('calls:"refund > notify > refund"', "-time"),
    "-customer:* (none)": ("-customer:*", "-time"),
    "tokens>100000 (none)": ("tokens>100000", "-time"),
}


def trace(number: int, start: int) -> Iterator[Span]:
    """The spans of one run, children first."""
    random = Random(number)
    key, root = random.getrandbits(128), random.getrandbits(64)
    at = start
    index = 0

    def child(name: str, span_type: str, **fields: Any) -> Span:
        nonlocal at, index
        index += 1
        begin, at = at, at + random.randint(100_000, 5_000_000)
        return Span(
            trace_key=key, span_key=random.getrandbits(64), parent_key=root, index=index, name=name,
            span_type=span_type, project="shop", start_ns=begin, end_ns=at, **fields,
        )  # fmt: skip

    for turn in range(3):
        yield child(
            "chat", "llm",
            input={
                "messages": [
                    {"role": "system", "content": SYSTEM},
                    {"role": "user", "content": f"Where is order-{number % 5000}?"},
                    *({"role": "assistant", "content": ANSWER} for _ in range(turn)),
                ]
            },
            output={"role": "assistant", "content": ANSWER[: 20 + number % 40]},
            attributes={semconv.REQUEST_MODEL: "small-2", semconv.REQUEST_TEMPERATURE: 0.2},
            usage={
                "input_tokens": 400 + turn, "output_tokens": 60, "total_tokens": 460 + turn,
                "cost": 0.0004 * (1 + number % 997),
            },
        )  # fmt: skip
        yield child("format_prompt", "function", input={"turn": turn}, output=f"prompt of turn {turn}")
    for call in range(4 + number % 2):
        name = "search_kb" if number % 50 == 0 else random.choice(TOOLS)
        failed = name == "refund" and number % 7 == 0
        yield child(
            name, "tool",
            input={"order_id": 7 if number % 50 == 0 else number * 3 % 100_000 + call, "region": "eu-west"},
            output=None if failed else {
                "success": call % 2, "status": "sent", "eta_days": number % 9,
                "items": [
                    {"sku": f"sku-{n}", "title": "a thing of the shop", "price": n / 2} for n in range(5)
                ],
            },
            status="error" if failed else "ok",
            error=SpanError("PaymentError", "the card was refused") if failed else None,
        )  # fmt: skip
    yield Span(
        trace_key=key, span_key=root, name="support_agent", span_type="agent", project="shop",
        start_ns=start, end_ns=at, input={"prompt": f"Where is my order-{number % 5000}?"}, output=ANSWER,
        attributes={
            semconv.CUSTOMER_ID: f"customer-{number % 40}", semconv.SESSION_ID: f"session-{number // 4}",
            semconv.TAGS: ["canary"] if number % 20 == 0 else ["stable"],
            semconv.METADATA: {"release": f"2.{number // 20_000}.0", "region": "eu"},
        },
    )  # fmt: skip


def fill(store: SQLiteStore, first: int, traces: int) -> int:
    """Store runs with their scores; returns how many spans they have."""
    now = time.time_ns() - 7 * 86_400 * 10**9
    spans: list[Span] = []
    scores: list[tuple[str, None, Score]] = []
    count = 0
    for number in range(first, first + traces):
        spans += trace(number, now + number * 10**6)
        if number % 5 == 0:
            trace_id = spans[-1].trace_id
            scores.append((trace_id, None, Score.of("Tool Order", (number // 5 % 11) / 10, 0.5)))
            scores.append((trace_id, None, Score.of("Faithfulness", (number // 5 % 7) / 6, 0.7)))
        if len(spans) > 5_000 or number == first + traces - 1:
            store.export(spans)
            store.write_scores(scores)
            count += len(spans)
            spans, scores = [], []
    return count


def milliseconds(action: Callable[[], Any], repeat: int = 7) -> float:
    """The median time of an action."""
    times = []
    for _ in range(repeat):
        began = time.perf_counter()
        action()
        times.append((time.perf_counter() - began) * 1e3)
    return median(times)


def measure(*, quick: bool) -> dict[str, Any]:
    """Every figure, over a store of about a million spans, or of 60,000."""
    traces = QUICK if quick else WHOLE
    with tempfile.TemporaryDirectory() as directory:
        store = SQLiteStore(Path(directory) / "traces.db")
        spans = fill(store, 0, traces)
        store.close()
        reads = store.trace_reads()
        began = time.perf_counter()
        reads.refresh()
        built = time.perf_counter() - began
        sizes = [os.path.getsize(store.path + suffix) for suffix in ("", "-index")]
        updates = {}
        for new in NEW:
            seconds = []
            for _ in range(5):
                fill(store, traces, new)
                traces += new
                began = time.perf_counter()
                reads.refresh()
                seconds.append((time.perf_counter() - began) * 1e3)
            updates[str(new)] = median(seconds)
        time.sleep(0.2)  # the clock of files ticks in steps: only after one is it sure that nothing is new
        reads.refresh()
        return {
            "spans": spans,
            "seconds_per_million": built / spans * 1e6,
            "share": sizes[1] / sizes[0],
            "store_mb": sizes[0] / 1e6,
            "updates_ms": updates,
            "unchanged_ms": milliseconds(reads.refresh),
            "queries_ms": {
                name: [
                    milliseconds(lambda: reads.search(parse(text), sort=Sort.of(sort))),  # noqa: B023
                    milliseconds(lambda: reads.count_matches(parse(text)), 3),  # noqa: B023
                    milliseconds(lambda: reads.facets(parse(text), FACETS), 3),  # noqa: B023
                    milliseconds(lambda: reads.histogram(parse(text)), 3),  # noqa: B023
                ]
                for name, (text, sort) in QUERIES.items()
            },
        }


def report(found: dict[str, Any]) -> str:
    """The tables as Markdown."""
    costs = [
        ["building, seconds a million spans", figure(found["seconds_per_million"]), "≤ 6"],
        ["size, share of the store", f"{found['share']:.1%}", "≤ 12 %"],
        *(
            [f"{count} new traces, ms", figure(ms), "≤ 10" if count == "100" else ""]
            for count, ms in found["updates_ms"].items()
        ),
        ["nothing new, ms", figure(found["unchanged_ms"]), ""],
    ]
    rows = [[name, *map(figure, times)] for name, times in found["queries_ms"].items()]
    return "\n\n".join(
        [
            f"{found['spans']:,} spans, {found['store_mb']:.0f} MB.",
            markdown(["the side index", "", "budget"], costs),
            markdown(["a query, ms", "50 rows (budget 20)", "count", "eight facets", "histogram"], rows),
        ]
    )


if __name__ == "__main__":
    options = options_of(__doc__)
    measured = measure(quick=options.quick)
    print(json.dumps(measured) if options.json else report(measured))
