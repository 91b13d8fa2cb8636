"""What comparing long runs costs: seconds of a whole score, with its diff, and steps of the alignment.

A step is one partial alignment, or one call held against one place; sequences of plain names are aligned by
bit vectors, and count none. What is refused is an error that names the part and the limit.

    python benchmarks/long_runs.py [--quick] [--json]
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Sequence
from random import Random
from typing import Any

from agenttrace.core.errors import ExpectationError
from agenttrace.core.example import Example
from agenttrace.core.trace import Trace
from agenttrace.expectations import any_of, call, many, opt, par, seq
from agenttrace.expectations.expectation import Mode
from agenttrace.matching import compare
from agenttrace.scorers import TrajectoryScorer
from benchmarks.options import parse
from benchmarks.percentiles import figure, markdown

Case = tuple[Callable[[], Any], Callable[[], Sequence[Any]], Mode]


def drawn(names: str, count: int) -> list[str]:
    random = Random(count)
    return [random.choice(names) for _ in range(count)]


def calls(count: int, *, nested: bool = False) -> list[dict[str, Any]]:
    random = Random(3)

    def arguments(number: int) -> dict[str, Any]:
        if nested:
            items = [{"sku": f"s{random.randint(0, 50)}", "count": random.randint(1, 5)}]
            return {"id": number, "items": items, "options": {"language": random.choice(["en", "de"])}}
        return {"id": number, "city": random.choice("abcdefgh"), "days": random.randint(1, 5)}

    return [{"name": "tool", "arguments": arguments(number)} for number in range(count)]


def shuffled(run: Sequence[dict[str, Any]], share_changed: float) -> list[Any]:
    random = Random(5)
    expected = [
        call("tool", {**one["arguments"], **({"id": -n} if random.random() < share_changed else {})})
        for n, one in enumerate(run, 1)
    ]
    random.shuffle(expected)
    return expected


def nested_deep(levels: int) -> Any:
    data: Any = "a"
    for _ in range(levels):
        data = {"opt": data}
    return data


def numbered(first: int) -> Any:
    return par(*(call("a", n=n) for n in range(first, first + 100)))


PAIRS = any_of(seq("a", "b"), seq("c", "d"))
NESTED = many(par(many(par(many("a"), many("b"))), many(par(many("c"), many("d")))))
SAME_START = par(*(seq("a", "b", f"c{n}") for n in range(12)))

CASES: dict[str, Case] = {
    "par(many(a), many(b)), 400 calls": (
        lambda: par(many("a"), many("b")), lambda: drawn("ab", 400), "exact",
    ),
    "par(many(a), b), 400 calls": (
        lambda: par(many("a"), "b"), lambda: ["a"] * 200 + ["b"] + ["a"] * 199, "exact",
    ),
    "many(par(a, b)), 200 calls": (lambda: many(par("a", "b")), lambda: list("abba") * 50, "exact"),
    "many(any_of(ab, cd)), 400 calls": (lambda: many(PAIRS), lambda: list("abcdcdab") * 50, "exact"),
    "many(any_of(ab, cd)), 5,000 calls": (lambda: many(PAIRS), lambda: list("abcdcdab") * 625, "exact"),
    "many(any_of(ab, cd)), 400 calls, any order": (
        lambda: many(PAIRS), lambda: list("abcdcdab") * 50, "any_order",
    ),
    "par and many, three deep, 100 calls": (
        lambda: NESTED, lambda: ["a", "b", "c", "d", *drawn("abcd", 96)], "exact",
    ),
    "par and many, three deep, 100 calls, any order": (
        lambda: NESTED, lambda: ["a", "b", "c", "d", *drawn("abcd", 96)], "any_order",
    ),
    "many(a, 0), 2,000 calls": (lambda: many("a", 0), lambda: ["a"] * 2_000, "exact"),
    "par of 100, then par of 100, by one argument": (
        lambda: numbered(0) >> numbered(100),
        lambda: [{"name": "a", "arguments": {"n": n}} for n in range(200)], "exact",
    ),
    "1,000 × 1,000 by arguments, contains, 30 % changed": (
        lambda: shuffled(calls(1_000), 0.3), lambda: calls(1_000), "contains",
    ),
    "1,000 × 1,000 by arguments, contains, all changed": (
        lambda: shuffled(calls(1_000), 1.0), lambda: calls(1_000), "contains",
    ),
    "1,000 × 1,000 by nested arguments, contains": (
        lambda: shuffled(calls(1_000, nested=True), 0.3), lambda: calls(1_000, nested=True), "contains",
    ),
    "5,000 names in order, failing": (
        lambda: [f"t{n % 20}" for n in range(5_000)],
        lambda: [f"t{n * 7 % 20}" for n in range(5_000)], "in_order",
    ),
    "5,000 times one name in order, half of them called": (
        lambda: ["t"] * 5_000, lambda: ["s"] * 2_500 + ["t"] * 2_500, "in_order",
    ),
    "refused: par of 12 sequences with the same start": (
        lambda: SAME_START, lambda: [*"ab" * 12, *(f"c{n}" for n in range(12))], "in_order",
    ),
    "refused: 3,000 levels of opt": (lambda: nested_deep(3_000), lambda: ["a"], "exact"),
    "opt, 62 levels": (lambda: _wrapped(62), lambda: ["a"], "exact"),
}  # fmt: skip


def _wrapped(levels: int) -> Any:
    pattern: Any = "a"
    for _ in range(levels):
        pattern = opt(pattern)
    return pattern


def measure(*, quick: bool) -> dict[str, dict[str, Any]]:
    """Seconds of the fastest repetition, steps, and what came out, by case."""
    return {name: _measured(case, 1 if quick else 3) for name, case in CASES.items()}


def _measured(case: Case, repeat: int) -> dict[str, Any]:
    make, run, mode = case
    expected = make()
    example = Example(expected_tools=expected, tools_called=list(run()))
    scorer = TrajectoryScorer(metric="holds", mode=mode)
    seconds, result, steps = float("inf"), "", None
    for _ in range(repeat):
        began = time.perf_counter()
        try:
            result = "holds" if scorer.score(example).passed else "fails"
        except ExpectationError:
            result = "refused"
        seconds = min(seconds, time.perf_counter() - began)
    if result != "refused":
        steps = compare(expected, Trace.from_calls(list(run())), mode=mode).alignment.steps
    return {"seconds": seconds, "steps": steps, "result": result}


def report(found: dict[str, Any]) -> str:
    """The table as Markdown."""
    rows = [
        [name, row["result"], "—" if row["steps"] is None else f"{row['steps']:,}", figure(row["seconds"])]
        for name, row in found.items()
    ]
    return markdown(["a long run", "", "steps", "seconds"], rows)


if __name__ == "__main__":
    options = parse(__doc__)
    measured = measure(quick=options.quick)
    print(json.dumps(measured) if options.json else report(measured))
