"""Judges are asked on loopback only, with keys that tests give."""

from __future__ import annotations

import pytest


@pytest.fixture(autouse=True)
def _no_keys(monkeypatch: pytest.MonkeyPatch) -> None:
    """No test depends on, or uses up, what the machine's environment holds."""
    for name in (
        "OPENAI_API_KEY",
        "OPENAI_BASE_URL",
        "ANTHROPIC_API_KEY",
        "ANTHROPIC_BASE_URL",
        "AGENTTRACE_JUDGE_MODEL",
        "GROQ_API_KEY",
    ):
        monkeypatch.delenv(name, raising=False)
