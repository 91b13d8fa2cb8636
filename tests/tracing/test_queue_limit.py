"""How many records may wait while the writer cannot keep up."""

import pytest

from agenttrace.tracing.delivery import BATCH, LARGEST_BATCH
from agenttrace.tracing.queue_limit import ENOUGH, MAX_QUEUED, lowered


@pytest.mark.parametrize("batch", [BATCH, LARGEST_BATCH])
def test_a_full_queue_gets_shorter_by_less_than_a_batch_makes_room_for(batch):
    limit = MAX_QUEUED
    while (less := lowered(limit, batch)) < limit:
        assert limit - less < batch
        limit = less
    assert limit == ENOUGH


def test_the_largest_batches_can_still_be_taken_from_the_shortest_queue():
    assert ENOUGH // 2 >= LARGEST_BATCH


@pytest.mark.parametrize("limit", [1, 100, BATCH, ENOUGH - 1, ENOUGH])
def test_a_limit_that_is_small_anyway_stays(limit):
    assert lowered(limit, LARGEST_BATCH) == limit
