"""Counters are exact, however many threads add and read."""

import threading

from agenttrace.process.signal_safe import Counter


def test_counts_what_was_added():
    counter = Counter()
    assert [counter.value() for _ in range(3)] == [0, 0, 0]
    counter.add()
    counter.add()
    assert [counter.value() for _ in range(3)] == [2, 2, 2]


def test_reading_on_many_threads_changes_nothing():
    counter = Counter()

    def add_and_read():
        for _ in range(5_000):
            counter.add()
            counter.value()

    threads = [threading.Thread(target=add_and_read) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert counter.value() == 40_000
