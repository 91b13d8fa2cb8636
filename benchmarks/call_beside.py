"""The process whose recorded calls are counted while another one reads the file that they are stored in.

python -m benchmarks.call_beside COUNTER DIRECTORY
"""

from __future__ import annotations

import gc
import json
import sys
from pathlib import Path

from benchmarks.cases import CASES
from benchmarks.count_ours import stall_the_writer
from benchmarks.counters import COUNTERS, meter
from benchmarks.ours import with_sqlite

CALLS = 500


def main() -> None:
    counts = meter(next(name for name in COUNTERS if name == sys.argv[1]), inherit=False)
    subject, tracer = with_sqlite(Path(sys.argv[2]))
    stall_the_writer(tracer)
    call = CASES[0].make(subject.observe)

    def agent(calls: int) -> None:
        for _ in range(calls):
            call()

    run = subject.observe_root(agent)
    for _ in range(10):
        run(2 * CALLS)
        subject.flush()
    gc.collect()
    gc.disable()
    for calls in (CALLS, 2 * CALLS):
        counts.mark()
        run(calls)
        counts.mark()
        subject.flush()
    tracer.shutdown(timeout=60.0)
    print(json.dumps({"calls": CALLS, "readings": counts.readings()}), flush=True)


if __name__ == "__main__":
    main()
