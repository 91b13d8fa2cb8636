"""Which stored run a text means: ``last``, ``last~1``, the beginning of an id, a name, a branch."""

from __future__ import annotations

import re
from collections.abc import Collection
from typing import Any

from agenttrace.core.errors import StoreError
from agenttrace.core.protocols import Store
from agenttrace.core.summary import RunSummary
from agenttrace.runs.record import prints_of

_LAST = re.compile(r"last(?:~(\d{1,6}))?")
_MOST_RUNS = 1_000
"""The newest runs, among which names and branches are looked for."""
_SHORTEST_ID = 4
_BRANCH = "branch"


def find_run(store: Store, reference: str, *, project: str | None = None) -> dict[str, Any] | None:
    """Return the run that a text means, as `Store.run` does, or None.

    In this order: ``last`` (the newest), ``last~2`` (the second before it), the only id that begins so, the
    newest run of that name.

    Raises:
        StoreError: the text begins several ids, or the store cannot be read.
    """
    match = _LAST.fullmatch(reference)
    if match is not None:
        place = int(match[1] or 0)
        runs = store.runs(project=project, limit=place + 1)
        return store.run(runs[place].run_id) if place < len(runs) else None
    try:
        by_id = store.run(reference) if len(reference) >= _SHORTEST_ID else None
        several = None
    except StoreError as error:
        by_id, several = None, error
    if by_id is not None:
        return by_id
    runs = store.runs(project=project, limit=_MOST_RUNS)
    for run in runs:
        if run.name == reference:
            return store.run(run.run_id)
    if several is not None:
        raise several
    return None


def newest_run_on(
    store: Store,
    branch: str,
    *,
    prints: Collection[str] | None = None,
    project: str | None = None,
    name: str | None = None,
) -> dict[str, Any] | None:
    """Return the newest finished run on a branch, or None; with `prints`, one with such a fingerprint."""
    for run in store.runs(project=project, limit=_MOST_RUNS):
        if (
            branch_of(run) == branch
            and name in (None, run.name)
            and not run.metadata.get("interrupted")
            and (prints is None or any(entry["fingerprint"] in prints for entry in prints_of(run.metadata)))
        ):
            return store.run(run.run_id)
    return None


def branch_of(run: RunSummary) -> str | None:
    """The git branch that was checked out when a run was made, where it is known."""
    git = run.metadata.get("git")
    branch = git.get(_BRANCH) if isinstance(git, dict) else None
    return branch if isinstance(branch, str) else None
