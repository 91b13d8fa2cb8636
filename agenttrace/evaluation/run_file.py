"""A whole run as a file, and back: what `agenttrace runs export` and `import` exchange."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from agenttrace.core.errors import ConfigError, DatasetError, error_text
from agenttrace.core.json_reader import strict_json
from agenttrace.core.jsonable import jsonable, readable_json
from agenttrace.core.report import EvaluationReport
from agenttrace.datasets.files import read_text, write_text

VERSION = 1
_KEY = "agenttrace_run"
_LARGEST = 1024 * 1024 * 1024
_RUN_ID_DIGITS = 32


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
        data = strict_json(read_text(Path(path), _LARGEST))
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
        return EvaluationReport.from_dict(data)
    except (KeyError, TypeError, ValueError) as error:
        raise ConfigError(f"{path} is damaged: {error_text(error)}") from None
