"""The short way from a record to its row, and the long one, give the same row."""

import gc
import math
from collections import deque

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from recorded_rows import CONTAINERS, SECRETS, VALUES

from agenttrace import Tracer
from agenttrace.core.limits import Limits
from agenttrace.core.span_rows import SpanRows, span_of_row
from agenttrace.core.tool_text import definition_text
from agenttrace.redaction import Redaction
from agenttrace.store.rows import flat_rows
from agenttrace.tracing.encoding import Encoder, NotPlain
from agenttrace.tracing.finish import finish

LIMITS = [Limits(), Limits(value=300, items=4, depth=3, bytes=2)]
TRACERS = [Tracer("ways", store="memory", redact=["city_code", "Größe"], limits=limits) for limits in LIMITS]
TEXTS = st.one_of(
    st.text(st.characters(), max_size=20),
    st.sampled_from([*SECRETS.values(), "x" * 290, "a" * 257, "$type", "sk-", "bearer "]),
    st.sampled_from(["password", "user", "mysql", "-u", "-phunter2-9", "hunter2-9", "API key: a1b2C3d4e5"]),
    st.lists(st.sampled_from([*SECRETS.values(), "'", '"', ":", "\\", "\n", "a"]), max_size=4).map("".join),
)
SCALARS = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.sampled_from([2**53 - 1, 2**53, -(2**64), 2**2000 - 1, 2**2000, 10**300]),
    st.floats(),
    TEXTS,
)
KEYS = st.one_of(
    TEXTS,
    st.sampled_from(["city", "password", "api_key", "$truncated", "$bytes", "size", "", " ", "City-Code"]),
    st.sampled_from(["name", "value", "columns", "fields", "index", "rows", "values"]),
    st.integers(0, 3),
    st.booleans(),
    st.none(),
    st.floats(allow_nan=False),
)
JSON_LIKE = st.recursive(
    SCALARS | st.binary(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=5)
        | st.lists(inner, max_size=3).map(tuple)
        | st.dictionaries(KEYS, inner, max_size=5)
    ),
    max_leaves=25,
)


@pytest.fixture(autouse=True, scope="module")
def no_writer():
    for tracer in TRACERS:
        tracer._pipeline.entrance = deque()  # where no worker takes anything out
    yield
    for tracer in TRACERS:
        tracer.shutdown()


def records(tracer, first, second):
    """The records of a few calls with these values."""
    queue = tracer._pipeline.entrance

    def call(first, second, city="Paris"):
        return first

    def several(values):
        return (second, values)

    tracer.observe(call)(first, second)
    tracer.observe(several, metadata={"kept": True})([first, second])
    with tracer.span("block"):
        tracer.update_current_span(attributes={"first": first}, usage={"input_tokens": 3})
    try:
        tracer.observe(lambda value: math.sqrt(-1))(second)
    except ValueError:
        pass
    made = list(queue)
    queue.clear()
    return made


def kind_of(function):
    """The kind of a row, or of a span, in the place of its number."""
    if isinstance(function, tuple):
        return function
    definition = "" if function.tool is None else definition_text(function.tool)
    return function.project, function.name, function.span_type, definition


def both(tracer, record):
    """The columns of the short way (None: not taken) and of the long one."""
    redaction = tracer._pipeline.redaction
    try:
        row = Encoder(redaction).row(record)
    except NotPlain:
        row = None
    counted = redaction.redacted
    assert row is None or counted == redaction.redacted
    traces = {record[1].trace_key: 1}
    span = finish(record, redaction)
    long = flat_rows([span], traces, {}, kind_of)
    if row is None:
        return None, long
    assert flat_rows([span_of_row(row)], traces, {}, kind_of) == long
    return flat_rows([row], traces, {}, kind_of), long


@given(st.sampled_from(TRACERS), JSON_LIKE, JSON_LIKE)
@settings(deadline=None)
def test_both_ways_give_the_same_row(tracer, first, second):
    for record in records(tracer, first, second):
        short, long = both(tracer, record)
        assert short is None or short == long


@pytest.mark.parametrize("tracer", TRACERS, ids=["production", "narrow"])
def test_both_ways_give_the_same_row_for_values_of_every_kind(tracer):
    for value in VALUES.values():
        for record in records(tracer, value, [value]):
            short, long = both(tracer, record)
            assert short is None or short == long


@pytest.mark.parametrize(
    "name", ["flat", "nested", "chat", "openai", "texts", "tuple", "low keys", "empties", "floats", "shared"]
)
def test_ordinary_values_go_the_short_way(name):
    for record in records(TRACERS[0], CONTAINERS[name], CONTAINERS[name]):
        assert both(TRACERS[0], record)[0] is not None


