"""Calls of tools that had begun in a captured trace, and had not ended when its block did."""

from __future__ import annotations

import gc
from collections.abc import Iterable

from agenttrace.core.identity import monotonic_ns
from agenttrace.core.marks import not_recorded
from agenttrace.core.tool import TOOL
from agenttrace.tracing.record import END, EXTRA, FAILURE, INDEX, OBSERVED, OUTPUT, SCOPE, Record, Scope

STILL_RUNS = not_recorded("the call had not ended when the run did; wait for it in the agent, or cancel it")
"""What such a call returns."""


def unfinished_tools(scope: Scope, ended: Iterable[Record]) -> list[Record]:
    """The records of tools' calls that run in a trace beside those that ended, copied as they are now.

    Calls take a number as they begin: only where numbers are missing are they looked for, among all lists
    that refer to the trace, which takes milliseconds.
    """
    numbers = {record[INDEX] for record in ended if type(record) is list}
    if scope.next() - 1 == len(numbers):
        return []
    now = monotonic_ns()
    records: list[Record] = []
    for record in gc.get_referrers(scope):
        is_record = type(record) is list and len(record) > EXTRA and record[SCOPE] is scope
        if is_record and not record[END] and record[INDEX] not in numbers and _is_of_tool(record):
            copied = record.copy()
            copied[END], copied[OUTPUT], copied[FAILURE] = now, None, None
            records.append(copied)
    return sorted(records, key=lambda record: int(record[INDEX]))


def _is_of_tool(record: Record) -> bool:
    return getattr(record[OBSERVED], "span_type", None) == TOOL
