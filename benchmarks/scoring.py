"""What comparing costs: subsequences, assignments, a whole scorer.

The sequences have 20 distinct tools; the actual one is the expected one with a fifth of its calls changed.
*plain table* is the textbook dynamic programme with reconstruction, *difflib* the standard library's matcher
(which does not find the longest common subsequence). Every figure is the best of its repetitions: other
processes on the machine only ever slow one down. Peers score the same ten calls, where they are installed.

    python benchmarks/scoring.py [--quick] [--json] [--peers-python PATH ...] [--no-peers]
"""

from __future__ import annotations

import difflib
import json
import subprocess
import time
from collections.abc import Callable, Sequence
from random import Random
from typing import Any

from agenttrace.core.example import Example
from agenttrace.core.trace import Trace
from agenttrace.expectations import call
from agenttrace.matching import compare
from agenttrace.matching.lcs import lcs_pairs
from agenttrace.scorers import ToolOrderScorer
from benchmarks.counters import counted
from benchmarks.options import parse
from benchmarks.percentiles import figure, markdown

PEERS = {
    "agentevals strict": """
import json, time
from agentevals.trajectory.match import create_trajectory_match_evaluator
evaluate = create_trajectory_match_evaluator(trajectory_match_mode="strict")
def messages(count):
    return [{"role": "assistant", "content": "", "tool_calls": [{"id": str(n), "type": "function",
             "function": {"name": f"tool_{n % 5}", "arguments": json.dumps({"q": f"x{n}", "n": n})}}]}
            for n in range(count)]
run = messages(10)
best = 9.0
for _ in range(50):
    began = time.perf_counter()
    evaluate(outputs=run, reference_outputs=run)
    best = min(best, time.perf_counter() - began)
print(json.dumps(best))
""",
}
"""For each peer, a script that prints the seconds it needs for ten calls, as JSON."""


def measure(*, quick: bool, interpreters: Sequence[str]) -> dict[str, Any]:
    """Seconds, by what was measured."""
    repeat = 3 if quick else 15
    return {
        "lcs": {size: _subsequences(size, repeat) for size in (10, 100, 1_000, 10_000)},
        "assignment": {
            "one tool, all equal": _assignment(1, 0.0, repeat),
            "one tool, 30 % changed": _assignment(1, 0.3, repeat),
            "ten tools, 30 % changed": _assignment(10, 0.3, repeat),
            "1,000 × 1,000 in order, 20 tools": _long_arguments(repeat),
        },
        "scorer": {
            "names": _scorer("names", repeat),
            "parameters": _scorer("parameters", repeat),
            "parameters, expectation never seen before": _scorer("unseen", repeat),
            "one argument differs: fails, diff unread": _scorer("differing", repeat),
            "one argument differs: fails, with its diff": _scorer("differing", repeat, read=True),
            "in reverse: fails, diff unread": _scorer("reversed", repeat),
            "in reverse: fails, with its diff": _scorer("reversed", repeat, read=True),
        },
        "peers": {name: _peer(script, interpreters) for name, script in PEERS.items()},
    }


def best(work: Callable[[], object], repeat: int, inner: int = 1) -> float:
    """Seconds of the fastest repetition; each runs the work `inner` times."""
    fastest = float("inf")
    for _ in range(repeat):
        began = time.perf_counter()
        for _ in range(inner):
            work()
        fastest = min(fastest, (time.perf_counter() - began) / inner)
    return fastest


def sequences(size: int) -> tuple[list[str], list[str]]:
    random = Random(7)
    names = [f"tool_{number}" for number in range(20)]
    expected = [random.choice(names) for _ in range(size)]
    return expected, [name if random.random() > 0.2 else random.choice(names) for name in expected]


def plain_table(expected: Sequence[str], actual: Sequence[str]) -> list[tuple[int, int]]:
    rows = [[0] * (len(expected) + 1) for _ in range(len(actual) + 1)]
    for i, got in enumerate(actual):
        above, here = rows[i], rows[i + 1]
        for j, wanted in enumerate(expected):
            here[j + 1] = above[j] + 1 if got == wanted else max(above[j + 1], here[j])
    i, j, pairs = len(actual), len(expected), []
    while i and j:
        if actual[i - 1] == expected[j - 1]:
            i, j = i - 1, j - 1
            pairs.append((j, i))
        elif rows[i - 1][j] > rows[i][j - 1]:
            i -= 1
        else:
            j -= 1
    return pairs[::-1]


