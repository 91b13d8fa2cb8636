"""What recording a call costs, beside a bare call and beside whichever peers are installed.

The tool is `tool(city: str, days: int = 3) -> str` under a root span, called ``tool("Paris", days=2)``,
inputs and output recorded. Every call is timed alone; blocks of 100 bare calls alternate with blocks of 100
observed ones; a figure is the observed median less the bare one, per span. *quiet* is the tenth percentile
of the blocks' medians, p99 that of single calls. Each library is measured in a process of its own, which
can reach no network; what each is set to do stands below the table. Between blocks peers may flush, untimed;
agenttrace's writer gets 2 ms.

    python benchmarks/overhead.py [--quick] [--peers-python PATH ...] [--no-peers] [--json]
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from typing import Any

from benchmarks.loads import FUNCTIONS, PAYLOADS
from benchmarks.options import parse, root
from benchmarks.peers.catalogue import PEERS, Peer, installed
from benchmarks.peers.fence import environment, isolation
from benchmarks.percentiles import figure, markdown, median

PEER_SECONDS = 240

PEER_CASES = ["sync", "async", "bound method", "small dict", "generator of 3", "nested, depth 5", "raising"]


def measure(*, quick: bool, interpreters: list[str]) -> dict[str, Any]:
    """Run each subject's process, one after the other."""
    command = [sys.executable, "-m", "benchmarks.measure_ours", *(["--quick"] if quick else [])]
    done = subprocess.run(command, cwd=root(), capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(f"measuring agenttrace failed:\n{done.stderr}")
    found: dict[str, Any] = {"ours": json.loads(done.stdout), "peers": {}, "absent": {}}
    available = installed(interpreters)
    for peer in PEERS:
        if peer.distribution not in available:
            found["absent"][peer.distribution] = "not installed"
            continue
        interpreter, version = available[peer.distribution]
        try:
            measured = measure_peer(peer, interpreter, quick=quick)
        except PeerFailed as reason:
            found["absent"][peer.distribution] = str(reason)
        else:
            found["peers"][peer.distribution] = {"version": version, "setting": peer.setting, **measured}
    return found


class PeerFailed(Exception):
    """A peer could not be measured; the message says why."""


def measure_peer(peer: Peer, interpreter: str, *, quick: bool) -> dict[str, Any]:
    """One peer, behind the fence."""
    effort = ["--blocks", "5", "--seconds", "0.05"] if quick else ["--blocks", "60", "--seconds", "1.0"]
    with tempfile.TemporaryDirectory() as home:
        try:
            done = subprocess.run(
                [*isolation(), interpreter, "-m", "benchmarks.measure_peer", peer.module, *effort],
                cwd=home,
                env={**environment(home, str(root())), **peer.environment},
                capture_output=True,
                text=True,
                timeout=PEER_SECONDS,
                check=False,
            )
        except subprocess.TimeoutExpired:
            raise PeerFailed(f"not done within {PEER_SECONDS} s") from None
    lines = done.stdout.splitlines()
    if done.returncode or not lines:
        last = (done.stderr.strip().splitlines() or ["no message"])[-1]
        raise PeerFailed(f"failed: {last[:200]}")
    measured: dict[str, Any] = json.loads(lines[-1])
    return measured


def report(found: dict[str, Any]) -> str:
    """The tables as Markdown."""
    parts = [
        "Microseconds that recording adds to a call, per span (*generator*: per generator):",
        _ours_by_case(found["ours"]),
        "Beside the peers: p50 on the caller's thread; *stored*: calls at full speed and the flush after"
        " them, wall time and processor time of the whole process per span; *lost*: spans of these that did"
        " not arrive.",
        _beside_peers(found),
        "\n".join(_settings(found)),
        *_loads(found),
    ]
    return "\n\n".join(parts)


def _ours_by_case(ours: dict[str, Any]) -> str:
    header = ["case", "bare", "wrapper p50", "quiet", "p99", "with SQLite p50", "quiet", "p99", "p99 / p50"]
    rows = []
    for case, alone in ours["recording"]["cases"].items():
        stored = ours["sqlite"]["cases"][case]
        cells = [alone["bare"], alone["p50"], alone["quiet"], alone["p99"]]
        cells += [stored["p50"], stored["quiet"], stored["p99"], stored["p99"] / stored["p50"]]
        rows.append([case, *map(figure, cells)])
    threads = ["8 threads, wall", "—", figure(ours["recording"]["threads"]), "—", "—"]
    rows.append([*threads, figure(ours["sqlite"]["threads"]), "—", "—", "—"])
    return markdown(header, rows)


def _beside_peers(found: dict[str, Any]) -> str:
    header = ["", *PEER_CASES, "100 KB dict", "8 threads", "sync p99", "stored wall", "stored CPU", "lost"]
    ours = found["ours"]
    stored = {key: median(burst[key] for burst in ours["stored"]) for key in ("wall_us", "cpu_us", "lost")}
    subjects = {
        "agenttrace, wrapper alone": {**ours["recording"], "stored": None},
        "agenttrace, SQLite": {**ours["sqlite"], "stored": stored},
        **found["peers"],
    }
    rows = [_subject_row(name, subject) for name, subject in subjects.items()]
    return markdown(
        [*header, "× ours"], [[*row, _times(name, found)] for name, row in zip(subjects, rows, strict=True)]
    )


def _subject_row(name: str, subject: dict[str, Any]) -> list[str]:
    cases = subject["cases"]
    stored = subject["stored"] or {"wall_us": None, "cpu_us": None, "lost": None}
    return [
        name,
        *(figure(cases[case]["p50"]) for case in [*PEER_CASES, "100 KB nested dict"]),
        figure(subject["threads"]),
        figure(cases["sync"]["p99"]),
        figure(stored["wall_us"]),
        figure(stored["cpu_us"]),
        "—" if stored["lost"] is None else f"{max(stored['lost'], 0):.1%}",
    ]


def _times(name: str, found: dict[str, Any]) -> str:
    if name not in found["peers"]:
        return "—"
    ours = found["ours"]["sqlite"]["cases"]["sync"]["p50"]
    return figure(found["peers"][name]["cases"]["sync"]["p50"] / ours)


def _settings(found: dict[str, Any]) -> list[str]:
    lines = [f"- {name} {peer['version']}: {peer['setting']}" for name, peer in found["peers"].items()]
    return lines + [f"- {name}: not measured, {reason}" for name, reason in found["absent"].items()]


def _loads(found: dict[str, Any]) -> list[str]:
    """The tables of real payloads, and what they do not show."""
    subjects = {"agenttrace, SQLite": found["ours"], **found["peers"]}
    sizes = list(PAYLOADS)
    rows = []
    for name, subject in subjects.items():
        loads = subject["loads"]
        cells: list[str] = []
        for size in sizes:
            load = loads["payloads"][size]
            counted = load["instructions"]
            thousands = "—" if counted is None else f"{counted / 1000:,.0f} k"
            cells.append(f"{figure(load['caller_us'])} / {thousands} / {figure(load['cpu_us'])}")
        app = loads["unresting"]
        lost = "—" if app["lost"] is None else f"{app['lost']:.1%}"
        meanwhile = app["stored_per_s_meanwhile"]
        stored = "—" if meanwhile is None else f"{meanwhile:,.0f}"
        never_rests = f"{app['made_per_s']:,.0f} / {stored} / {lost}"
        rows.append([name, *cells, never_rests, figure(loads["decorating_us"])])
    header = ["", *sizes, "app that never rests", "decorating"]
    off = found["ours"]["disabled"]
    return [
        "Payloads by their size as JSON: microseconds of the calling thread a span, with its share of the end"
        " of the root / instructions of the same (— where they cannot be counted) / microseconds of processor"
        " of the whole process until stored or exported. *App that never rests*: spans that a thread makes"
        " which computes between its calls and never waits / stored meanwhile, both per second / lost in the"
        f" end. *Decorating*: microseconds a function, {FUNCTIONS:,} functions of different parameters.",
        markdown(header, rows),
        f"Switched off (`AGENTTRACE_ENABLED=0`), a call takes {figure(off['p50'])} µs more than a bare one.",
        BESIDE_THE_FIGURES,
    ]


BESIDE_THE_FIGURES = """\
What the figures do not say:

- The peers' exporters drop what they get; agenttrace's spans are redacted and in a file when they count.
- The peers' figures on the caller contain all their JSON; agenttrace makes it on its own thread.
- Peers do, and agenttrace does not: keep values of any size whole, show unknown objects by their `repr`, send
  spans while they run (judgeval, langsmith), carry OpenTelemetry's context and baggage, note source lines
  (logfire, deepeval), keep media beside a trace (langfuse), export to a server without being told.
- agenttrace does, and most peers do not: bound the work for a value, copy what is passed before the function
  can change it, run no code of the values, redact secrets by what they look like (logfire does, sentry by
  key), keep every span in a file of your own before anything is sent, compare it with what should happen."""


if __name__ == "__main__":
    options = parse(__doc__)
    measured = measure(quick=options.quick, interpreters=options.interpreters)
    print(json.dumps(measured) if options.json else report(measured))
