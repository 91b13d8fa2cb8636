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

from benchmarks.options import parse, root
from benchmarks.peers.catalogue import PEERS, Peer, installed
from benchmarks.peers.fence import environment, isolation
from benchmarks.percentiles import figure, markdown, median

PEER_SECONDS = 120

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


if __name__ == "__main__":
    options = parse(__doc__)
    measured = measure(quick=options.quick, interpreters=options.interpreters)
    print(json.dumps(measured) if options.json else report(measured))
