"""How many records may wait while the writer cannot keep up, and how many of them it takes in one go."""

from collections import deque

import pytest

from agenttrace import Tracer
from agenttrace.process.signal_safe import Barrier
from agenttrace.redaction import Redaction
from agenttrace.tracing.delivery import BATCH, LARGEST_BATCH, Delivery, Nowhere
from agenttrace.tracing.queue_limit import ENOUGH, MAX_QUEUED, lowered


@pytest.mark.parametrize("batch", [BATCH, LARGEST_BATCH])
def test_a_full_queue_gets_shorter_by_less_than_a_batch_makes_room_for(batch):
    limit = MAX_QUEUED
    while (less := lowered(limit, batch)) < limit:
        assert limit - less < batch
        limit = less
    assert limit == ENOUGH


def test_a_whole_batch_waits_in_the_shortest_queue():
    assert ENOUGH >= LARGEST_BATCH


@pytest.mark.parametrize("limit", [1, 100, BATCH, ENOUGH - 1, ENOUGH])
def test_a_limit_that_is_small_anyway_stays(limit):
    assert lowered(limit, LARGEST_BATCH) == limit


@pytest.mark.parametrize(("is_full", "taken"), [(False, BATCH), (True, 2 * BATCH)])
def test_half_of_what_waits_is_taken_but_of_a_full_queue_all_that_may_be(is_full, taken):
    """While that is taken as many end again: half of a short queue would be small batches for ever."""
    tracer = Tracer("test", store="memory")
    queue = tracer._pipeline.entrance = deque()  # where no worker takes anything out
    call = tracer.observe(lambda: 1)
    for _ in range(3 * BATCH):
        call()
    delivery = Delivery(Nowhere(), (), Redaction())
    delivery._largest_batch = 2 * BATCH
    delivery.take(queue, Barrier, is_full=is_full)
    assert len(delivery.pending) == taken
    assert len(queue) == 3 * BATCH - taken
    tracer.shutdown()
