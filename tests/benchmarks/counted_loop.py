"""A process for a counter of instructions: one of the gate's loops, of some turns and of twice as many.

    python -m tests.benchmarks.counted_loop COUNTER

It loads no library: under valgrind that would take many times as long as the loop.
"""

import gc
import json
import sys

from benchmarks.counters import meter
from benchmarks.reference import bytecodes

TURNS = 50
WARM_UP = 10


def main() -> None:
    counter = meter(sys.argv[1], inherit=False)
    gc.disable()
    for _ in range(WARM_UP):
        bytecodes(1)
    blocks = []
    for _ in range(3):
        for turns in (TURNS, 2 * TURNS):
            counter.mark()
            bytecodes(turns)
            counter.mark()
            blocks.append(("bytecodes", turns))
    print(json.dumps({"blocks": blocks, "readings": counter.readings()}), flush=True)


if __name__ == "__main__":
    main()
