"""Spans, scores, reports and old files for the tests of this room."""

import json
import sqlite3
from contextlib import closing

from agenttrace.core.example import Example
from agenttrace.core.report import EvaluationReport, ScoringResult
from agenttrace.core.score import Score
from agenttrace.core.span import Span
from agenttrace.core.tool import Parameter, ToolDefinition
from agenttrace.core.trace import Trace
from agenttrace.store import migrations

WEATHER = ToolDefinition("get_weather", (Parameter("city"), Parameter("days", default=3)), ("read",))
TRACE = 0xABCD << 112


def a_span(span=1, trace=TRACE, **fields):
    fields = {"name": "get_weather", "span_type": "tool", "project": "p", **fields}
    return Span(trace_key=trace, span_key=span, **fields)


def a_trace(trace=TRACE, calls=3, start=1_000, name="agent", project="p"):
    """Children before their root, as they end."""
    children = [
        a_span(
            10 + i, trace, parent_key=1, index=i, start_ns=start + i, end_ns=start + i + 5, project=project,
            input={"city": "Paris", "days": i}, output=f"day {i}", tool=WEATHER,
        )
        for i in range(1, calls + 1)
    ]  # fmt: skip
    root = a_span(
        1, trace, name=name, span_type="agent", start_ns=start, end_ns=start + 100, project=project,
        input={"prompt": "hi"}, output="done",
    )  # fmt: skip
    return [*children, root]


def a_score(name="Tool Order", value=1.0):
    return Score.of(name, value, 0.5, reason="all aligned", details={"matched": 3}, diff="✓ 1")


def a_report(name="nightly", started_ns=5, trace=None, results=1):
    return EvaluationReport(
        results=tuple(
            ScoringResult(
                example=Example(input="hi", expected_tools=["get_weather"], name=f"case {i}"),
                scores=(a_score(), Score.skipped("Judge", 0.5, "no key")),
                trace=trace if trace is not None else Trace(trace_key=TRACE),
                outcome="passed",
                position=i,
            )
            for i in range(results)
        ),
        name=name,
        project="p",
        started_ns=started_ns,
        duration=1.5,
        metadata={"commit": "abc"},
    )


def fields(span):
    return {name: getattr(span, name) for name in Span.__slots__}


def write_as_before(path, traces=60):
    """Make a file with the steps that versions before 0.2 know, as they filled it."""
    steps = migrations.MIGRATIONS[:3]
    with closing(sqlite3.connect(path, isolation_level=None)) as db:
        db.execute("PRAGMA journal_mode = WAL")
        db.execute(f"PRAGMA application_id = {migrations.APPLICATION_ID}")
        db.execute("CREATE TABLE migrations (name TEXT PRIMARY KEY, applied_ns INTEGER NOT NULL)")
        for name, statements in steps:
            for statement in statements:
                db.execute(statement)
            db.execute("INSERT INTO migrations VALUES (?, 1)", (name,))
        db.execute(
            "INSERT INTO functions VALUES (1, 'p', 'agent', 'agent', ''), (2, 'p', 'get_weather', 'tool', '')"
        )
        for number in range(1, traces + 1):
            db.execute(
                "INSERT INTO traces VALUES (?, ?, 'p', 'agent', ?)", (number, f"{number:032x}", number)
            )
            for span in range(1, 12):
                function, parent = (1, None) if span == 1 else (2, 1)
                row = (number, span, parent, span, function, number, number + 9, json.dumps({"n": span}))
                db.execute("INSERT INTO span_rows VALUES (?, ?, ?, ?, ?, ?, ?, ?, NULL, NULL)", row)
