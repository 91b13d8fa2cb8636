"""Every number on a page is what SQL over the store says, on stores of any content."""

# ruff: noqa: E501 - spans on one line each are read more easily
from __future__ import annotations

import re
import sqlite3
import tempfile
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agenttrace.core import semconv
from agenttrace.core.batch import Batch, ScoreRow
from agenttrace.core.query import EVERYTHING
from agenttrace.core.score import Score
from agenttrace.core.span import Span
from agenttrace.core.trace_figures import quantile
from agenttrace.core.trace_search import EveryTrace
from agenttrace.store import SQLiteStore
from agenttrace.store.searched import every_trace
from agenttrace.viewer import api
from agenttrace.viewer.figures import by_day
from agenttrace.viewer.health_page import state_of
from agenttrace.viewer.reads import Reads
from agenttrace.viewer.trace_list import trace_list

DAY = 86_400 * 10**9
START = 1_700_000_000 * 10**9

CALLS = st.lists(st.tuples(st.sampled_from(["search", "refund", "notify"]), st.booleans()), max_size=5)
SCORES = st.lists(
    st.tuples(st.sampled_from(["Order", "Answer"]), st.none() | st.sampled_from([0.0, 0.25, 0.5, 1.0])),
    max_size=3,
)
TRACES = st.lists(
    st.tuples(CALLS, SCORES, st.integers(0, 4), st.sampled_from(["acme", "globex", None])),
    min_size=1,
    max_size=8,
)


def write(path: Path, traces) -> SQLiteStore:
    store = SQLiteStore(path)
    for number, (calls, scores, day, customer) in enumerate(traces, 1):
        start = START + day * DAY + number * 1_000
        attributes = {} if customer is None else {semconv.CUSTOMER_ID: customer}
        spans = [
            Span(
                trace_key=number,
                span_key=1,
                name="agent",
                span_type="agent",
                project="p",
                start_ns=start,
                end_ns=start + 900,
                attributes=attributes,
            )
        ]
        spans += [
            Span(
                trace_key=number,
                span_key=key,
                parent_key=1,
                index=key,
                name=name,
                span_type="tool",
                project="p",
                start_ns=start + key,
                end_ns=start + 3 * key,
                input={"n": key},
                status="error" if failed else "ok",
            )
            for key, (name, failed) in enumerate(calls, 2)
        ]
        rows = [
            ScoreRow(
                f"{number:032x}",
                None,
                Score.skipped(name, 0.5, "nothing") if value is None else Score.of(name, value, 0.5),
            )
            for name, value in scores
        ]
        store.write(Batch(spans, scores=rows))
    return store


@given(TRACES)
def test_figures_of_tools_scores_and_lists_equal_sql(traces):
    with tempfile.TemporaryDirectory() as directory:
        path = Path(directory) / "traces.db"
        store = write(path, traces)
        reads = Reads.of(store)
        with sqlite3.connect(path) as db:
            tools = db.execute(
                "SELECT name, count(*), sum(status = 'error'), count(DISTINCT trace_id) FROM spans"
                " WHERE span_type = 'tool' GROUP BY name ORDER BY count(*) DESC, name"
            ).fetchall()
            assert [
                (t.name, t.calls, t.failed, t.traces) for t in reads.traces.tool_figures(EVERYTHING)[0]
            ] == tools
            scorers = db.execute(
                "SELECT name, count(*), avg(value), sum(outcome = 'failed'), sum(outcome = 'skipped') FROM scores"
                " GROUP BY name ORDER BY name"
            ).fetchall()
            figures, _ = reads.traces.score_figures(EVERYTHING)
            assert [(f.key, f.count, f.of("failed"), f.of("skipped")) for f in figures] == [
                (name, count, failed, skipped) for name, count, _, failed, skipped in scorers
            ]
            assert [f.mean for f in figures] == [
                pytest.approx(row[2]) if row[2] is not None else None for row in scorers
            ]
            days = db.execute(
                "SELECT date(t.started_ns / 1000000000, 'unixepoch', 'localtime'), count(*), avg(s.value)"
                " FROM scores s JOIN traces t USING (trace_id) WHERE s.name = 'Order' GROUP BY 1 ORDER BY 1"
            ).fetchall()
            shown = by_day(reads.traces.scored_matches(EVERYTHING, "Order")[0], "Order")
            assert [(d.key, d.count) for d in shown] == [(day, count) for day, count, _ in days]
            assert [d.mean for d in shown] == [
                pytest.approx(row[2]) if row[2] is not None else None for row in days
            ]
            customers = dict(
                db.execute("SELECT customer, count(*) FROM traces WHERE customer IS NOT NULL GROUP BY 1")
            )
            total, spans, scored = db.execute(
                "SELECT (SELECT count(*) FROM traces), (SELECT count(*) FROM spans), (SELECT count(*) FROM scores)"
            ).fetchone()
        state = state_of(reads)
        assert state is not None
        assert (state.traces, state.spans, state.scores) == (total, spans, scored)
        _, text = trace_list(reads, {})
        assert f'<span class="total">{total} trace' in text
        assert dict(api.facets(reads, {"keys": "customer"})[1]["customer"]["values"]) == customers
        store.close()