def test_a_value_that_is_nearly_as_large_as_it_may_be_goes_the_short_way_and_a_larger_one_the_long():
    """That a snapshot keeps it whole is told by making one, where the size of its JSON does not tell."""
    encoder = Encoder(Redaction())
    results = [{"title": f"Result {n}", "score": n / 400, "text": "y" * 240} for n in range(400)]
    (json,) = encoder.encoded([results], Limits())
    assert len(json) > 0.85 * Limits().value
    with pytest.raises(NotPlain):
        encoder.encoded([[*results, "x" * 20_000]], Limits())


def test_rows_are_a_sequence_of_spans():
    made = records(TRACERS[0], {"a": 1}, "two")
    redaction = TRACERS[0]._pipeline.redaction
    spans = [finish(record, redaction) for record in made]
    rows = SpanRows([Encoder(redaction).row(made[0]), spans[1], *map(Encoder(redaction).row, made[2:])])
    assert len(rows) == len(made)
    assert [span.to_dict() for span in rows] == [span.to_dict() for span in spans]
    assert rows[0].input == {"first": {"a": 1}, "second": "two", "city": "Paris"}
    assert [span.name for span in rows[1:]] == [span.name for span in spans[1:]]


def test_the_garbage_collector_soon_leaves_a_row_alone_that_waits():
    """With an object in it, it would go through up to 28,800 of them again and again, beside a busy app."""
    record, *_ = records(TRACERS[0], "one", "two")
    row = Encoder(TRACERS[0]._pipeline.redaction).row(record)
    gc.collect()
    gc.collect()  # it may come to the row before the tuple in it
    assert not gc.is_tracked(row)


def test_the_size_of_heavy_values_is_given_back():
    record, *_ = records(TRACERS[0], [{"text": "x" * 300}], 1)
    encoder = Encoder(TRACERS[0]._pipeline.redaction)
    encoder.row(record)
    assert encoder.weight > 300


def taken(tracer, made):
    """The columns of records whose texts are looked through together, and how many went the long way."""
    redaction, queue = tracer._pipeline.redaction, deque(made)
    traces = {made[0][1].trace_key: 1}
    encoder, columns, long = Encoder(redaction), [], 0
    while queue:
        for row in encoder.rows(queue, 0, 1_000, 1 << 30):
            traces.setdefault(row[0], 1)
            columns.append(flat_rows([row], traces, {}, kind_of))
            queue.popleft()
        if encoder.is_stopped:
            span = finish(queue.popleft(), redaction)
            traces.setdefault(span.trace_key, 1)
            columns.append(flat_rows([span], traces, {}, kind_of))
            long += 1
    return columns, long


def one_by_one(tracer, made):
    redaction, columns = tracer._pipeline.redaction, []
    for record in made:
        span = finish(record, redaction)
        columns.append(flat_rows([span], {span.trace_key: 1}, {}, kind_of))
    return columns


def several_records(tracer, values):
    queue = tracer._pipeline.entrance

    def call(value, city="Paris"):
        return value

    observed = tracer.observe(call)
    for value in values:
        observed(value)
    made = list(queue)
    queue.clear()
    return made


@given(st.sampled_from(TRACERS), st.lists(JSON_LIKE, min_size=1, max_size=40))
@settings(deadline=None)
def test_what_is_looked_through_together_gives_the_same_rows(tracer, values):
    made = several_records(tracer, values)
    assert taken(tracer, made)[0] == one_by_one(tracer, made)


def test_a_secret_in_one_of_many_values_sends_no_other_the_long_way():
    values = [{"text": f"The river is known for bridge {n}."} for n in range(100)]
    values[50] = {"text": "the password is hunter2Blue9"}
    made = several_records(TRACERS[0], values)
    columns, long = taken(TRACERS[0], made)
    assert columns == one_by_one(TRACERS[0], made)
    assert long == 1


def test_the_weight_and_the_size_are_those_of_the_rows_that_were_made():
    values = [{"text": "x" * 300}, {"text": "y" * 300}, {"text": "the password is hunter2Blue9 " * 20}, 1]
    made = several_records(TRACERS[0], values)
    together, single = (Encoder(TRACERS[0]._pipeline.redaction) for _ in range(2))
    assert len(together.rows(deque(made), 0, 10, 1 << 20)) == 2
    assert together.is_stopped
    for record in made[:2]:
        single.row(record)
    assert (together.weight, together.size) == (single.weight, single.size)


def test_no_more_rows_are_made_than_there_is_room_for():
    made = several_records(TRACERS[0], [{"text": "x" * 300}] * 8)
    encoder = Encoder(TRACERS[0]._pipeline.redaction)
    assert len(encoder.rows(deque(made), 0, 3, 1 << 20)) == 3
    assert len(Encoder(TRACERS[0]._pipeline.redaction).rows(deque(made), 0, 8, 700)) == 2
