"""The process of one peer: closes the network, measures, prints the figures as JSON."""

from __future__ import annotations

import argparse
import importlib
import json
import logging
import warnings
from dataclasses import asdict

from benchmarks.callers_side import Effort, measure_all, measure_threads
from benchmarks.loads import measure_loads
from benchmarks.peers.fence import close_the_network
from benchmarks.storing import measure_storing
from benchmarks.subject import Subject


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("module")
    parser.add_argument("--blocks", type=int, required=True)
    parser.add_argument("--seconds", type=float, required=True)
    options = parser.parse_args()
    close_the_network()
    logging.disable(logging.CRITICAL)
    warnings.simplefilter("ignore")
    subject: Subject = importlib.import_module(f"benchmarks.peers.{options.module}").start()
    effort = Effort(blocks=options.blocks, calls=100, seconds=options.seconds)
    figures = {
        "cases": {name: asdict(found) for name, found in measure_all(subject, effort, heavy=False).items()},
        "threads": measure_threads(subject, effort),
        "loads": measure_loads(subject, seconds=options.seconds),
        "stored": asdict(measure_storing(subject, 20_000, 2 * options.seconds)),
    }
    print(json.dumps(figures), flush=True)


if __name__ == "__main__":
    main()
