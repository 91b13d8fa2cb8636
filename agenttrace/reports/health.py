"""Whether recording into a store is sound: its file, the processes that write, what was lost, what waits."""

from __future__ import annotations

import os
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from agenttrace.core.losses import LOSSES, Trouble, trouble_of_loss
from agenttrace.core.protocols import KeepsWatch
from agenttrace.reports.openmetrics import RUNNING_SECONDS
from agenttrace.reports.text import Line, safe_line

_DAY_NS = 24 * 3600 * 10**9
_LONGEST = 600


def health_data(
    watch: KeepsWatch, path: str | None, *, troubles: Sequence[Trouble] = (), now_ns: int | None = None
) -> dict[str, Any]:
    """Return the state of a store as JSON data, over all processes that write to it, or did lately.

    ``ok`` is false where there are ``troubles``: what was lost, each with what to do, and those that are
    given, of what the store's counts do not say. ``errored_scores`` are of the last day.

    Raises:
        StoreError: the store cannot be read.
    """
    now = time.time_ns() if now_ns is None else now_ns
    writers = watch.writers()
    totals: Counter[str] = Counter()
    for writer in writers:
        totals.update(writer.counts)
    lost = {name: totals[name] for name in LOSSES if totals[name]}
    all_troubles = [*troubles, *(trouble_of_loss(name, count) for name, count in lost.items())]
    return {
        "ok": not all_troubles and not totals["waiting"],
        "troubles": [trouble.to_dict() for trouble in all_troubles],
        "file": _file(path),
        "counts": dict(sorted(totals.items())),
        "lost": lost,
        "writers": [
            {
                **writer.to_dict(),
                "running": writer.ended_ns is None and now - writer.seen_ns < RUNNING_SECONDS * 1e9,
            }
            for writer in writers
        ],
        "projects": [{"project": one.project, "traces": one.traces} for one in watch.trace_counts()],
        "errored_scores": {
            f"{one.project}/{one.name}": one.errored
            for one in watch.score_counts(since_ns=now - _DAY_NS)
            if one.errored
        },
    }


def unreadable_data(troubles: Sequence[Trouble]) -> dict[str, Any]:
    """The same where the store cannot be read: troubles alone."""
    return {
        "ok": False,
        "troubles": [trouble.to_dict() for trouble in troubles],
        "file": None,
        "counts": {},
        "lost": {},
        "writers": [],
        "projects": [],
        "errored_scores": {},
    }


def _file(path: str | None) -> dict[str, Any] | None:
    if path is None:
        return None
    try:
        status = os.stat(path)
    except OSError:
        return {"path": path, "bytes": None}
    log = path + "-wal"
    return {
        "path": path,
        "bytes": status.st_size,
        "log_bytes": os.stat(log).st_size if os.path.exists(log) else 0,
        "mode": f"{status.st_mode & 0o777:o}",
    }


def health_lines(data: Mapping[str, Any]) -> Iterator[Line]:
    """The same as text."""
    yield Line("recording is sound" if data["ok"] else "recording is in trouble", "" if data["ok"] else "red")
    for trouble in data["troubles"]:
        yield Line(f"trouble {safe_line(trouble['text'], _LONGEST)}", "red")
        yield Line(f"  to do {safe_line(trouble['remedy'], _LONGEST)}")
    file = data["file"]
    if file is not None and file["bytes"] is not None:
        yield Line(f"file    {safe_line(file['path'])}, {file['bytes'] / 1e6:.1f} MB, mode {file['mode']}")
    for one in data["projects"]:
        yield Line(f"traces  {one['traces']} of project {safe_line(one['project'])}")
    for writer in data["writers"]:
        state = "running" if writer["running"] else "ended" if writer["ended_ns"] else "no longer seen"
        counts = writer["counts"]
        faults = ", ".join(f"{name} {counts[name]}" for name in LOSSES if counts.get(name))
        written = f"{counts.get('written', 0)} spans written"
        waiting = f", {counts['waiting']} wait in memory" if counts.get("waiting") else ""
        yield Line(
            safe_line(
                f"writer  {writer['program'] or 'python'} (process {writer['pid']}), {state}: {written}"
            )
            + waiting
            + (f", {faults}" if faults else "")
        )
    for name, count in data["errored_scores"].items():
        yield Line(f"errored {count} scores of {safe_line(name)} within a day")
