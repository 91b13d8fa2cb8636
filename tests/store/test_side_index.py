"""The side index says what looking at every trace says, whatever happens to the store."""

from __future__ import annotations

import os
import sys
import tempfile
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

sys.path.insert(0, str(Path(__file__).parents[1] / "core"))

from query_terms import terms
from store_values import a_report

from agenttrace.core import semconv
from agenttrace.core.query import Query
from agenttrace.core.score import Score
from agenttrace.core.span import Span, SpanError
from agenttrace.core.trace_reads import SORT_KEYS, Sort
from agenttrace.core.trace_search import EveryTrace
from agenttrace.store import SQLiteStore
from agenttrace.store.postgres.store import PostgresStore
from agenttrace.store.searched import searched_traces

NAMES = ["search", "refund", "lookup"]
CUSTOMERS = ["acme", "Big Corp", "7"]
WORDS = ["Where is my refund", "order-7", "Straße", "naïve", "not_found"]
VALUES = [0, 7, 7.5, True, None, "7", "acme", "x" * 80, [1], {"a": 1}, '{"success": 0}']
FIELDS = ["order_id", "success", "a"]
METADATA = ["release", "status", "of mine"]
T0 = 1_750_000_000_000_000_000

values = st.sampled_from(VALUES)
mappings = st.dictionaries(st.sampled_from(FIELDS), values, max_size=2)
queries = st.lists(
    terms(
        names=st.sampled_from([*NAMES, "Tool Order", "Judge"]),
        words=st.sampled_from(
            ["refund", "ref", "my refund", "order", "STRASSE", "naïve", "not", "ValueError", "day"]
        ),
        values=st.sampled_from(
            [*CUSTOMERS, *NAMES, "0", "true", "canary", "2.5", "night", "case 1", "p", "agent"]
        ),
        metadata=st.sampled_from(METADATA),
        fields=st.sampled_from(FIELDS),
    ),
    max_size=3,
).map(lambda several: Query(tuple(several)))


@st.composite
def spans(draw, trace):
    kind = draw(st.sampled_from(["agent", "tool", "tool", "tool", "llm", "function"]))
    key = draw(st.integers(1, 8)) + draw(st.sampled_from([0, 1 << 63]))
    parent = draw(st.one_of(st.none(), st.integers(1, 9), st.just(1)))
    start = T0 + draw(st.integers(0, 5)) * 10**9
    attributes, usage, error = {}, None, None
    if kind == "agent":
        attributes = draw(
            st.fixed_dictionaries(
                {},
                optional={
                    semconv.CUSTOMER_ID: st.sampled_from(CUSTOMERS),
                    semconv.SESSION_ID: st.sampled_from(["s1", "s2"]),
                    semconv.TAGS: st.lists(st.sampled_from(["canary", "eu"]), max_size=2),
                    semconv.METADATA: st.dictionaries(st.sampled_from(METADATA), values, max_size=2),
                },
            )
        )
    elif kind == "tool":
        attributes = draw(
            st.fixed_dictionaries(
                {},
                optional={
                    semconv.SCOPE_NAME: st.sampled_from(["langgraph", "mcp"]),
                    semconv.TOOL_CALL_ID: st.sampled_from(["c1", "c2"]),
                    semconv.CALL_STATUS: st.just("attempted"),
                },
            )
        )
    elif kind == "llm":
        attributes = {semconv.REQUEST_MODEL: draw(st.sampled_from(["small", "large"]))}
        usage = draw(st.sampled_from([None, {"total_tokens": 50}, {"input_tokens": 3, "cost": 0.25}]))
    status = draw(st.sampled_from(["ok", "ok", "ok", "error", "cancelled"]))
    if status == "error":
        error = SpanError("ValueError", draw(st.sampled_from(WORDS)))
    return Span(
        trace_key=trace,
        span_key=key,
        parent_key=None if parent == key else parent,
        index=draw(st.integers(0, 6)),
        name=draw(st.sampled_from(NAMES if kind == "tool" else ["agent", "model"])),
        span_type=kind,
        start_ns=start,
        end_ns=start + draw(st.sampled_from([0, 10**6, 3 * 10**9])),
        input=draw(st.one_of(st.none(), mappings, st.sampled_from(WORDS).map(lambda w: {"prompt": w}))),
        output=draw(st.one_of(values, mappings, st.sampled_from(WORDS))),
        status=status,
        error=error,
        attributes=attributes,
        usage=usage,
        project=draw(st.sampled_from(["p", "shop"])),
    )


scores = st.one_of(
    st.builds(
        lambda name, value, lower: Score.of(name, value, 0.5, lower_is_better=lower),
        st.sampled_from(["Tool Order", "Judge"]),
        st.sampled_from([0.0, 0.25, 0.5, 0.75, 1.0]),
        st.booleans(),
    ),
    st.just(Score.errored("Judge", 0.5, "broken")),
    st.just(Score.skipped("Judge", 0.5, "no key")),
)
TRACES = [1, 2, 3, 1 << 127]
trace_keys = st.sampled_from(TRACES)
steps = st.one_of(
    st.tuples(st.just("spans"), trace_keys.flatmap(lambda t: st.lists(spans(t), min_size=1, max_size=6))),
    st.tuples(st.just("score"), st.tuples(trace_keys, scores)),
    st.tuples(st.just("delete"), trace_keys),
    st.tuples(st.just("run"), st.tuples(trace_keys, st.sampled_from(["nightly", "p"]))),
    st.tuples(st.just("ask"), queries),
)


