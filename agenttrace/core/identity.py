"""Ids as integers, their hex form, the clock that never runs backwards."""

from __future__ import annotations

import os
import time

SPAN_KEY_MASK = (1 << 64) - 1

monotonic_ns = time.perf_counter_ns
"""The clock of every recorded call; `wall_ns` turns its readings into time since the epoch."""

# One anchor per process (inherited by forks: the monotonic clock is the machine's), so that a wall clock
# set back or forth inside a call changes neither durations nor order.
_ANCHOR_NS = time.time_ns() - time.perf_counter_ns()


def wall_ns(reading: int) -> int:
    """Nanoseconds since the Unix epoch for a reading of `monotonic_ns`."""
    return _ANCHOR_NS + reading


def clock_drift_ns() -> int:
    """How far the wall clock has moved against the anchor: beyond a second or so, it was set."""
    return time.time_ns() - time.perf_counter_ns() - _ANCHOR_NS


def new_trace_key() -> int:
    """A random non-zero 128-bit id."""
    return int.from_bytes(os.urandom(16), "big") or 1


def new_span_key() -> int:
    """A random non-zero 64-bit id."""
    return int.from_bytes(os.urandom(8), "big") or 1


def trace_id_text(key: int) -> str:
    """32 hex digits."""
    return f"{key:032x}"


def span_id_text(key: int) -> str:
    """16 hex digits."""
    return f"{key:016x}"