@given(
    TRACES,
    st.sampled_from(
        ["", "failed:refund", "customer:acme", "score<0.5", "spans>2", "-tool:search", "is:scored"]
    ),
)
def test_lists_counts_and_pages_are_the_same_by_index_and_by_reading_everything(traces, query):
    with tempfile.TemporaryDirectory() as directory:
        store = write(Path(directory) / "traces.db", traces)
        quick = Reads.of(store)
        slow = Reads(store, every_trace(store), now_ns=quick.now_ns)
        assert isinstance(slow.traces, EveryTrace)
        asked = {"q": query}
        assert _ids(trace_list(quick, asked)[1]) == _ids(trace_list(slow, asked)[1])
        for data in (api.traces, api.tools, api.scores, api.facets):
            assert api.body_of(data(quick, asked)) == api.body_of(data(slow, asked))
        store.close()


def _ids(text: str) -> list[str]:
    return re.findall(r'data-id="([0-9a-f]{32})"', text)


@given(TRACES, st.integers(1, 4), st.sampled_from(["-time", "time", "-duration", "spans", "score"]))
def test_pages_have_every_match_once_in_both_directions(traces, limit, sort):
    with tempfile.TemporaryDirectory() as directory:
        store = write(Path(directory) / "traces.db", traces)
        reads = Reads.of(store)
        seen, asked = [], {"sort": sort, "limit": str(limit)}
        while True:
            _, page = api.traces(reads, asked)
            seen.append([trace["trace_id"] for trace in page["traces"]])
            if page["after"] is None:
                break
            asked = {**asked, "after": page["after"]}
        assert Counter(one for page in seen for one in page) == Counter(
            f"{n:032x}" for n in range(1, len(traces) + 1)
        )
        store.close()


@given(st.lists(st.integers(0, 1_000), min_size=1), st.floats(0.01, 1))
def test_a_quantile_is_a_value_that_the_share_does_not_exceed(values, share):
    ordered = sorted(values)
    value = quantile(ordered, share)
    assert value in ordered
    assert sum(each <= value for each in ordered) >= share * len(ordered) - 1e-9
    assert sum(each < value for each in ordered) < share * len(ordered) + 1e-9


def test_late_spans_deletion_and_replacement_change_the_pages_at_once(tmp_path):
    path = tmp_path / "traces.db"
    store = write(path, [([("search", False)], [], 0, "acme")] * 3)
    reads = Reads.of(store)
    assert len(_ids(trace_list(reads, {"q": "customer:acme"})[1])) == 3
    late = Span(
        trace_key=1,
        span_key=99,
        parent_key=1,
        index=99,
        name="refund",
        span_type="tool",
        project="p",
        start_ns=START + 50,
        end_ns=START + 60,
        status="error",
    )
    store.export([late])
    assert _ids(trace_list(reads, {"q": "failed:refund"})[1]) == [f"{1:032x}"]
    store.delete_trace(f"{1:032x}")
    assert _ids(trace_list(reads, {"q": "failed:refund"})[1]) == []
    assert len(_ids(trace_list(reads, {})[1])) == 2
    other = write(tmp_path / "other.db", [([], [], 0, "globex")])
    other.close()
    store.close()
    (tmp_path / "other.db").rename(path)
    assert len(_ids(trace_list(Reads.of(SQLiteStore(path)), {})[1])) == 1


def test_paging_shows_no_trace_twice_and_misses_none_while_new_ones_arrive(tmp_path):
    store = write(tmp_path / "traces.db", [([], [], 0, "acme")] * 7)
    reads = Reads.of(store)
    seen, asked = [], {"limit": "3"}
    for number in range(100, 110):
        _, page = api.traces(reads, asked)
        seen += [trace["trace_id"] for trace in page["traces"]]
        if page["after"] is None:
            break
        asked = {"limit": "3", "after": page["after"]}
        store.export(
            [
                Span(
                    trace_key=number,
                    span_key=1,
                    name="new",
                    project="p",
                    start_ns=START + 9 * DAY,
                    end_ns=START + 9 * DAY,
                )
            ]
        )
    assert seen == [f"{n:032x}" for n in range(7, 0, -1)]
