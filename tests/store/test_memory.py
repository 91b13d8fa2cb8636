import random

from store_values import a_score, a_span, a_trace

from agenttrace.store import MemoryStore
from agenttrace.store.memory import span_bytes


def all_spans(store):
    return [span for batch in store.batches() for span in batch.spans]


def test_the_oldest_traces_go_when_there_is_no_room():
    store = MemoryStore(max_bytes=20_000)
    for number in range(1, 101):
        store.export(a_trace(number, start=number))
    trace_keys = [int(line.trace_id, 16) for line in store.traces(limit=1000)]
    assert trace_keys == list(range(100, 100 - len(trace_keys), -1))
    assert 1 <= len(trace_keys) < 20
    assert store.health().dropped == 400 - 4 * len(trace_keys)
    assert sum(map(span_bytes, all_spans(store))) <= 20_000


def test_of_one_trace_larger_than_the_room_the_oldest_spans_go():
    store = MemoryStore(max_bytes=50_000)
    for number in range(1, 1_001):
        store.export([a_span(number, output="x" * 100)])
    span_keys = [span.span_key for span in all_spans(store)]
    assert span_keys == list(range(1_001 - len(span_keys), 1_001))
    assert sum(map(span_bytes, all_spans(store))) <= 50_000


def test_a_span_larger_than_all_the_room_is_dropped_and_counted():
    store = MemoryStore(max_bytes=1_000)
    store.export([a_span(1, output="x" * 5_000)])
    assert store.traces() == []
    assert store.health().dropped == 1


def test_the_weight_stays_exact_through_replacing_and_deleting():
    chance = random.Random(3)
    store = MemoryStore(max_bytes=30_000)
    for _ in range(2_000):
        store.export(
            [a_span(chance.randrange(9), chance.randrange(1, 20), output="x" * chance.randrange(300))]
        )
        if chance.random() < 0.05:
            store.delete_trace(f"{chance.randrange(1, 20):032x}")
    assert store._bytes == sum(map(span_bytes, all_spans(store)))


def test_scores_are_bounded():
    store = MemoryStore()
    score = a_score()
    store.write_scores([("a" * 32, None, score)] * 100_001)
    assert len(store.scores("a" * 32)) == 100_000
