"""`agenttrace serve` as a child process, and what is sent to it."""

import os
import subprocess
import sys

RULES = """
observe:
  - name: sound
    project: shop
    scorers: [Loop]
    rest: 0
    rest_without_root: 0
"""


def request(trace=1, spans=1, name="plan"):
    return {
        "resourceSpans": [
            {
                "scopeSpans": [
                    {
                        "spans": [
                            {
                                "traceId": f"{trace:032x}",
                                "spanId": f"{trace * 1000 + number:016x}",
                                "name": name,
                                "startTimeUnixNano": str(1_700_000_000_000_000_000 + number),
                                "endTimeUnixNano": str(1_700_000_000_000_001_000 + number),
                            }
                            for number in range(1, spans + 1)
                        ]
                    }
                ]
            }
        ]
    }


def serve(store, *more, folder=None):
    environment = {**os.environ, "XDG_STATE_HOME": str(folder or os.path.dirname(store))}
    process = subprocess.Popen(
        [sys.executable, "-m", "agenttrace", "serve", "--store", store, "--port", "0", "--no-token", *more],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        env=environment,
        text=True,
    )
    line = process.stdout.readline()
    assert "serves" in line, line
    return process, line.split()[0].rstrip("/")
