"""The budgets, each beside what was measured."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from benchmarks.percentiles import figure, markdown, median

JUDGEVAL = "judgeval"


@dataclass(frozen=True)
class Line:
    """One promise. `met` is None where nothing was measured; `note` says why it is not met, or why not."""

    number: str
    promise: str
    measured: str
    met: bool | None
    note: str = ""


@dataclass(frozen=True)
class CallBudget:
    """Microseconds that recording may add to a kind of call, p50, with the SQLite writer running."""

    number: str
    case: str
    microseconds: float
    reason: str = ""


CALLS = [
    CallBudget("1", "sync", 1.5),
    CallBudget("1", "async", 1.5),
    CallBudget("1", "bound method", 2.0),
    CallBudget("1", "small dict", 2.0),
    CallBudget("1", "generator of 3", 4.0),
    CallBudget("3", "100 KB nested dict", 200.0),
    CallBudget("3", "200 MB of lists", 1_000.0),
    CallBudget("3", "200 MB text", 1_000.0),
]


def lines(found: dict[str, Any]) -> list[Line]:
    """Every budget that the scripts' figures answer, by the names of the scripts."""
    ours, peers = found["overhead"]["ours"], found["overhead"]["peers"]
    made = [*_calls(ours), *_beside(ours, peers), *_stored(ours), *_memory(ours)]
    made += [*_imports(found["import_time"]), *_tests(found["assert_test"])]
    made += _online(found["online"])
    return sorted(made, key=lambda line: line.number)


def table(made: list[Line]) -> str:
    """The budgets as Markdown."""
    words = {True: "met", False: "**not met**", None: "not measured"}
    return markdown(
        ["budget", "promise", "measured", "", "note"],
        [[line.number, line.promise, line.measured, words[line.met], line.note] for line in made],
    )


def _calls(ours: dict[str, Any]) -> Iterator[Line]:
    cases = ours["sqlite"]["cases"]
    for budget in CALLS:
        case = cases[budget.case]
        met = case["p50"] <= budget.microseconds
        note = "" if met else _disturbed(case, budget.microseconds)
        yield Line(
            budget.number,
            f"{budget.case}: ≤ {figure(budget.microseconds, 1)} µs on the caller",
            f"{figure(case['p50'])} µs (quiet {figure(case['quiet'])})",
            met,
            note,
        )
    ratio = cases["sync"]["p99"] / cases["sync"]["p50"]
    yield Line("1", "sync: p99 ≤ 5 × p50, writer running", f"{figure(ratio)} ×", ratio <= 5)


def _disturbed(case: dict[str, float], limit: float) -> str:
    if case["quiet"] <= limit:
        return "met in the quiet tenth of the blocks: others used the machine, or the writer the interpreter"
    return f"{case['quiet'] / limit:.1f} × the budget in the quiet tenth of the blocks too"


def _beside(ours: dict[str, Any], peers: dict[str, Any]) -> Iterator[Line]:
    own = ours["sqlite"]["cases"]["sync"]["p50"]
    sync = {name: peer["cases"]["sync"]["p50"] for name, peer in peers.items()}
    if not sync:
        yield Line("1", "≥ 10 × below the fastest peer that records input and output", "—", None, "no peer")
    else:
        fastest = min(sync, key=lambda name: sync[name])
        ratio = sync[fastest] / own
        measured = f"{figure(ratio)} × ({fastest})"
        yield Line("1", "≥ 10 × below the fastest peer that records input and output", measured, ratio >= 10)
    if JUDGEVAL in sync:
        ratio = sync[JUDGEVAL] / own
        yield Line("1", "≥ 50 × below judgeval", f"{figure(ratio)} ×", ratio >= 50)


def _stored(ours: dict[str, Any]) -> Iterator[Line]:
    cpu, wall = (median(burst[key] for burst in ours["stored"]) for key in ("cpu_us", "wall_us"))
    least = min(burst["cpu_us"] for burst in ours["stored"])
    yield Line(
        "2",
        "whole process: ≤ 5 µs of processor a span, recorded and stored in SQLite",
        f"{figure(cpu)} µs (least {figure(least)})",
        cpu <= 5,
        "" if cpu <= 5 else f"a burst is stored at {1e6 / wall:,.0f} spans/s",
    )
    load = ours["sustained"]
    lost = load["made"] - load["stored"]
    kept_pace = load["made"] / load["seconds_until_stored"] >= 0.95 * load["wanted_per_s"]
    yield Line(
        "2",
        f"{load['wanted_per_s']:,} spans/s stored from one process, none lost",
        f"{load['stored'] / load['seconds_until_stored']:,.0f} spans/s, {lost:,} of {load['made']:,} lost",
        lost == 0 and kept_pace,
        ""
        if kept_pace
        else f"made in {load['seconds']:.1f} s, all stored after {load['seconds_until_stored']:.1f} s",
    )
    many = ours["processes"]
    yield Line(
        "2",
        f"{many['processes']} processes on one file lose nothing",
        f"{many['stored']:,} of {many['made']:,} stored",
        many["stored"] == many["made"],
    )


def _memory(ours: dict[str, Any]) -> Iterator[Line]:
    held, grown = ours["queued_bytes"], ours["growth"]
    yield Line("4", "a span that waits holds ≤ 1 KB", f"{held:,.0f} B", held <= 1024)
    per_span = grown["blocks"] / grown["spans"]
    resident = "" if grown["resident"] is None else f", resident {grown['resident'] / 1024:+,.0f} KB"
    yield Line(
        "4",
        f"no growth over {grown['spans']:,} spans",
        f"{grown['blocks']:+,} memory blocks{resident}",
        per_span < 0.001,
    )


def _imports(found: dict[str, Any]) -> Iterator[Line]:
    rows = found["rows"]
    over = rows["import agenttrace"]["median"] - rows["import wrapt"]["median"]
    yield Line(
        "6",
        "import agenttrace: ≤ 30 ms over import wrapt",
        f"{over:+.0f} ms ({rows['import agenttrace']['median']:.0f} ms over bare Python)",
        over <= 30,
    )
    yield Line(
        "6",
        "import agenttrace loads no heavy library",
        ", ".join(found["loaded"]) or "none",
        not found["loaded"],
    )
    plugin = rows.get("agenttrace.pytest_plugin, over pytest")
    if plugin is None:
        yield Line("6", "the pytest plugin adds ≤ 5 ms", "—", None, "there is no plugin here")
    else:
        yield Line("6", "the pytest plugin adds ≤ 5 ms", f"{plugin['median']:.1f} ms", plugin["median"] <= 5)


def _online(found: dict[str, Any]) -> Iterator[Line]:
    for name, row in found["microseconds"].items():
        yield Line(
            "5",
            f"async_evaluate, {name}: ≤ 8 µs on the caller, each accounted for",
            f"{figure(row['p50'])} µs (p99 {figure(row['p99'])})",
            row["p50"] <= 8 and row["asked"] == row["accounted"],
        )


def _tests(found: dict[str, Any]) -> Iterator[Line]:
    worst = max(found["trivial"].values())
    yield Line(
        "8",
        f"assert_test over {found['examples']:,} examples: ≤ 0.5 ms each beyond the agent",
        ", ".join(f"{figure(value)} ms ({store})" for store, value in found["trivial"].items()),
        worst <= 0.5,
    )
    for style, (one, ten, *_) in found["seconds"].items():
        yield Line("8", f"{style} agents that wait, 10 at a time", f"× {figure(one / ten)}", one / ten >= 8)
