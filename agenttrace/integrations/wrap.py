"""`wrap`: a copy of a model provider's client that records every call to a model.

Both libraries send every request through the client's own ``post``: it is the one method to replace,
whichever method of which version the caller uses.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from copy import copy
from dataclasses import dataclass
from functools import cached_property, wraps
from typing import Any, TypeVar

from agenttrace.core import semconv
from agenttrace.core.errors import ConfigError
from agenttrace.core.interruptions import raised_by_signal
from agenttrace.integrations import genai
from agenttrace.integrations.llm_call import LLMCall
from agenttrace.integrations.replayed import models_here, offline
from agenttrace.integrations.spans import Spans, spans_of
from agenttrace.integrations.streaming import watch_result
from agenttrace.providers.answer import Reader
from agenttrace.providers.anthropic_messages import MessagesReader
from agenttrace.providers.gemini import GeminiReader
from agenttrace.providers.openai import ChatReader, ResponsesReader
from agenttrace.providers.prices import Price, Prices, checked_prices
from agenttrace.tracing.decorator import enabled_by_environment

C = TypeVar("C")

KNOWN = (
    "OpenAI, AsyncOpenAI, AzureOpenAI, AsyncAzureOpenAI (openai), Anthropic, AsyncAnthropic (anthropic), "
    "Client (google-genai)"
)

_MARK = "_agenttrace_recording"

_READERS: dict[tuple[str, str], Callable[[], Reader]] = {
    ("openai", "chat/completions"): ChatReader,
    ("openai", "responses"): ResponsesReader,
    ("anthropic", "v1/messages"): MessagesReader,
}

_PROVIDERS = (
    ("Azure", "azure.ai.openai"),
    ("Bedrock", "aws.bedrock"),
    ("Vertex", "gcp.vertex_ai"),
    ("Foundry", "azure.ai.inference"),
)
"""A word in the name of a client's class, with OpenTelemetry's name for its provider."""


def wrap(client: C, *, tracer: Spans | None = None, prices: Prices | None = None) -> C:
    """Return a client like `client` that records each call to a model as an LLM span.

    The client itself stays as it is; both share one connection pool. Recorded are chat completions, responses
    (OpenAI), messages (Anthropic) and generated content (Gemini), by every method that leads there:
    ``create``, ``parse``, ``stream``, tool runners, ``with_raw_response``, ``with_streaming_response``,
    clients made by ``copy`` and ``with_options``; ``generate_content`` with its streams, chats and automatic
    function calling. Tools that the provider runs are tool spans below. Results and exceptions are the
    library's own. A stream's span ends when the stream is exhausted, closed or dropped. A call outside every
    trace is a trace of its own.
    Wrapping a wrapped client returns it.

    Args:
        client: A client of the ``openai``, ``anthropic`` or ``google-genai`` package, or of a subclass.
        tracer: Where spans go; the process's first tracer by default. Inside a trace they go where it goes.
        prices: What models cost, ``{"my-model": (0.5, 1.5)}``: US dollars for a million tokens of input and
            of output. They come before the list prices; a model without a price has no cost.

    Raises:
        ConfigError: the client is of an unknown kind, or `prices` are not prices.
    """
    spans, price_table = spans_of(tracer), checked_prices(prices)
    library = _library(client)
    if library is None:
        raise ConfigError(f"wrap takes a client of a known kind ({KNOWN}); got {_described(client)}")
    if not enabled_by_environment() or is_wrapped(client):
        return client
    recording = Recording(library, spans, price_table)
    if library == genai.PACKAGE:
        wrapped_client = genai.instrumented_client(client, recording.begin_generation)
        vars(wrapped_client)[_MARK] = recording
        return wrapped_client
    return instrumented(client, recording)


def _library(client: Any) -> str | None:
    """Return a client's package, or None; found by its base classes, so that nothing is imported."""
    if genai.is_client(client):
        return genai.PACKAGE
    for cls in type(client).__mro__:
        package = cls.__module__.partition(".")[0]
        if package in ("openai", "anthropic") and cls.__name__ in ("SyncAPIClient", "AsyncAPIClient"):
            return package
    return None


def _described(client: Any) -> str:
    if isinstance(client, type):
        return f"the class {client.__name__}; wrap an instance: wrap({client.__name__}())"
    kind = type(client)
    if kind.__module__.startswith(("openai.", "anthropic.", f"{genai.PACKAGE}.")):
        return f"{kind.__module__}.{kind.__qualname__}, which is a part of a client; wrap the client itself"
    return f"{kind.__module__}.{kind.__qualname__}"


