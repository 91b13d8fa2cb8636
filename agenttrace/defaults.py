"""`observe` and `wrap` for scripts that make no tracer: the default tracer of the process."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeVar, overload

from agenttrace.scoring.checks import check_rate
from agenttrace.store import default_store
from agenttrace.tracer import Tracer
from agenttrace.tracing.decorator import checked_options, observe_with
from agenttrace.tracing.default_recorder import default_recorder, set_default_factory
from agenttrace.tracing.record import Recorder

if TYPE_CHECKING:
    from agenttrace.core.protocols import Scorer
    from agenttrace.integrations.spans import Spans
    from agenttrace.providers.prices import Prices

C = TypeVar("C")
F = TypeVar("F")

_lock = threading.Lock()


def default_tracer() -> Tracer:
    """Return the first tracer of the process; where there is none, make one of project ``"default"``."""
    with _lock:
        owner = default_recorder().owner
        return owner if isinstance(owner, Tracer) else Tracer("default", store=default_store())


def _default_recorder() -> Recorder:
    return default_tracer()._recorder


set_default_factory(_default_recorder)


@overload
def observe(function: F) -> F: ...
@overload
def observe(
    function: None = None,
    *,
    span_type: str = "function",
    name: str | None = None,
    capture_input: bool = True,
    capture_output: bool = True,
    metadata: Mapping[str, Any] | None = None,
    tags: Iterable[str] = (),
    scorers: Sequence[Scorer] = (),
    sample_rate: float = 1.0,
) -> Callable[[F], F]: ...
def observe(
    function: Any = None,
    *,
    span_type: str = "function",
    name: str | None = None,
    capture_input: bool = True,
    capture_output: bool = True,
    metadata: Mapping[str, Any] | None = None,
    tags: Iterable[str] = (),
    scorers: Sequence[Scorer] = (),
    sample_rate: float = 1.0,
) -> Any:
    """Record every call, as `Tracer.observe` does, for the first tracer of the process.

    Where there is none when the first trace starts, the default tracer is made then.
    """
    recorded: dict[str, Any] = {
        "span_type": span_type,
        "name": name,
        "capture_input": capture_input,
        "capture_output": capture_output,
        "metadata": metadata,
        "tags": tags,
    }
    if scorers:
        return default_tracer().observe(function, **recorded, scorers=scorers, sample_rate=sample_rate)
    options = checked_options(**recorded)
    check_rate(sample_rate)
    recorder = default_recorder()
    if function is None:
        return lambda target: observe_with(recorder, target, options)
    return observe_with(recorder, function, options)


def wrap(client: C, *, tracer: Spans | None = None, prices: Prices | None = None) -> C:
    """Return a client like `client` that records each call to a model as an LLM span.

    For clients of the ``openai`` and ``anthropic`` packages; see `agenttrace.integrations.wrap.wrap`.
    Where there is no tracer when the first trace starts, the default tracer is made then.

    Args:
        client: The client; it stays as it is.
        tracer: Where spans go; the process's first tracer by default.
        prices: What models cost, ``{"my-model": (0.5, 1.5)}``: US dollars for a million tokens of input and
            of output.

    Raises:
        ConfigError: the client is of an unknown kind, or `prices` are not prices.
    """
    from agenttrace.integrations import wrap as integration  # on use: `observe` must stay light

    return integration.wrap(client, tracer=tracer, prices=prices)
