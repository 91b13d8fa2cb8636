"""The option `otlp` of an evaluation: the endpoint to which its agents send what they record elsewhere."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Executor
from typing import TYPE_CHECKING, Any

from agenttrace.core.errors import ConfigError
from agenttrace.evaluation.worker_pool import pool_of

if TYPE_CHECKING:
    from agenttrace.remote_agents import OTLPEndpoint


def endpoint_of(
    otlp: bool | OTLPEndpoint | None, function: Callable[..., Any] | None, executor: Executor | None
) -> OTLPEndpoint | None:
    """The endpoint of an evaluation: the one given, one of its own for True, or None.

    Raises:
        ConfigError: it is neither, nothing runs that could send to it, or the agents run in other processes.
    """
    if otlp is None or otlp is False:
        return None
    from agenttrace.remote_agents import OTLPEndpoint  # on use: most evaluations need none of it

    endpoint = OTLPEndpoint() if otlp is True else otlp
    if not isinstance(endpoint, OTLPEndpoint):
        raise ConfigError(f"otlp is True or an OTLPEndpoint, got {type(otlp).__name__}")
    if function is None:
        raise ConfigError("otlp takes what an agent records while it runs; give function=, which starts it")
    if pool_of(executor, function) is not None:
        raise ConfigError(
            "otlp takes what agents record that functions of this process start, and the executor runs these "
            "in others; leave executor out, or give a ThreadPoolExecutor"
        )
    return endpoint