def _subsequences(size: int, repeat: int) -> dict[str, float | None]:
    expected, actual = sequences(size)
    inner = max(1, 2_000 // size)
    slow = size > 1_000  # the table would need a gigabyte
    assert slow or lcs_pairs(expected, actual) == plain_table(expected, actual)
    return {
        "ours": best(lambda: lcs_pairs(expected, actual), repeat, inner),
        "plain table": None if slow else best(lambda: plain_table(expected, actual), 3),
        "difflib": None
        if slow
        else best(lambda: difflib.SequenceMatcher(None, expected, actual, False).get_matching_blocks(), 3),
    }


def _calls(count: int, tools: int) -> list[dict[str, Any]]:
    random = Random(3)
    return [
        {
            "name": f"tool_{n % tools}",
            "arguments": {"id": n, "city": random.choice("abcdefgh"), "days": random.randint(1, 5)},
        }
        for n in range(count)
    ]


def _assignment(tools: int, changed: float, repeat: int) -> float:
    random = Random(5)
    run = _calls(100, tools)
    trace = Trace.from_calls(run)
    expected = [
        call(one["name"], {**one["arguments"], **({"id": -n} if random.random() < changed else {})})
        for n, one in enumerate(run)
    ]
    random.shuffle(expected)
    assert len(trace.tool_calls) == 100
    return best(lambda: compare(expected, trace, mode="contains"), repeat)


def _long_arguments(repeat: int) -> float:
    run = _calls(1_000, 20)
    trace = Trace.from_calls(run)
    expected = [call(one["name"], {**one["arguments"], "days": 3}) for one in run]
    assert len(trace.tool_calls) == 1_000
    return best(lambda: compare(expected, trace), min(repeat, 3))


def _scorer(kind: str, repeat: int, *, read: bool = False) -> dict[str, float | None]:
    """Seconds and instructions of one score; with `read`, of the score and its diff."""
    run = [{"name": f"tool_{n % 5}", "arguments": {"q": f"x{n}", "n": n}} for n in range(10)]
    trace = Trace.from_calls(run)
    assert len(trace.tool_calls) == 10
    scorer = ToolOrderScorer()
    names: list[Any] = [one["name"] for one in run]
    stated: list[Any] = [{"tool_name": one["name"], "parameters": one["arguments"]} for one in run]
    if kind == "unseen":
        # A label makes each expectation another one to the memory of what was read.
        labelled = [[{**stated[0], "as": f"label {n}"}, *stated[1:]] for n in range(repeat * 50 + 10)]
        fresh = iter([Example(expected_tools=expected) for expected in labelled])
        return _cost(lambda: scorer.score(next(fresh), trace), repeat)
    differing = [*stated[:4], {**stated[4], "parameters": {"q": "x4", "n": -1}}, *stated[5:]]
    lists = {"names": names, "parameters": stated, "reversed": stated[::-1], "differing": differing}
    example = Example(expected_tools=lists[kind])

    def scored() -> None:
        score = scorer.score(example, trace)
        if read:
            _ = score.diff, score.details

    return _cost(scored, repeat)


def _cost(work: Callable[[], object], repeat: int) -> dict[str, float | None]:
    return {"seconds": best(work, repeat, 50), "instructions": counted(work, 10)}


def _peer(script: str, interpreters: Sequence[str]) -> float | None:
    """Seconds for ten calls in the first interpreter that has the peer, or None."""
    for interpreter in interpreters:
        ran = subprocess.run([interpreter, "-c", script], capture_output=True, text=True, check=False)
        if ran.returncode == 0:
            return float(json.loads(ran.stdout.splitlines()[-1]))
    return None


def report(found: dict[str, Any]) -> str:
    """The tables as Markdown."""

    def micro(seconds: float | None) -> str:
        return figure(None if seconds is None else seconds * 1e6)

    def thousands(count: float | None) -> str:
        return "—" if count is None else f"{count / 1000:,.0f} k"

    def score_us(kind: str) -> float:
        return float(found["scorer"][kind]["seconds"]) * 1e6

    sizes = [
        [f"{int(size):,} × {int(size):,}", *map(micro, row.values())] for size, row in found["lcs"].items()
    ]
    names = ["longest common subsequence, µs", "ours", "plain table", "difflib"]
    whole = [
        [f"ToolOrderScorer, 10 calls, {kind}", micro(cost["seconds"]), thousands(cost["instructions"])]
        for kind, cost in found["scorer"].items()
    ]
    whole += [
        [f"{peer}, 10 calls (— is not installed)", micro(value), "—"]
        for peer, value in found["peers"].items()
    ]
    paired = [[kind, f"{value * 1e3:.1f}"] for kind, value in found["assignment"].items()]
    lcs = found["lcs"]
    thousand, ten_thousand = (lcs.get(size) or lcs[str(size)] for size in (1_000, 10_000))
    budgets = [
        ("LCS of 1,000 × 1,000 with the subsequence ≤ 1 ms", thousand["ours"] * 1e3, 1.0, "ms"),
        ("LCS of 10,000 × 10,000 with the subsequence ≤ 50 ms", ten_thousand["ours"] * 1e3, 50.0, "ms"),
        (
            "arguments of 100 × 100 calls ≤ 20 ms",
            found["assignment"]["one tool, 30 % changed"] * 1e3,
            20.0,
            "ms",
        ),
        *(
            (f"ToolOrderScorer on 10 calls, {kind} ≤ {limit:.0f} µs", score_us(kind), limit, "µs")
            for kind, limit in (
                ("names", 20.0),
                ("one argument differs: fails, diff unread", 20.0),
                ("parameters, expectation never seen before", 120.0),
            )
        ),
    ]
    promised = [
        [promise, f"{value:.2f} {unit}", "met" if value <= limit else "not met"]
        for promise, value, limit, unit in budgets
    ]
    return "\n\n".join(
        [
            markdown(["budget 7", "measured", ""], promised),
            markdown(names, sizes),
            markdown(["optimal assignment of 100 × 100 calls by arguments", "ms"], paired),
            markdown(["a whole score", "µs", "instructions (— where they cannot be counted)"], whole),
        ]
    )


if __name__ == "__main__":
    options = parse(__doc__)
    measured = measure(quick=options.quick, interpreters=options.interpreters)
    print(json.dumps(measured) if options.json else report(measured))
