"""Ids as integers, their hex form, the clock that never runs backwards."""

from __future__ import annotations

import os
import time

SPAN_KEY_MASK = (1 << 64) - 1

monotonic_ns = time.perf_counter_ns
"""The clock of every recorded call; `anchor_ns` makes its readings time since the epoch."""

JUMP_NS = 1_000_000_000
"""By how much the wall clock must have moved against the monotonic one to count as having been set."""

# The wall clock at the monotonic clock's zero. A trace takes it once, at its start, so that a wall clock set
# back or forth inside it changes neither durations nor order. Forks inherit it: the clock is the machine's.
_anchor_ns = time.time_ns() - time.perf_counter_ns()
_jumps = 0


def anchor_ns() -> int:
    """What makes a reading of `monotonic_ns` nanoseconds since the Unix epoch, when added to it."""
    return _anchor_ns


def clock_drift_ns() -> int:
    """How far the wall clock has moved against the anchor."""
    return time.time_ns() - time.perf_counter_ns() - _anchor_ns


def follow_clock() -> None:
    """Let traces that start from now on follow a wall clock that was set, or that ran on while the machine
    was asleep. To be called by one thread at a time."""
    global _anchor_ns, _jumps
    drift = clock_drift_ns()
    if abs(drift) > JUMP_NS:
        _anchor_ns += drift
        _jumps += 1


def clock_jumps() -> int:
    """How often `follow_clock` found that the wall clock had been set."""
    return _jumps


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
