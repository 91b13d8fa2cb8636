"""Say what a simulated tool answers."""

from agenttrace.stubs.making import (
    cases,
    faulty,
    raises,
    real,
    returns,
    sequence,
    slow,
    when,
)
from agenttrace.stubs.stub import Returns, Stub

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