def take(store, step, what):
    match step:
        case "spans":
            store.export(what)
        case "score":
            trace, score = what
            store.write_scores([(f"{trace:032x}", None, score)])
        case "delete":
            store.delete_trace(f"{what:032x}")
        case "run":
            from agenttrace.core.trace import Trace

            trace, name = what
            store.write_report(a_report(name, trace=Trace(trace_key=trace), results=2))


def assert_same_answers(store, query):
    traces = list(searched_traces(store))
    index, all_traces = store.trace_reads(), EveryTrace(lambda: traces)
    assert list(index.each_match(query)) == list(all_traces.each_match(query))
    for most in (1, 5_000):
        assert index.count_matches(query, most=most) == all_traces.count_matches(query, most=most)
        keys = ["tool", "customer", "status", "verdict", "metadata.release"]
        assert index.facets(query, keys, most=most) == all_traces.facets(query, keys, most=most)
        assert index.histogram(query, bars=3, most=most) == all_traces.histogram(query, bars=3, most=most)
        assert index.tool_figures(query, most=most) == all_traces.tool_figures(query, most=most)
        assert index.score_figures(query, most=most) == all_traces.score_figures(query, most=most)
        of_judge = all_traces.scored_matches(query, "Judge", most=most)
        assert index.scored_matches(query, "Judge", most=most) == of_judge
        for key in ("customer", "tool", "metadata.release"):
            groups = all_traces.group_figures(query, key, most=most)
            assert index.group_figures(query, key, most=most) == groups
    for key in SORT_KEYS:
        for descending in (True, False):
            assert_same_pages(index, all_traces, query, Sort(key, descending))


def assert_same_pages(index, all_traces, query, sort):
    place, pages = None, []
    for _ in range(2 * len(TRACES)):
        page = index.search(query, sort=sort, limit=2, after=place)
        assert page == all_traces.search(query, sort=sort, limit=2, after=place)
        pages.append(page)
        place = page.after
        if place is None:
            break
    if pages[-1].before is not None:
        back = index.search(query, sort=sort, limit=2, before=pages[-1].before)
        assert back == all_traces.search(query, sort=sort, limit=2, before=pages[-1].before)
        assert back.traces == pages[-2].traces


@settings(suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
@given(st.lists(steps, min_size=1, max_size=8), queries)
def test_the_index_agrees_with_looking_at_every_trace(several, last):
    with tempfile.TemporaryDirectory() as directory:
        store = SQLiteStore(Path(directory) / "traces.db")
        for step, what in several:
            if step == "ask":
                assert_same_answers(store, what)
            else:
                take(store, step, what)
        assert_same_answers(store, last)
        assert_same_answers(store, Query())
        store.close()


@settings(
    max_examples=15,
    suppress_health_check=[
        HealthCheck.too_slow,
        HealthCheck.data_too_large,
        HealthCheck.function_scoped_fixture,
    ],
)
@given(st.lists(steps, min_size=1, max_size=8), queries)
def test_the_index_of_a_store_on_a_server_agrees_as_well(postgres_server, several, last):
    store = PostgresStore(f"{postgres_server.address}?schema=test_{os.urandom(6).hex()}")
    with tempfile.TemporaryDirectory() as directory, pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CACHE_HOME", directory)
        for step, what in several:
            if step == "ask":
                assert_same_answers(store, what)
            else:
                take(store, step, what)
        assert_same_answers(store, last)
        assert_same_answers(store, Query())
        store._must_write(lambda db: db.execute(f"DROP SCHEMA {store._address.schema} CASCADE"))
        store.close()


def nested(**of_outer):
    """Two tool spans of one name, one in the other; only the outer one was recorded by another library."""
    common = {"trace_key": 1, "name": "refund", "span_type": "tool", "status": "ok", "project": "p"}
    outer = Span(**common, span_key=1, parent_key=None, index=0, start_ns=T0, end_ns=T0 + 9, **of_outer)
    inner = Span(**common, span_key=2, parent_key=1, index=1, start_ns=T0 + 1, end_ns=T0 + 2, input={"a": 1})
    return [outer, inner]


def test_a_decorated_tool_within_the_same_call_of_another_library_is_one_call_to_the_index(tmp_path):
    store = SQLiteStore(tmp_path / "traces.db")
    take(store, "spans", nested(input={"a": 1}, attributes={semconv.SCOPE_NAME: "langgraph"}))
    take(store, "score", (1, Score.errored("Judge", 0.5, "broken")))
    assert_same_answers(store, Query())
    (read,) = store.trace_reads().search(Query(), limit=2).traces
    store.close()
    assert len(read.calls) == 1


@given(st.lists(spans(1), min_size=3, max_size=6))
def test_the_index_agrees_on_tools_that_stand_in_one_another(several):
    with tempfile.TemporaryDirectory() as directory:
        store = SQLiteStore(Path(directory) / "traces.db")
        take(store, "spans", several)
        assert_same_answers(store, Query())
        store.close()
