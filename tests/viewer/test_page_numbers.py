"""Every number as a page shows it, read from its HTML, is what SQL over the store says: at first, after late
spans, after traces were retired, after another store has taken the file's place."""

# ruff: noqa: E501 - statements of SQL on one line each are read more easily
from __future__ import annotations

import html
import os
import re
import sqlite3
import tempfile
from contextlib import closing
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from test_numbers import DAY, START

from agenttrace.core import semconv
from agenttrace.core.batch import Batch, ScoreRow
from agenttrace.core.example import Example
from agenttrace.core.score import Score
from agenttrace.core.span import Span
from agenttrace.evaluation.evaluate import run_evaluation
from agenttrace.scorers import ExactMatchScorer
from agenttrace.store import SQLiteStore
from agenttrace.tracer import Tracer
from agenttrace.viewer import api
from agenttrace.viewer.compare_page import compare_page
from agenttrace.viewer.group_page import group_page
from agenttrace.viewer.health_page import health_page
from agenttrace.viewer.reads import Reads
from agenttrace.viewer.run_list import run_list
from agenttrace.viewer.run_page import run_page
from agenttrace.viewer.score_page import score_list, score_page
from agenttrace.viewer.session_page import session_page
from agenttrace.viewer.tool_page import tool_page
from agenttrace.viewer.trace_list import trace_list
from agenttrace.viewer.trace_page import trace_page
from agenttrace.viewer.words import money_text, number_text, percent_text

CALL = st.tuples(
    st.sampled_from(["search", "refund", "notify"]),
    st.booleans(),
    st.integers(1, 10**6).map(lambda ms: ms * 1_000),
)
SCORE = st.tuples(
    st.sampled_from(["Order", "Answer"]), st.sampled_from(["errored", "skipped", 0.0, 0.25, 0.5, 1.0])
)
TRACE = st.fixed_dictionaries(
    {
        "calls": st.lists(CALL, max_size=5),
        "scores": st.lists(SCORE, max_size=3),
        "day": st.integers(0, 4),
        "customer": st.sampled_from(["acme", "globex", None]),
        "session": st.sampled_from(["one", "two", None]),
        "cost": st.none() | st.sampled_from([0.0, 0.25, 1.5]),
        "tokens": st.none() | st.integers(0, 5_000),
        "failed": st.booleans(),
    }
)
TRACES = st.lists(TRACE, min_size=1, max_size=5)


def write(store: SQLiteStore, traces, first: int = 1) -> None:
    for number, trace in enumerate(traces, first):
        start = START + trace["day"] * DAY + number * 1_000
        attributes = {
            key: value
            for key, value in (
                (semconv.CUSTOMER_ID, trace["customer"]),
                (semconv.SESSION_ID, trace["session"]),
            )
            if value is not None
        }
        usage = {} if trace["cost"] is None else {"cost": trace["cost"]}
        usage |= {} if trace["tokens"] is None else {"input_tokens": trace["tokens"], "output_tokens": 7}
        root = span(number, 1, f"agent_{number % 2}", start, 3 * 10**9, trace["failed"], span_type="agent")
        model = span(number, 2, "chat", start, 1_000, False, span_type="llm", parent_key=1, usage=usage)
        root.attributes = attributes
        calls = [
            span(number, key, name, start + key, length, failed, parent_key=1)
            for key, (name, failed, length) in enumerate(trace["calls"], 3)
        ]
        rows = [ScoreRow(f"{number:032x}", None, score(*each)) for each in trace["scores"]]
        store.write(Batch([root, model, *calls], scores=rows))


def span(number, key, name, start, length, failed, **more) -> Span:
    fields = {"span_type": "tool", "project": "p", "input": {"n": key}, **more}
    return Span(
        trace_key=number,
        span_key=key,
        index=key,
        name=name,
        start_ns=start,
        end_ns=start + length,
        status="error" if failed else "ok",
        **fields,
    )


