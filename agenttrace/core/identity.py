"""Trace ids, span ids, the monotonic clock of recorded calls."""

from __future__ import annotations

import os
import random
import time
from collections.abc import Iterator

SPAN_KEY_MASK = (1 << 64) - 1

monotonic_ns = time.perf_counter_ns
"""The clock of every recorded call; `anchor_ns` makes its readings time since the epoch."""

JUMP_NS = 1_000_000_000
"""Nanoseconds of drift from the monotonic clock after which the wall clock counts as having been set."""

# The wall clock at the monotonic clock's zero. A trace takes it once, at its start, so that a wall clock set
# back or forth inside it changes neither durations nor order. Forks inherit it: the clock is the machine's.
_anchor_ns = time.time_ns() - time.perf_counter_ns()
_jumps = 0


def anchor_ns() -> int:
    """The nanoseconds that, added to a reading of `monotonic_ns`, give the time since the Unix epoch."""
    return _anchor_ns


def clock_drift_ns() -> int:
    """How far the wall clock has moved against the anchor."""
    return time.time_ns() - time.perf_counter_ns() - _anchor_ns


def follow_clock() -> None:
    """Adjust the anchor to a wall clock that was set, or that ran on while the machine was asleep.

    Traces that start from now on use it. Only one thread may call this at a time.
    """
    global _anchor_ns, _jumps
    drift = clock_drift_ns()
    if abs(drift) > JUMP_NS:
        _anchor_ns += drift
        _jumps += 1


def clock_jumps() -> int:
    """How often `follow_clock` found that the wall clock had been set."""
    return _jumps


_BLOCK_SIZE = 256
_random: Iterator[int] = iter(())
_source = random.Random(os.urandom(32))  # noqa: S311 - no secret is made of them
"""Ours alone: a user's seed chooses none of its numbers."""


def new_trace_key() -> int:
    """A random non-zero 128-bit id."""
    return new_span_key() << 64 | new_span_key()


def new_span_key() -> int:
    """A random non-zero 64-bit id.

    The system's random numbers are read once only: each read releases the interpreter's lock for a moment.
    Another thread that waits for it begins to wait anew then, and asks for it after 5 ms only: beside a
    thread that reads more often, one that writes would never get it.
    """
    global _random
    for key in _random:  # taking the next one of an iterator is one step, for any number of threads
        if key:
            return key
    first, *rest = memoryview(_source.randbytes(8 * _BLOCK_SIZE)).cast("Q").tolist()
    _random = iter(rest)
    return first or 1


def _forget_random() -> None:
    """Begin anew in a forked child: the parent uses the same numbers."""
    global _random, _source
    _random, _source = iter(()), random.Random(os.urandom(32))  # noqa: S311


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget_random)


def trace_id_text(key: int) -> str:
    """The trace id as 32 hex digits."""
    return f"{key:032x}"


def span_id_text(key: int) -> str:
    """The span id as 16 hex digits."""
    return f"{key:016x}"
