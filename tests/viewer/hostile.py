"""Runs in which every text that anybody can write is one text."""

from __future__ import annotations

from typing import Any

from agenttrace.core.report import EvaluationReport
from agenttrace.store import SQLiteStore

_CHECKED = {
    "run_id", "trace_id", "example_id", "created_at", "outcome", "fingerprint", "kind", "mode", "match",
    "status",
}  # fmt: skip
"""What is written by the library itself, and is checked when it is read."""


def with_text(value: Any, text: str) -> Any:
    """The same data with each text replaced, the keys of free mappings too."""
    if isinstance(value, dict):
        return {key: part if key in _CHECKED else with_text(part, text) for key, part in value.items()}
    if isinstance(value, list):
        return [with_text(part, text) for part in value]
    return text if isinstance(value, str) else value


def add_runs(store: SQLiteStore, source: SQLiteStore, text: str) -> list[str]:
    """Write two runs like two of another store's, with one text wherever there is one; returns their ids."""
    ids = []
    for number, line in enumerate(run for run in source.runs() if run.name == "refunds"):
        data = source.run(line.run_id)
        assert data is not None
        hostile = with_text(data, text)
        for result in hostile["results"]:
            result["example"]["expected_tools"] = [
                {"tool_name": text or "t", "parameters": {text or "k": text}}
            ]
            result["error"] = text if number else None
            result["example"]["input"] = {text: text}
            for score in result["scores"]:
                score["metadata"] = {"prompts": {text: text}}
                score["evidence"] = {text: {text: text}}
                score["details"] = {**score["details"], text: [text]}
        hostile["metadata"][text] = text
        ids.append(store.write_report(EvaluationReport.from_dict(hostile)))
    return ids
