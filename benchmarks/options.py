"""The options that the benchmark scripts share."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

PEERS_VARIABLE = "AGENTTRACE_PEERS_PYTHON"


@dataclass(frozen=True)
class Options:
    """What was asked for. `interpreters` are looked through for peers, in their order; `only` is the one
    script that is to be run."""

    quick: bool
    json: bool
    interpreters: list[str]
    only: str | None = None


def root() -> Path:
    """The checkout: where `benchmarks` can be imported from."""
    return Path(__file__).resolve().parent.parent


def parse(docstring: str | None, scripts: Iterable[str] = ()) -> Options:
    """Read the command line of a script; with the names of `scripts`, one of them may be asked for."""
    parser = argparse.ArgumentParser(description=(docstring or "").splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="few repetitions, for a first look")
    parser.add_argument("--json", action="store_true", help="print the figures as JSON instead of tables")
    parser.add_argument(
        "--peers-python",
        action="append",
        metavar="PATH",
        help="an interpreter that has peers installed; may be repeated, because peers exclude each other."
        f" Default: the paths in {PEERS_VARIABLE}, separated by {os.pathsep!r}, else this interpreter",
    )
    parser.add_argument("--no-peers", action="store_true", help="leave the peers out")
    if scripts:
        parser.add_argument("--only", choices=list(scripts), help="run this script, replace its section")
    given = parser.parse_args()
    named = given.peers_python or [
        path for path in os.environ.get(PEERS_VARIABLE, "").split(os.pathsep) if path
    ]
    interpreters = [] if given.no_peers else named or [sys.executable]
    return Options(given.quick, given.json, interpreters, given.only if scripts else None)
