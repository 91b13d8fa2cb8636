"""deepeval's tracing, without an account: traces are made, and not sent."""

from __future__ import annotations

from deepeval.tracing import observe

from benchmarks.subject import Subject


def start() -> Subject:
    return Subject(observe(type="tool"), observe(type="agent"))