def score(name: str, value) -> Score:
    if value == "errored":
        return Score(name=name, value=None, threshold=0.5, outcome="errored", reason="broke", error="x")
    if value == "skipped":
        return Score.skipped(name, 0.5, "nothing to say")
    return Score.of(name, value, 0.5)


# --- reading a page -----------------------------------------------------------------------------------------


def cells(text: str, table: str = "table") -> list[list[str]]:
    """The rows of a page's tables, each cell as the text that a reader sees."""
    rows = []
    for row in re.findall(r"<tr[^>]*>(.*?)</tr>", text, re.S):
        parts = re.findall(r"<t[dh][^>]*>(.*?)</t[dh]>", row, re.S)
        rows.append([" ".join(html.unescape(re.sub(r"<[^>]+>", "", part)).split()) for part in parts])
    return rows


def words(text: str) -> str:
    return " ".join(html.unescape(re.sub(r"<[^>]+>", "", text)).split())


def facets(text: str) -> dict[str, dict[str, int]]:
    part = text.partition('id="facets"')[2].partition("</details>")[0]
    return {
        title: {
            words(value): int(count.replace(",", ""))
            for value, count in re.findall(
                r'<span>([^<]*)</span><span class="count">([\d,]+)</span>', section
            )
        }
        for title, section in re.findall(r"<h2>(?:<a[^>]*>)?([^<]*)(?:</a>)?</h2>(.*?)</section>", part, re.S)
    }


# --- SQL ----------------------------------------------------------------------------------------------------

VERDICT = """(SELECT CASE WHEN sum(outcome = 'errored') + sum(outcome = 'failed') = 0 THEN
    CASE WHEN sum(outcome = 'passed') THEN 'passed' ELSE 'skipped' END
    WHEN sum(outcome = 'failed') THEN 'failed' ELSE 'errored' END
    FROM scores s WHERE s.trace_id = t.trace_id HAVING count(*))"""
ROOT = "(SELECT status FROM spans s WHERE s.trace_id = t.trace_id AND s.parent_id IS NULL)"


class Sql:
    def __init__(self, path: Path) -> None:
        self._path = path

    def __call__(self, statement: str, *values: object) -> list[tuple]:
        with closing(sqlite3.connect(f"file:{self._path}?mode=ro", uri=True)) as db:
            return db.execute(statement, values).fetchall()

    def one(self, statement: str, *values: object):
        return self(statement, *values)[0][0]

    def counts(self, statement: str) -> dict[str, int]:
        return {key: count for key, count in self(statement) if key is not None}


