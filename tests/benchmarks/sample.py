"""Figures as the scripts give them, all of them within the budgets."""

from typing import Any

from benchmarks.cases import CASES
from benchmarks.loads import PAYLOADS


def overhead(p50: float = 1.0) -> dict[str, Any]:
    figures = {"bare": 0.1, "p50": p50, "quiet": p50, "p99": 4 * p50}
    cases = {case.name: figures for case in CASES}
    ours = {"cases": cases, "threads": 1.0}
    burst = {"wall_us": 5.0, "cpu_us": 5.0, "spans": 10, "lost": 0.0}
    loads = {
        "payloads": {
            size: {"caller_us": 2.0, "instructions": None, "cpu_us": 20.0, "lost": 0.0} for size in PAYLOADS
        },
        "unresting": {"made_per_s": 60_000.0, "stored_per_s_meanwhile": None, "lost": None},
        "decorating_us": 8.0,
    }
    slower = {case.name: {**figures, "p50": 60.0} for case in CASES}
    return {
        "ours": {
            "recording": ours,
            "sqlite": ours,
            "stored": [burst],
            "loads": loads,
            "disabled": {**figures, "p50": 0.0},
            "sustained": {
                "wanted_per_s": 150_000,
                "made": 150_000,
                "stored": 150_000,
                "seconds": 1.0,
                "seconds_until_stored": 1.01,
            },
            "processes": {"processes": 10, "made": 100, "stored": 100, "seconds": 1.0},
            "queued_bytes": 300.0,
            "growth": {"spans": 1_000_000, "blocks": 3, "resident": 0},
        },
        "peers": {
            "other": {
                "version": "1.0",
                "setting": "as it is",
                "cases": slower,
                "threads": None,
                "loads": loads,
                "stored": {**burst, "lost": None},
            },
            "judgeval": {
                "version": "1.0",
                "setting": "as it is",
                "cases": slower,
                "threads": 1.0,
                "loads": loads,
                "stored": burst,
            },
        },
        "absent": {"missing": "not installed"},
    }


def everything(p50: float = 1.0) -> dict[str, dict[str, Any]]:
    row = {"median": 5.0, "quiet": 4.0}
    return {
        "overhead": overhead(p50),
        "import_time": {"rows": {"import agenttrace": row, "import wrapt": row}, "loaded": []},
        "assert_test": {
            "examples": 1_000,
            "trivial": {"memory": 0.3},
            "waiting": 100,
            "seconds": {"async": [2.0, 0.2, 0.1]},
        },
        "online": {
            "calls": 100,
            "microseconds": {"room": {"p50": 3.0, "p99": 9.0, "asked": 120, "accounted": 120, "dropped": 0}},
        },
    }
