"""What a store takes and gives, as JSON text and back."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic_core import from_json, to_json
from store_values import WEATHER, a_report, a_score, a_span, a_trace

from agenttrace.core.annotation import Annotation
from agenttrace.core.batch import Batch, Destination, ScoreRow
from agenttrace.core.errors import ConfigError, QueryError, StoreError
from agenttrace.core.pending import Claim, WorkItem
from agenttrace.core.query_parsing import parse
from agenttrace.core.score import Mean
from agenttrace.core.span import Frame, Span, SpanError
from agenttrace.core.span_rows import SpanRows
from agenttrace.core.trace import Trace
from agenttrace.core.trace_reads import Cursor, Page, Sort
from agenttrace.store.remote.values import Unreadable, error_data, error_of, read, written

ITEM = WorkItem("shop", "ab" * 16, "sound")


def there_and_back(value):
    return read(written(value))


def fields_of(span):
    return {name: getattr(span, name) for name in Span.__slots__}


texts = st.text(st.characters(codec="utf-8"))
plain = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | texts,
    lambda inner: (
        st.lists(inner)
        | st.dictionaries(st.sampled_from(["$", "a", "$$", "items"]) | texts, inner)
        | st.tuples(inner, inner)
        | st.dictionaries(st.integers() | st.tuples(texts, st.none()), inner)
    ),
    max_leaves=12,
)


@given(plain)
def test_any_data_comes_back_as_it_was(value):
    assert there_and_back(value) == value


@pytest.mark.parametrize(
    "value",
    [
        (1, "a", None),
        {("p", "open"): 3},
        frozenset({1, 2}),
        math.inf,
        ITEM,
        Claim(ITEM, 7, 2, None),
        Page((), None, Cursor(0.5, "ab" * 16)),
        Sort("cost", descending=False),
        parse('tool:refund,book -is:failed "two words" score:"Tool Order"<0.5 dur>2s since:2026-01-01'),
        ScoreRow("ab" * 16, None, a_score()),
        Annotation(
            annotation_id="a", project="p", label="tone", score=0.5, created_ns=7, expected={"a": [1]}
        ),
        WEATHER,
    ],
    ids=lambda value: type(value).__name__,
)
def test_values_of_a_store_come_back_as_they_were(value):
    again = there_and_back(value)
    assert again == value
    assert type(again) is type(value)


def test_a_number_that_is_none_comes_back_as_none():
    assert math.isnan(there_and_back({"x": [math.nan]})["x"][0])


def test_a_span_comes_back_with_every_field():
    span = a_span(
        (1 << 64) - 1,
        parent_key=3,
        status="error",
        error=SpanError("ValueError", "no", (Frame("a.py", 4, "run"),)),
        input={"$": "WorkItem", "nested": [{"$": 1}]},
        output=[1.5, None, "…"],
        attributes={"n": 1},
        usage={"cost": 0.1},
        tool=WEATHER,
    )
    assert fields_of(there_and_back(span)) == fields_of(span)


def test_rows_come_back_as_spans():
    rows = SpanRows([(1 << 100, 7, None, 0, ("p", "f", "tool", ""), 1, 2, '{"a":1}', "[2]", None)])
    (span,) = there_and_back(Batch(rows)).spans
    assert (span.input, span.output, span.name) == ({"a": 1}, [2], "f")


def test_a_batch_leaves_what_is_of_its_process_there():
    batch = Batch([a_span()], send_to=[Destination("d", "spans")], recorder=object())
    again = there_and_back(batch)
    assert (again.send_to, again.recorder, len(again.spans)) == ((), None, 1)


def test_a_trace_and_a_report_come_back():
    trace = Trace(a_trace(), tools={"get_weather": WEATHER})
    again = there_and_back(trace)
    assert [fields_of(one) for one in again.spans] == [fields_of(one) for one in trace.spans]
    assert (again.trace_id, again._known_tools) == (trace.trace_id, trace._known_tools)
    report = a_report(results=2)
    again = there_and_back(report)
    assert again.to_dict() == report.to_dict()
    assert again.run_id == report.run_id


def test_subclasses_of_plain_types_come_back_plain():
    assert there_and_back([Mean(0.5, 1, 2), type("Text", (str,), {})("a")]) == [0.5, "a"]


def test_lone_surrogates_are_replaced():
    assert there_and_back({"a\ud800": "b\ud800"}) == {"a\ufffd": "b\ufffd"}


def test_what_is_no_value_of_a_store_is_refused():
    with pytest.raises(TypeError, match="takes no object"):
        written({"a": [object()]})
    deep = []
    for _ in range(300):
        deep = [deep]
    with pytest.raises(TypeError, match="200 levels"):
        written(deep)


def with_field(value, name, other):
    data = from_json(written(value))
    data[name] = other
    return to_json(data)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (b"{", "not JSON"),
        (b"\xff\xfe{", "not JSON"),
        (b"[" * 100_000, "not JSON"),
        (b'{"$": "Popen", "args": []}', "not known"),
        (b'{"$": ["a"]}', "not known"),
        (b'{"$": 7}', "not known"),
        (b'{"$": "WorkItem"}', "no WorkItem"),
        (b'{"$": "mapping", "items": [[1]]}', "no mapping"),
        (b'{"$": "mapping", "items": [[[], 1]]}', "no mapping"),
        (b'{"$": "float", "text": "a"}', "no float"),
        (b'{"$": "set", "items": [{}]}', "no set"),
        (with_field(ITEM, "trace_id", 7), "WorkItem.trace_id: .* string"),
        (with_field(ITEM, "rule", {"$": "required"}), "WorkItem.rule"),
        (with_field(a_score(), "value", "1"), "Score.value"),
        (with_field(a_score(), "outcome", "fine"), "Score.outcome"),
        (with_field(ScoreRow(None, None, a_score()), "score", {}), "ScoreRow.score"),
        (with_field(Batch([a_span()]), "spans", [1]), "Batch.spans"),
        (with_field(a_span(), "name", None), "span.name"),
        (with_field(a_span(), "input", []), "span.input"),
        (with_field(a_span(), "error", "x"), "span.error"),
        (with_field(a_span(), "tool", {}), "span.tool"),
        (with_field(a_span(), "status", "fine"), "span.status"),
        (with_field(a_span(), "span_key", 1 << 64), "128 bits"),
        (with_field(a_span(), "trace_key", -1), "128 bits"),
        (with_field(Trace([a_span()]), "spans", [None]), "trace.spans"),
        (with_field(a_report(), "results", [1]), "EvaluationReport.results"),
    ],
)
def test_what_is_no_such_text_is_refused(text, message):
    with pytest.raises(Unreadable, match=message):
        read(text)


def test_a_field_of_a_later_version_is_left_out_and_one_that_is_not_there_is_its_default():
    assert read(with_field(ITEM, "later", 1)) == ITEM
    data = from_json(written(a_score()))
    del data["evidence"]
    assert read(to_json(data)) == a_score()


def test_errors_come_back_with_their_type():
    error = error_of(error_data(QueryError("what?", position=3)), "x")
    assert (type(error), str(error), error.position) == (QueryError, "what?", 3)
    assert type(error_of(error_data(ConfigError("no")), "x")) is ConfigError
    assert type(error_of(error_data(ValueError("no")), "x")) is StoreError
    assert str(error_of(["odd"], "it answered 404")) == "it answered 404"
