"""Which run an argument of the command line means: a stored run, the newest of a branch, a baseline file."""

from __future__ import annotations

from typing import Any

from agenttrace.cli.main import own_command
from agenttrace.cli.store_option import place
from agenttrace.core.errors import StoreError
from agenttrace.core.protocols import Store
from agenttrace.core.run_comparison import RunRecord
from agenttrace.runs.baseline import is_baseline_path, read_baseline
from agenttrace.runs.record import record_of_run
from agenttrace.runs.reference import find_run, newest_run_on

HELP = "RUN is an id or its first digits (four or more), last, last~1, a run's name, or a git branch."


def stored_run(store: Store, reference: str, project: str | None = None) -> dict[str, Any]:
    """Return the stored run that a text means.

    Raises:
        StoreError: there is no such run, or the text begins several ids.
    """
    run = find_run(store, reference, project=project) or newest_run_on(store, reference, project=project)
    if run is None:
        raise StoreError(f"no run {reference!r} in {place(store)}; see: {own_command()} runs list")
    return run


def run_record(store: Store, reference: str, project: str | None = None) -> RunRecord:
    """Return what a comparison needs of a stored run, or of a baseline file.

    Raises:
        ConfigError: the file cannot be read as a baseline.
        StoreError: there is no such run.
    """
    if is_baseline_path(reference):
        return read_baseline(reference)
    return record_of_run(stored_run(store, reference, project))
