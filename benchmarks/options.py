"""The options that the benchmark scripts share."""

from __future__ import annotations

import argparse
import os
import sys
from dataclasses import dataclass
from pathlib import Path

PEERS_VARIABLE = "AGENTTRACE_PEERS_PYTHON"


@dataclass(frozen=True)
class Options:
    """What was asked for. `interpreters` are looked through for peers, in their order."""

    quick: bool
    json: bool
    interpreters: list[str]


def root() -> Path:
    """The checkout: where `benchmarks` can be imported from."""
    return Path(__file__).resolve().parent.parent


def parse(docstring: str | None) -> Options:
    """Read the command line of a script."""
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
    given = parser.parse_args()
    named = given.peers_python or [
        path for path in os.environ.get(PEERS_VARIABLE, "").split(os.pathsep) if path
    ]
    return Options(given.quick, given.json, [] if given.no_peers else named or [sys.executable])