def quantile(values: list[float], share: float) -> float:
    return values[max(-(-int(share * 100) * len(values) // 100) - 1, 0)]


def check_lists(reads: Reads, sql: Sql) -> None:
    _, text = trace_list(reads, {})
    total = sql.one("SELECT count(*) FROM traces")
    if not total:
        assert "No traces yet" in text
        return
    assert words(text).count(f"{total} trace{'s' if total > 1 else ''} ") >= 1
    failed = sql.one(
        f"SELECT count(*) FROM traces t WHERE {ROOT} = 'error' OR {VERDICT} IN ('failed', 'errored')"
    )
    bars = re.findall(r"<title>[^<]*: ([\d,]+) traces, ([\d,]+) failed</title>", text)
    assert (sum(int(n) for n, _ in bars), sum(int(n) for _, n in bars)) == (total, failed)
    shown = facets(text)
    wanted = {
        "Verdict": sql.counts(f"SELECT {VERDICT}, count(*) FROM traces t GROUP BY 1"),
        "Customer": sql.counts("SELECT customer, count(*) FROM traces GROUP BY 1"),
        "Tool failed": sql.counts(
            "SELECT name, count(DISTINCT trace_id) FROM spans WHERE status = 'error' AND span_type = 'tool' GROUP BY 1"
        ),
    }
    status = sql.counts(f"SELECT {ROOT}, count(*) FROM traces t GROUP BY 1")
    agents = sql.counts("SELECT name, count(*) FROM traces GROUP BY 1")
    wanted |= {title: counts for title, counts in (("Status", status), ("Agent", agents)) if len(counts) > 1}
    for title, counts in wanted.items():
        assert shown.get(title, {}) == counts, title
    for customer, count in wanted["Customer"].items():
        listed = trace_list(reads, {"q": f"customer:{customer}"})[1]
        assert listed.count("data-id=") == count
        assert f'"total">{count} trace' in listed


def check_traces(reads: Reads, sql: Sql) -> None:
    for trace_id, spans, calls, errors, tokens, cost in sql(
        "SELECT trace_id, count(*), sum(span_type = 'tool'), sum(status = 'error'),"
        " sum(json_extract(usage, '$.input_tokens') + json_extract(usage, '$.output_tokens')),"
        " sum(json_extract(usage, '$.cost')) FROM spans GROUP BY trace_id"
    ):
        _, text = trace_page(reads, {"id": trace_id})
        head = words(text.partition('class="facts">')[2].partition("</p>")[0])
        assert f" {spans:,} span" in head
        assert f" {calls} tool call" in head
        assert (f"{errors} {'span' if errors == 1 else 'spans'} failed" in head) == bool(errors)
        assert (f"{tokens:,} tokens" if tokens is not None else " · ") in head
        assert ("tokens" in head) == (tokens is not None)
        assert head.endswith(money_text(cost)) if cost is not None else "$" not in head
        scores = sql.one("SELECT count(*) FROM scores WHERE trace_id = ?", trace_id)
        assert text.count('<details class="score ') == scores


def check_tools(reads: Reads, sql: Sql) -> None:
    rows = cells(tool_page(reads, {})[1])[1:]
    wanted = sql(
        "SELECT name, count(*), sum(status = 'error'), count(DISTINCT trace_id) FROM spans"
        " WHERE span_type = 'tool' GROUP BY name ORDER BY 2 DESC, 1"
    )
    assert [row[:5] for row in rows] == [
        [name, str(calls), str(failed), percent_text(failed, calls), str(traces)]
        for name, calls, failed, traces in wanted
    ]
    factors = {"µs": 1e3, "ms": 1e6, "s": 1e9, "min": 60e9}
    head = cells(tool_page(reads, {})[1])[:1]
    for name, *_, median, slow, _ in rows:
        durations = [n for (n,) in sql(
            "SELECT end_ns - start_ns FROM spans WHERE name = ? AND span_type = 'tool' ORDER BY 1", name
        )]  # fmt: skip
        factor = factors[head[0][5].rpartition(", ")[2]]
        for text, share in ((median, 0.5), (slow, 0.95)):
            value = quantile(durations, share) / factor
            assert text.startswith("<") or float(text.replace(",", "")) == pytest.approx(value, abs=0.51), (
                name
            )


def check_groups(reads: Reads, sql: Sql) -> None:
    rows = cells(group_page(reads, {"by": "customer"})[1])[1:]
    wanted = sql(
        f"SELECT customer, count(*), sum({VERDICT} = 'passed'), sum({VERDICT} IN ('passed', 'failed', 'errored'))"
        " FROM traces t WHERE customer IS NOT NULL GROUP BY 1 ORDER BY 2 DESC, 1"
    )
    assert [row[:4] for row in rows] == [
        [
            customer,
            str(count),
            f"{passed or 0} of {judged}" if judged else "–",
            percent_text(passed or 0, judged) if judged else "–",
        ]
        for customer, count, passed, judged in wanted
    ]
    for row in rows:
        of_customer = "trace_id IN (SELECT trace_id FROM traces WHERE customer = ?)"
        (cost,) = sql(f"SELECT sum(json_extract(usage, '$.cost')) FROM spans WHERE {of_customer}", row[0])[0]
        assert row[6] == ("–" if cost is None else money_text(cost))
    api_rows = api.groups(reads, {"by": "customer"})[1]["groups"]
    for each in api_rows:
        durations = [n for (n,) in sql(
            "SELECT max(end_ns) - min(start_ns) FROM spans WHERE trace_id IN"
            " (SELECT trace_id FROM traces WHERE customer = ?) GROUP BY trace_id ORDER BY 1", each["value"]
        )]  # fmt: skip
        assert (each["p50_ns"], each["p95_ns"]) == (quantile(durations, 0.5), quantile(durations, 0.95))
    worst = group_page(reads, {"by": "customer", "order": "worst"})[1]
    assert sorted(cells(worst)[1:]) == sorted(rows)


def check_scores(reads: Reads, sql: Sql) -> None:
    rows = [row[:6] for row in cells(score_list(reads, {})[1])[1:]]
    figures = (
        "count(*), avg(value), sum(outcome = 'failed'), sum(outcome = 'errored'), sum(outcome = 'skipped')"
    )
    wanted = sql(f"SELECT name, {figures} FROM scores GROUP BY name ORDER BY name")
    assert rows == [
        [name, str(count), number_text(mean) or "–", *map(str, rest)] for name, count, mean, *rest in wanted
    ]
    for name, *_ in wanted:
        days = [row for row in cells(score_page(reads, {"name": name})[1]) if re.match(r"\d{4}-", row[0])]
        assert days == [
            [day, str(count), number_text(mean) or "–", str(failed), str(errored)]
            for day, count, mean, failed, errored, _ in sql(
                f"SELECT date(t.started_ns / 1000000000, 'unixepoch', 'localtime'), {figures}"
                " FROM scores JOIN traces t USING (trace_id) WHERE scores.name = ? GROUP BY 1 ORDER BY 1 DESC",
                name,
            )
        ]


def check_sessions(reads: Reads, sql: Sql) -> None:
    sessions = "SELECT trace_id FROM spans WHERE json_extract(attributes, '$.\"session.id\"') = ?"
    for session in ("one", "two"):
        status, text = session_page(reads, {"session": session})
        count = sql.one(
            f"SELECT count(DISTINCT trace_id) FROM traces WHERE trace_id IN ({sessions})", session
        )
        assert status == (200 if count else 404)
        head = words(text.partition('class="facts">')[2].partition("</p>")[0])
        cost = sql.one(
            f"SELECT sum(json_extract(usage, '$.cost')) FROM spans WHERE trace_id IN ({sessions})", session
        )
        failed = sql.one(
            f"SELECT count(*) FROM traces t WHERE trace_id IN ({sessions})"
            f" AND ({ROOT} = 'error' OR {VERDICT} IN ('failed', 'errored'))",
            session,
        )
        assert head.startswith(f"{count} trace")
        assert (f"{failed} failed" in head) == bool(failed)
        assert (f" {money_text(cost)} " in head) if cost is not None else ("$" not in head)
        assert text.count("<li><p>") == count


def check_health(reads: Reads, sql: Sql) -> None:
    rows = {row[0]: row[1] for row in cells(health_page(reads, {})[1]) if len(row) > 1}
    for word, table in (("Traces", "traces"), ("Spans", "spans"), ("Scores", "scores"), ("Runs", "runs")):
        assert rows[word] == f"{sql.one(f'SELECT count(*) FROM {table}'):,}"
    assert rows["Could not be stored"] == str(sql.one("SELECT count(*) FROM quarantine"))


def check(reads: Reads, sql: Sql) -> None:
    for part in (
        check_lists,
        check_traces,
        check_tools,
        check_groups,
        check_scores,
        check_sessions,
        check_health,
    ):
        part(reads, sql)


@settings(max_examples=settings.default.max_examples // 2)  # one is forty pages
@given(TRACES, TRACES, st.data())
def test_the_numbers_of_every_page_are_those_of_the_store_whatever_happens_to_it(traces, others, data):
    with tempfile.TemporaryDirectory() as directory:
        path = Path(directory) / "traces.db"
        store = SQLiteStore(path)
        write(store, traces)
        reads, sql = Reads.of(store), Sql(path)
        check_lists(reads, sql)
        late = data.draw(st.integers(1, len(traces)), label="gets late spans")
        start = START + traces[late - 1]["day"] * DAY
        store.export([span(late, 90, "refund", start + 5, 70, True, parent_key=1)])
        store.write_scores([(f"{late:032x}", None, Score.of("Order", 0.25, 0.5))])
        check(reads, sql)
        for number in data.draw(st.sets(st.integers(1, len(traces))), label="retired"):
            store.delete_trace(f"{number:032x}")
        check_lists(reads, sql)
        write(store, others, first=100)
        check(reads, sql)
        store.close()
        replacement = SQLiteStore(Path(directory) / "other.db")
        write(replacement, others)
        replacement.close()
        os.replace(Path(directory) / "other.db", path)
        check(reads, sql)


@given(
    st.lists(
        st.lists(st.sampled_from(["yes", "no", "raise"]), min_size=1, max_size=3), min_size=1, max_size=4
    ),
    st.lists(
        st.lists(st.sampled_from(["yes", "no", "raise"]), min_size=1, max_size=3), min_size=1, max_size=4
    ),
)
def test_the_numbers_of_runs_and_comparisons_are_those_of_the_store(before, after):
    with tempfile.TemporaryDirectory() as directory:
        path = Path(directory) / "traces.db"
        tracer = Tracer(project_name="p", store=str(path))
        runs = [evaluated(tracer, grid) for grid in (before, after)]
        assert tracer.flush(timeout=60)
        reads, sql = Reads.of(tracer.store), Sql(path)
        results = (
            "SELECT count(*), sum(outcome = 'passed'), sum(outcome = 'failed') FROM results WHERE run_id = ?"
        )
        counted = [sql(results, run)[0] for run in runs]
        for row, (total, passed, failed) in zip(
            cells(run_list(reads, {})[1])[1:], counted[::-1], strict=True
        ):
            assert row[2] == f"{passed} of {total}"
            assert row[3] == (f"{failed} failed" if failed else "")
        for run, (total, passed, failed) in zip(runs, counted, strict=True):
            text = run_page(reads, {"id": run})[1]
            assert f"{passed} of {total} passed" in words(text)
            assert (f"{failed} failed" in words(text)) == bool(failed)
            scorer = sql(
                "SELECT avg(value), count(value), sum(outcome = 'passed'), sum(outcome = 'failed') FROM scores"
                " WHERE run_id = ? AND name = 'Exact Match'",
                run,
            )[0]
            rows = [row for row in cells(text) if row[0] == "Exact Match"]
            if rows:
                mean, count, good, bad = scorer
                assert rows[0][:5] == [
                    "Exact Match",
                    number_text(mean) or "–",
                    f"{count} of {total}",
                    str(good or 0),
                    str(bad or 0),
                ]
        text = words(compare_page(reads, {"a": runs[0], "b": runs[1], "show": "all"})[1])
        assert (
            f"Passed {counted[1][1]} of {counted[1][0]} result{'s' if counted[1][0] > 1 else ''},"
            f" before {counted[0][1]} of {counted[0][0]}."
        ) in text
        tracer.shutdown()


def evaluated(tracer: Tracer, grid: list[list[str]]) -> str:
    trials = min(len(row) for row in grid)
    left = {f"q{n}": list(row) for n, row in enumerate(grid)}

    @tracer.observe(span_type="agent")
    def answer(question: str) -> str:
        word = left[question].pop(0)
        if word == "raise":
            raise ValueError("no answer")
        return word

    examples = [
        Example(name=f"example {n}", input={"question": f"q{n}"}, expected_output="yes")
        for n in range(len(grid))
    ]
    report = run_evaluation(
        examples, [ExactMatchScorer()], function=answer, tracer=tracer, trials=trials, eval_run_name="suite"
    )
    return report.run_id


def test_heads_that_no_query_can_group_by_lead_nowhere():
    from agenttrace.viewer.group_page import is_label

    assert [
        name for name in ("verdict", "status", "customer", "name", "metadata.a (b)") if is_label(name)
    ] == [
        "customer",
        "name",
    ]
