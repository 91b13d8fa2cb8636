"""The conformance vectors beside the project, read once."""

import functools
import json
from pathlib import Path

import pytest

CASES = Path(__file__).resolve().parents[2] / ".." / "shared" / "cases"


@functools.cache
def rows(name):
    """The rows of a file; skips the test, visibly, where the vectors are not there."""
    path = CASES / f"{name}.json"
    if not path.exists():
        pytest.skip("the conformance vectors are not beside the project")
    data = json.loads(path.read_text(encoding="utf-8"))
    return data["cases"] if isinstance(data, dict) else data


def peer_rows(peer):
    """The rows of one peer."""
    return [row for row in rows("peer_cases") if row["peer"] == peer]


def told(row):
    """What a row says, short enough for a message."""
    keys = (
        "metric",
        "evaluator",
        "label",
        "config",
        "actual",
        "actual_calls",
        "expected",
        "criteria",
        "score",
    )
    return {key: row[key] for key in keys if key in row}
