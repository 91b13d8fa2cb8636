"""Keep evaluations as runs: find, compare and exchange them, hold one against a baseline."""

from agenttrace.runs.baseline import Baseline, baseline_of, read_baseline, write_baseline
from agenttrace.runs.compare import compare_runs
from agenttrace.runs.file import read_run, write_run
from agenttrace.runs.record import record_of_report, record_of_run

__all__ = [
    "Baseline",
    "baseline_of",
    "compare_runs",
    "read_baseline",
    "read_run",
    "record_of_report",
    "record_of_run",
    "write_baseline",
    "write_run",
]
