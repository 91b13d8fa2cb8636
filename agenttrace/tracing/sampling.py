"""Which traces are kept: decided once, at the root."""

from __future__ import annotations

import os
from collections.abc import Callable

from agenttrace.core.errors import ConfigError

_RANGE = 1 << 32


def sampler(rate: float) -> Callable[[], bool] | None:
    """What decides for each root with this probability; None where every trace is kept.

    Raises:
        ConfigError: `rate` is not a number from 0 to 1.
    """
    if isinstance(rate, bool) or not isinstance(rate, int | float) or not 0 <= rate <= 1:
        raise ConfigError(f"sample_rate is a number from 0 (no trace) to 1 (every trace), got {rate!r}")
    if rate == 1:
        return None
    least = int(rate * _RANGE)
    # os.urandom, not `random`: a user's seed must not choose our traces, nor forks repeat them.
    return lambda: int.from_bytes(os.urandom(4), "big") < least
