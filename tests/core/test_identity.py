"""Ids: random, never zero, never twice, also across threads and forks."""

from __future__ import annotations

import os
import random
import threading
from types import SimpleNamespace

import pytest

from agenttrace import Tracer
from agenttrace.core import identity
from agenttrace.core.identity import new_span_key, new_trace_key


def test_ids_have_their_bits_and_are_never_alike():
    spans, traces = [new_span_key() for _ in range(3_000)], [new_trace_key() for _ in range(3_000)]
    assert len(set(spans)) == len(set(traces)) == 3_000
    assert max(spans) < 1 << 64 <= max(traces) < 1 << 128
    assert min(spans) > 0


def test_a_zero_among_the_random_numbers_is_passed_over(monkeypatch):
    monkeypatch.setattr(identity, "_random", iter([0, 7]))
    assert new_span_key() == 7


def test_a_block_that_begins_with_a_zero_gives_another_id(monkeypatch):
    monkeypatch.setattr(identity, "_random", iter(()))
    monkeypatch.setattr(identity, "_source", SimpleNamespace(randbytes=bytes))
    assert new_span_key() == 1


def test_starting_traces_never_lets_go_of_the_interpreters_lock(monkeypatch):
    """Each read of the system's random numbers does: a writer beside a busy thread would never get it."""
    tracer = Tracer("p", store="memory", sample_rate=0.5)
    work = tracer.observe(lambda n: n)
    work(0)

    def read(size):
        raise AssertionError("the system's random numbers were read")

    monkeypatch.setattr(os, "urandom", read)
    for n in range(1_000):
        work(n)
        new_trace_key()
    monkeypatch.undo()
    stats = tracer.stats()
    assert stats["recording_errors"] == 0
    assert 300 < stats["sampled_out"] < 700
    tracer.shutdown()


def test_a_users_seed_chooses_no_ids():
    random.seed(1)
    first = [new_trace_key() for _ in range(300)]
    random.seed(1)
    assert not set(first) & {new_trace_key() for _ in range(300)}


def test_threads_that_come_together_get_different_ids():
    found: list[list[int]] = []

    def take() -> None:
        found.append([new_span_key() for _ in range(2_000)])

    threads = [threading.Thread(target=take) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len({key for keys in found for key in keys}) == 16_000


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_a_forked_child_gets_other_ids_than_its_parent():
    new_span_key()
    reading, writing = os.pipe()
    child = os.fork()
    if not child:
        os.write(writing, new_trace_key().to_bytes(16, "big"))
        os._exit(0)
    os.waitpid(child, 0)
    of_child = int.from_bytes(os.read(reading, 16), "big")
    os.close(reading)
    os.close(writing)
    assert of_child not in [new_trace_key() for _ in range(300)]
