"""A whole run as a file, and back: what `agenttrace runs export` and `import` exchange."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, get_args

from agenttrace.core.errors import ConfigError, DatasetError
from agenttrace.core.jsonable import jsonable, readable_json
from agenttrace.core.numbers import is_number, is_whole
from agenttrace.core.report import EvaluationReport, ResultOutcome
from agenttrace.core.score import Score
from agenttrace.core.text import described
from agenttrace.datasets.files import write_text
from agenttrace.runs.versioned_file import VersionedFile
from agenttrace.scoring.apply import why_not_a_score

_FILE = VersionedFile(
    "agenttrace_run",
    1,
    "run",
    1024 * 1024 * 1024,
    advice="; `agenttrace runs export` writes one. A baseline is used as it is (--baseline FILE)",
)
_RUN_ID = re.compile("[0-9a-f]{32}")
_LARGEST_NUMBER = 2**63 - 1
_OUTCOMES = get_args(ResultOutcome)


def write_run(run: Mapping[str, Any], path: str | Path) -> None:
    """Write a run that `Store.run` returned: its results with inputs, outputs and scores, not its traces.

    Raises:
        ConfigError: the file cannot be written.
    """
    try:
        write_text(
            Path(path),
            readable_json(jsonable({_FILE.key: _FILE.version, **run}), indent=1) + "\n",
            is_private=True,
        )
    except DatasetError as error:
        raise ConfigError(f"the run cannot be written: {error}") from None


def read_run(path: str | Path) -> EvaluationReport:
    """Return the run of a file.

    Raises:
        ConfigError: there is no such file, it is damaged, of another version, or holds no whole run.
    """
    return _FILE.read(path, _report)


def _report(data: Mapping[str, Any]) -> EvaluationReport:
    _check(data)
    return EvaluationReport.from_dict(data)


def _is_text(value: Any) -> bool:
    return isinstance(value, str)


def _is_no_text(value: Any) -> bool:
    return value is None or isinstance(value, str)


def _is_number_from(least: int, value: Any) -> bool:
    return is_whole(value, least) and value <= _LARGEST_NUMBER


def _is_seconds(value: Any) -> bool:
    return value is None or (is_number(value) and 0 <= value < math.inf)


_OF_RUN: Mapping[str, Callable[[Any], bool]] = {
    "run_id": lambda value: isinstance(value, str) and _RUN_ID.fullmatch(value) is not None,
    "name": _is_text,
    "project": _is_text,
    "model": _is_no_text,
    "started_ns": lambda value: _is_number_from(0, value),
    "duration": lambda value: value is not None and _is_seconds(value),
    "metadata": lambda value: isinstance(value, dict),
}
_OF_RESULT: Mapping[str, Callable[[Any], bool]] = {
    "outcome": _OUTCOMES.__contains__,
    "position": lambda value: _is_number_from(0, value),
    "trial": lambda value: _is_number_from(1, value),
    "trials": lambda value: _is_number_from(1, value),
    "trace_id": _is_no_text,
    "run_duration": _is_seconds,
    "error": _is_no_text,
    "source": _is_no_text,
    "example": lambda value: isinstance(value, dict),
}


def _check(data: Mapping[str, Any]) -> None:
    """Raise ValueError for a value that `write_run` never writes: in a store it would break every list."""
    _check_fields(data, _OF_RUN, "")
    for position, result in enumerate(data["results"], 1):
        _check_fields(result, _OF_RESULT, f"result {position}: ")
        for row in result["scores"]:
            score = Score.from_dict(row)
            fault = why_not_a_score(score) if _is_text(score.name) else f"has the name {score.name!r}"
            if fault is None and not _is_seconds(score.duration):
                fault = f"has the duration {described(score.duration)}"
            if fault is not None:
                raise ValueError(f"result {position}: a scorer {fault}")


def _check_fields(data: Mapping[str, Any], checks: Mapping[str, Callable[[Any], bool]], where: str) -> None:
    for name, is_right in checks.items():
        value = data[name]
        if not is_right(value):
            raise ValueError(f"{where}{name} is {described(value)}")
