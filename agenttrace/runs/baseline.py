"""A baseline: the run that another one is compared with, in the store or in a small file without values."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, get_args

from agenttrace.core.errors import ConfigError, DatasetError
from agenttrace.core.example import Example
from agenttrace.core.jsonable import readable_json
from agenttrace.core.numbers import is_number
from agenttrace.core.protocols import Store
from agenttrace.core.report import EvaluationReport, ResultOutcome
from agenttrace.core.run_comparison import ExampleRecord, RunRecord
from agenttrace.datasets.files import write_text
from agenttrace.runs.compare import compare_runs
from agenttrace.runs.fingerprints import fingerprint_of
from agenttrace.runs.record import record_of_report, record_of_run
from agenttrace.runs.reference import find_run, newest_run_on
from agenttrace.runs.versioned_file import VersionedFile

__all__ = [
    "Baseline",
    "baseline_of",
    "compare_runs",
    "is_baseline_path",
    "read_baseline",
    "record_of_report",
    "record_of_run",
    "write_baseline",
]

Baseline = str | Path | EvaluationReport
"""A branch, a run (id or its beginning, ``last``, name), the path of a file, or a report."""

OUTCOMES = frozenset(get_args(ResultOutcome))
_DECIMALS = 6
HOW_TO_SAVE = (
    "save one with: agenttrace eval run … --save-baseline FILE, or from a stored run with: "
    "agenttrace runs export RUN --baseline -o FILE"
)
_FILE = VersionedFile("agenttrace_baseline", 1, "baseline", 64 * 1024 * 1024, advice=f"; {HOW_TO_SAVE}")


def write_baseline(record: RunRecord, path: str | Path) -> None:
    """Write a run's names, fingerprints, outcomes and numbers to a file that can be committed.

    Nothing of inputs, outputs, arguments and reasons is in it. Examples stand one a line, in the order of
    their names, so that two versions of the file differ where the runs do.

    Raises:
        ConfigError: the file cannot be written.
    """
    head = {
        _FILE.key: _FILE.version,
        "name": record.name,
        "project": record.project,
        "model": record.model,
        "run": record.run_id,
        "started": datetime.fromtimestamp(record.started_ns // 10**9, tz=UTC).isoformat(),
        "git": {name: record.git.get(name) for name in ("commit", "branch")},
        "dataset": record.dataset,
        "scorers": {
            name: {"lower_is_better": name in record.lower_is_better, "gate": name not in record.informing}
            for name in record.scorers
        },
    }
    order = sorted(record.examples, key=lambda e: (e.name or "", e.example_id or "", e.fingerprint))
    lines = ",\n".join(f"  {readable_json(_row(example))}" for example in order)
    fields = "".join(f" {readable_json(name)}: {readable_json(value)},\n" for name, value in head.items())
    try:
        write_text(Path(path), f'{{\n{fields} "examples": [\n{lines}\n ]\n}}\n')
    except DatasetError as error:
        raise ConfigError(f"the baseline {error}") from None


def _row(example: ExampleRecord) -> dict[str, Any]:
    row: dict[str, Any] = {
        "name": example.name,
        "id": example.example_id,
        "fingerprint": example.fingerprint,
        "outcomes": list(example.outcomes),
        "values": {
            name: [None if value is None else round(value, _DECIMALS) for value in values]
            for name, values in example.values.items()
        },
    }
    return {name: value for name, value in row.items() if value is not None}


def read_baseline(path: str | Path) -> RunRecord:
    """Return the run that a baseline file holds.

    Raises:
        ConfigError: there is no such file, it is damaged, no baseline, or of another version.
    """
    return _FILE.read(path, lambda data: _record(data, os.fspath(path)))


def _record(data: Mapping[str, Any], path: str) -> RunRecord:
    scorers = data["scorers"]
    return RunRecord(
        label=path,
        examples=tuple(_example(row, position) for position, row in enumerate(data["examples"])),
        run_id=data["run"],
        name=data["name"],
        project=data["project"],
        model=data["model"],
        started_ns=int(datetime.fromisoformat(data["started"]).timestamp()) * 10**9,
        dataset=data["dataset"],
        git=dict(data["git"]),
        scorers=tuple(scorers),
        lower_is_better=frozenset(name for name, facts in scorers.items() if facts["lower_is_better"]),
        informing=frozenset(name for name, facts in scorers.items() if not facts.get("gate", True)),
    )


def _example(row: Mapping[str, Any], position: int) -> ExampleRecord:
    here = f"in example {position + 1}:"
    outcomes = tuple(row["outcomes"])
    values = {name: tuple(values) for name, values in row["values"].items()}
    if not isinstance(row["fingerprint"], str):
        raise TypeError(f"{here} the fingerprint is a text")
    if not outcomes or isinstance(row["outcomes"], str) or not set(outcomes) <= OUTCOMES:
        raise ValueError(f"{here} outcomes are of {', '.join(sorted(OUTCOMES))}")
    if not all(
        value is None or (is_number(value) and 0 <= value <= 1) for one in values.values() for value in one
    ):
        raise ValueError(f"{here} values are numbers from 0 to 1")
    if not all(isinstance(one, str | None) for one in (row.get("name"), row.get("id"))):
        raise TypeError(f"{here} name and id are texts")
    return ExampleRecord(
        fingerprint=row["fingerprint"],
        example_id=row.get("id"),
        name=row.get("name"),
        outcomes=outcomes,
        values=values,
        position=position,
    )


def is_baseline_path(reference: str | Path) -> bool:
    """Whether this names a file: a path object, what ends with .json or is there, never a bare word else."""
    return isinstance(reference, Path) or reference.endswith(".json") or os.path.isfile(reference)


def baseline_of(
    reference: Baseline,
    store: Store | None,
    examples: Sequence[Example],
    *,
    project: str,
    name: str | None = None,
) -> RunRecord:
    """Return the run that an evaluation of these examples is to be compared with.

    A report is itself the baseline. A text is the path of a file, where one is there or it ends with
    ``.json``; else a branch: the newest stored run of the same suite whose git branch it is; else one stored
    run: ``last``, ``last~1``, the beginning of an id, a name. Runs are of the same suite if they are of the
    same `project`, with the same `name` where one is given, and have an example in common.

    Raises:
        ConfigError: there is no such baseline; the text says how to save one.
        StoreError: the store cannot be read.
    """
    if isinstance(reference, EvaluationReport):
        return record_of_report(reference)
    if not isinstance(reference, str | Path) or not str(reference):
        raise ConfigError(
            f"baseline is a branch, a run, the path of a file or a report, got {type(reference).__name__}"
        )
    if is_baseline_path(reference):
        return read_baseline(reference)
    text = str(reference)
    if store is not None:
        prints = {fingerprint_of(example) for example in examples}
        run = newest_run_on(store, text, prints=prints, project=project, name=name)
        if run is not None:
            return record_of_run(run, f"{text} (run {run['run_id'][:8]})")
        run = find_run(store, text, project=project)
        if run is not None:
            return record_of_run(run)
    raise ConfigError(
        f"there is no baseline {text!r}: no file, no run of the project {project!r} on such a branch with "
        f"any of these examples, no run with this id or name; {HOW_TO_SAVE}"
    )
