"""The document of failing diffs is what its script makes of today's code."""

import importlib
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def failing_diffs():
    sys.path.insert(0, str(ROOT / "examples"))
    yield importlib.import_module("failing_diffs")
    sys.path.remove(str(ROOT / "examples"))


def test_the_document_is_generated(failing_diffs):
    """After a change of the layout: python examples/failing_diffs.py > docs/diffs.md."""
    assert failing_diffs.document() == (ROOT / "docs" / "diffs.md").read_text(encoding="utf-8")


def test_every_run_in_it_fails_and_has_a_diff(failing_diffs):
    for title, run in failing_diffs.RUNS.items():
        text = failing_diffs.section(title, run)
        assert "Score: 0.0" in text
        assert any(mark in text for mark in ("    ~ ", "    - ", "    ! "))
