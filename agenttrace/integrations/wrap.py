"""`wrap`: record every call that a client makes to a model."""

from __future__ import annotations

from typing import Any, TypeVar

from agenttrace.core.errors import ConfigError
from agenttrace.integrations.prices import Prices, checked_prices
from agenttrace.integrations.spans import Spans, spans_of
from agenttrace.integrations.wrap_client import Recording, instrumented, is_wrapped
from agenttrace.tracing.decorator import enabled_by_environment

C = TypeVar("C")

KNOWN = "OpenAI, AsyncOpenAI, AzureOpenAI, AsyncAzureOpenAI (openai), Anthropic, AsyncAnthropic (anthropic)"


def wrap(client: C, *, tracer: Spans | None = None, prices: Prices | None = None) -> C:
    """Return a client that does what the given one does, each call to a model recorded as an LLM span.

    The given client stays as it is; both share one connection pool. Recorded are chat completions, responses
    (OpenAI) and messages (Anthropic), by every method that leads there: ``create``, ``parse``, ``stream``,
    tool runners, ``with_raw_response``, ``with_streaming_response``, clients made by ``copy`` and
    ``with_options``. What the caller gets, and what is raised, is the library's own. A stream's span ends
    when the stream is exhausted, closed or dropped. A call outside every trace is a trace of its own.
    Wrapping a wrapped client returns it.

    Args:
        client: A client of the ``openai`` or the ``anthropic`` package, or of a subclass.
        tracer: Where spans go; the process's first tracer by default. Inside a trace they go where it goes.
        prices: What models cost, ``{"my-model": (0.5, 1.5)}``: US dollars for a million tokens of input and
            of output. They come before the list prices; a model without a price has no cost.

    Raises:
        ConfigError: a client that is not known, or prices that are none.
    """
    spans, known_prices = spans_of(tracer), checked_prices(prices)
    library = _library(client)
    if library is None:
        raise ConfigError(f"wrap takes a client of a known kind ({KNOWN}); got {_described(client)}")
    if not enabled_by_environment() or is_wrapped(client):
        return client
    return instrumented(client, Recording(library, spans, known_prices))


def _library(client: Any) -> str | None:
    """The package whose client this is: known by the class it descends from, so that nothing is imported."""
    for cls in type(client).__mro__:
        package = cls.__module__.partition(".")[0]
        if package in ("openai", "anthropic") and cls.__name__ in ("SyncAPIClient", "AsyncAPIClient"):
            return package
    return None


def _described(client: Any) -> str:
    if isinstance(client, type):
        return f"the class {client.__name__}; wrap an instance: wrap({client.__name__}())"
    kind = type(client)
    if kind.__module__.partition(".")[0] in ("openai", "anthropic"):
        return f"{kind.__module__}.{kind.__qualname__}, which is a part of a client; wrap the client itself"
    return f"{kind.__module__}.{kind.__qualname__}"
