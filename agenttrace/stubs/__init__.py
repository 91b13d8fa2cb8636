"""Say what a simulated tool answers."""

from agenttrace.stubs.stub import (
    Returns,
    Stub,
    cases,
    faulty,
    raises,
    real,
    returns,
    sequence,
    slow,
    when,
)

__all__ = [
    "Returns",
    "Stub",
    "cases",
    "faulty",
    "raises",
    "real",
    "returns",
    "sequence",
    "slow",
    "when",
]