@dataclass(frozen=True, slots=True)
class Recording:
    """The settings for recording one client's calls."""

    library: str
    spans: Spans
    prices: Mapping[str, Price]

    def begin(self, client: Any, path: Any, options: Mapping[str, Any]) -> LLMCall | None:
        """Open the span of a request; return None where it does not go to a model, or is not recorded."""
        try:
            reader_type = _READERS.get((self.library, path.partition("?")[0].strip("/")))
            if reader_type is None:
                return None
            request = _request(options)
            name = f"chat {request['model']}" if isinstance(request.get("model"), str) else "chat"
            span = self.spans.span(name, span_type="llm", input=request).open()
            if not span.recorded:
                return None
            call = LLMCall(span, reader_type(), self.prices, self.spans)
        except Exception as error:  # choke-point: the guard of recording; the request goes on unrecorded
            if raised_by_signal(error):
                raise
            return None
        call.describe(_provider(client, self.library), _address(client), request)
        return call

    def begin_generation(
        self,
        model: str,
        request: Mapping[str, Any],
        settings: Mapping[str, Any],
        provider: str,
        address: tuple[str, int | None],
    ) -> LLMCall | None:
        """Open the span of a request to Gemini; None where nothing is recorded."""
        span = self.spans.span(f"chat {model}", span_type="llm", input={"model": model, **request}).open()
        if not span.recorded:
            return None
        call = LLMCall(span, GeminiReader(), self.prices, self.spans)
        call.describe(provider, address, {"model": model, **settings})
        return call


def is_wrapped(client: Any) -> bool:
    """Return True if `instrumented` made this client."""
    return _MARK in vars(client)


def instrumented(client: C, recording: Recording) -> C:
    """Return a copy of the client that shares its connections and records its requests to a model."""
    wrapped_client = copy(client)
    state = vars(wrapped_client)
    post = _recorded(_method(wrapped_client, "post"), wrapped_client, recording)
    state[_MARK], state["post"] = recording, post  # first: resources take their `post` when they are made
    for name, value in list(state.items()):
        if getattr(value, "_client", None) is not client:
            continue
        if isinstance(getattr(type(client), name, None), cached_property):
            del state[name]  # a resource of the other client; a new one is made on use
        else:
            state[name] = type(value)(wrapped_client)
    for name in ("copy", "with_options"):
        state[name] = _also_wrapped(_method(wrapped_client, name), recording)
    return wrapped_client


def _method(client: Any, name: str) -> Any:
    """Return the method of the client's class, bound to this client and not to its original."""
    return getattr(type(client), name).__get__(client)


def _also_wrapped(method: Any, recording: Recording) -> Any:
    @wraps(method)
    def also(*args: Any, **kwargs: Any) -> Any:
        return instrumented(method(*args, **kwargs), recording)

    return also


def _recorded(post: Any, client: Any, recording: Recording) -> Any:
    @wraps(post)
    def recorded(path: Any, *args: Any, **kwargs: Any) -> Any:
        call = recording.begin(client, path, kwargs)
        if call is None:
            return _sending(post, client, recording, path, kwargs, call)(path, *args, **kwargs)
        try:
            result = _sending(post, client, recording, path, kwargs, call)(path, *args, **kwargs)
        except BaseException as error:
            call.fail(error)
            raise
        _deliver(result, call)
        return result

    @wraps(post)
    async def recorded_async(path: Any, *args: Any, **kwargs: Any) -> Any:
        call = recording.begin(client, path, kwargs)
        if call is None:
            return await _sending(post, client, recording, path, kwargs, call)(path, *args, **kwargs)
        try:
            result = await _sending(post, client, recording, path, kwargs, call)(path, *args, **kwargs)
        except BaseException as error:
            call.fail(error)
            raise
        _deliver(result, call)
        return result

    return recorded_async if inspect.iscoroutinefunction(post) else recorded


def _sending(
    post: Any, client: Any, recording: Recording, path: str, options: Mapping[str, Any], call: LLMCall | None
) -> Any:
    """What sends a request: the client, or one without a network where a recording answers."""
    models = models_here()
    if models is None:
        return post
    if call is not None:
        call.span.set_attribute(semconv.SIMULATED, "recording")
    return _method(offline(client, recording.library, path, _request(options), models), "post")


def _deliver(result: Any, call: LLMCall) -> None:
    try:
        watch_result(result, call)
    except Exception as error:  # choke-point: the caller gets the result all the same
        if raised_by_signal(error):
            raise
        call.span.recording_failed(error)
        call.finish("ok")


def _request(options: Mapping[str, Any]) -> dict[str, Any]:
    """Return the request's parameters as they are sent, without omitted ones."""
    body = options.get("body")
    extra = (options.get("options") or {}).get("extra_json")
    parameters = {
        **(body if isinstance(body, Mapping) else {}),
        **(extra if isinstance(extra, Mapping) else {}),
    }
    return {
        name: value for name, value in parameters.items() if type(value).__name__ not in ("NotGiven", "Omit")
    }


def _provider(client: Any, library: str) -> str:
    names = [cls.__name__ for cls in type(client).__mro__]
    return next((provider for word, provider in _PROVIDERS if any(word in name for name in names)), library)


def _address(client: Any) -> tuple[str, int | None]:
    try:
        return client.base_url.host, client.base_url.port
    except Exception as error:  # choke-point: a client that has none, or computes it
        if raised_by_signal(error):
            raise
        return "", None
