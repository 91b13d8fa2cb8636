"""A whole run as a file, and back: what `agenttrace runs export` and `import` exchange."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import fields
from pathlib import Path
from typing import Any

from agenttrace.core.errors import ConfigError, DatasetError
from agenttrace.core.example import Example
from agenttrace.core.jsonable import jsonable, readable_json
from agenttrace.core.report import EvaluationReport, ScoringResult
from agenttrace.core.score import Score
from agenttrace.core.trace import Trace
from agenttrace.datasets.files import read_text, write_text

VERSION = 1
_KEY = "agenttrace_run"
_LARGEST = 1024 * 1024 * 1024
_RUN_ID_DIGITS = 32
_SCORE_FIELDS = frozenset(field.name for field in fields(Score))


def write_run(run: Mapping[str, Any], path: str | Path) -> None:
    """Write a run that `Store.run` returned: its results with inputs, outputs and scores, not its traces.

    Raises:
        ConfigError: the file cannot be written.
    """
    try:
        write_text(Path(path), readable_json(jsonable({_KEY: VERSION, **run}), indent=1) + "\n")
    except DatasetError as error:
        raise ConfigError(f"the run cannot be written: {error}") from None


def read_run(path: str | Path) -> EvaluationReport:
    """Return the run of a file.

    Raises:
        ConfigError: there is no such file, it is damaged, of another version, or holds no whole run.
    """
    try:
        data = json.loads(read_text(Path(path), _LARGEST))
    except DatasetError as error:
        raise ConfigError(f"the run cannot be read: {error}") from None
    except ValueError as error:
        raise ConfigError(f"{path} is damaged: {error}") from None
    version = data.get(_KEY) if isinstance(data, Mapping) else None
    if version is None:
        is_baseline = isinstance(data, Mapping) and "agenttrace_baseline" in data
        hint = ": a baseline has no values, and is used as it is (--baseline FILE)" if is_baseline else ""
        raise ConfigError(f"{path} is no run that `agenttrace runs export` wrote{hint}")
    if version != VERSION:
        raise ConfigError(f"{path} has version {version!r}, and this agenttrace reads {VERSION}: upgrade")
    try:
        run_id = data["run_id"]
        if not (len(run_id) == _RUN_ID_DIGITS and int(run_id, 16) >= 0):
            raise ValueError(f"run_id is {run_id!r}")
        return report_of_run(data)
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise ConfigError(f"{path} is damaged: {type(error).__name__} {error}") from None


def report_of_run(run: Mapping[str, Any]) -> EvaluationReport:
    """Return the report of a run that `Store.run` returned; its traces have ids, and no spans."""
    return EvaluationReport(
        results=tuple(_result(entry) for entry in run["results"]),
        name=run["name"],
        project=run["project"],
        model=run["model"],
        started_ns=run["started_ns"],
        duration=run["duration"],
        metadata=run["metadata"],
        run_id=run["run_id"],
    )


def _result(entry: Mapping[str, Any]) -> ScoringResult:
    trace_id = entry["trace_id"]
    return ScoringResult(
        # Not checked: a redacted date is no date, and is shown all the same.
        example=Example.model_construct(**{**entry["example"], "name": entry["name"]}),
        scores=tuple(_score(score) for score in entry["scores"]),
        trace=None if trace_id is None else Trace(trace_key=int(trace_id, 16)),
        error=entry["error"],
        outcome=entry["outcome"],
        trial=entry["trial"],
        trials=entry["trials"],
        run_duration=entry["run_duration"],
        position=entry["position"],
        source=entry["source"],
    )


def _score(data: Mapping[str, Any]) -> Score:
    """A score of its fields; those that a newer version wrote are left out."""
    return Score(**{name: value for name, value in data.items() if name in _SCORE_FIELDS})
