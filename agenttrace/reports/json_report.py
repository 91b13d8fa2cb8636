"""An evaluation report as JSON, in a form with a version and a published schema."""

from __future__ import annotations

from importlib.resources import files
from typing import Any

from agenttrace.core.json_reader import strict_json
from agenttrace.core.jsonable import jsonable, readable_json
from agenttrace.core.report import EvaluationReport
from agenttrace.reports.text import safe_json
from agenttrace.version import __version__

FORMAT_VERSION = 1
"""Grows when a key changes its meaning or goes; new keys come without."""


def json_report(report: EvaluationReport) -> str:
    """The report as JSON text, which `EvaluationReport.from_dict` reads back.

    Redact it first, as the store does: it holds what was recorded. Traces are named by their ids.
    """
    data = {
        "format_version": FORMAT_VERSION,
        "agenttrace": __version__,
        "passed": report.passed,
        "summary": {key: value for key, value in report.summary().to_dict().items() if key != "examples"},
        **report.to_dict(),
    }
    return safe_json(readable_json(jsonable(data), indent=2)) + "\n"


def report_schema() -> dict[str, Any]:
    """The JSON schema of `json_report`, draft 2020-12."""
    text = files("agenttrace.reports").joinpath("report.schema.json").read_text("utf-8")
    schema: dict[str, Any] = strict_json(text)
    return schema
