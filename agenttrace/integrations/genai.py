"""A copy of a google-genai client that records its requests to a model.

Every method (``generate_content``, its streams, chats, automatic function calling, ``client.aio``) sends
through one object, `_api_client`: the copy has its own, with the four methods that send replaced. Each round
of automatic function calling is a request, hence a span.
"""

from __future__ import annotations

import weakref
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from copy import copy
from functools import lru_cache
from typing import Any, TypeVar
from urllib.parse import urlsplit

from agenttrace.core.interruptions import raised_by_signal
from agenttrace.integrations.llm_call import LLMCall
from agenttrace.integrations.replayed import refuse_where_replayed
from agenttrace.integrations.streaming import like

C = TypeVar("C")

Begin = Callable[[str, Mapping[str, Any], Mapping[str, Any], str, tuple[str, int | None]], LLMCall | None]
"""Opens the span of a request: the model, the request, its settings, the provider, the address."""

PACKAGE = "google.genai"
_METHODS = (":generateContent", ":streamGenerateContent")
_SETTINGS = {
    "temperature": "temperature",
    "topP": "top_p",
    "topK": "top_k",
    "maxOutputTokens": "max_output_tokens",
    "seed": "seed",
    "stopSequences": "stop_sequences",
    "candidateCount": "n",
    "frequencyPenalty": "frequency_penalty",
    "presencePenalty": "presence_penalty",
}


def is_client(client: Any) -> bool:
    """Whether this is a client of google-genai; found by its base classes, so that nothing is imported."""
    return any(
        cls.__name__ == "Client" and cls.__module__.startswith(PACKAGE) for cls in type(client).__mro__
    ) and hasattr(client, "_api_client")


def instrumented_client(client: C, begin: Begin) -> C:
    """Return a copy of the client that shares its connections and records its requests to a model."""
    api = client._api_client  # type: ignore[attr-defined]  # `is_client` has looked
    own = copy(api)
    state = vars(own)
    requests = _Requests(api, begin)
    for name in ("request", "request_streamed", "async_request", "async_request_streamed"):
        if hasattr(api, name):
            state[name] = getattr(requests, name)
    copied = _with_api(client, api, own)
    vars(copied)["_agenttrace_original"] = client  # which closes the connections when it is dropped
    for one in (own, copied):
        kind: Any = type(one)
        if hasattr(kind, "__del__"):
            one.__class__ = _undeleted(kind)
    return copied


def _with_api(thing: C, api: Any, own: Any) -> C:
    """Return a copy of a client, or of a part of one, that sends through `own`."""
    copied = copy(thing)
    state = vars(copied)
    for name, value in list(state.items()):
        if value is api:
            state[name] = own
        elif getattr(value, "__dict__", {}).get("_api_client") is api:
            state[name] = _with_api(value, api, own)
    return copied


@lru_cache(maxsize=16)
def _undeleted(cls: Any) -> type:
    """A subclass of a client's class, under its name, whose objects close nothing when they are dropped."""

    class Copied(cls):  # type: ignore[misc]  # the base is known at run time only
        def __del__(self) -> None:
            pass

    return like(Copied, cls)


class _Requests:
    """The methods of a client that send, recorded."""

    def __init__(self, api: Any, begin: Begin) -> None:
        self._api = api
        self._begin = begin

    def request(self, method: str, path: str, body: Any, *args: Any, **kwargs: Any) -> Any:
        call = self._open(path, body)
        try:
            result = self._api.request(method, path, body, *args, **kwargs)
        except BaseException as error:
            if call is not None:
                call.fail(error)
            raise
        return _finished(call, result)

    async def async_request(self, method: str, path: str, body: Any, *args: Any, **kwargs: Any) -> Any:
        call = self._open(path, body)
        try:
            result = await self._api.async_request(method, path, body, *args, **kwargs)
        except BaseException as error:
            if call is not None:
                call.fail(error)
            raise
        return _finished(call, result)

    def request_streamed(self, method: str, path: str, body: Any, *args: Any, **kwargs: Any) -> Any:
        call = self._open(path, body)
        try:
            items = self._api.request_streamed(method, path, body, *args, **kwargs)
        except BaseException as error:
            if call is not None:
                call.fail(error)
            raise
        return items if call is None else _watched(_steps(iter(items), call), call)

    async def async_request_streamed(
        self, method: str, path: str, body: Any, *args: Any, **kwargs: Any
    ) -> Any:
        call = self._open(path, body)
        try:
            items = await self._api.async_request_streamed(method, path, body, *args, **kwargs)
        except BaseException as error:
            if call is not None:
                call.fail(error)
            raise
        return items if call is None else _watched(_async_steps(aiter(items), call), call)

    def _open(self, path: Any, body: Any) -> LLMCall | None:
        """Open the span of a request; None where it does not go to a model, or is not recorded."""
        refuse_where_replayed("a request to Gemini")
        try:
            target = path.partition("?")[0]
            if not target.endswith(_METHODS) or not isinstance(body, Mapping):
                return None
            model = target.rpartition(":")[0].rpartition("/")[2]
            request = {str(name): value for name, value in body.items() if not str(name).startswith("_")}
            config = body.get("generationConfig")
            config = config if isinstance(config, Mapping) else {}
            settings = {word: config[name] for name, word in _SETTINGS.items() if name in config}
            provider = "gcp.vertex_ai" if getattr(self._api, "vertexai", False) else "gcp.gemini"
            return self._begin(model, request, settings, provider, _address(self._api))
        except Exception as error:  # choke-point: the guard of recording; the request goes on unrecorded
            if raised_by_signal(error):
                raise
            return None


def _finished(call: LLMCall | None, result: Any) -> Any:
    if call is not None:
        call.reply(result)
        call.finish("ok")
    return result


def _watched(stream: Any, call: LLMCall) -> Any:
    weakref.finalize(stream, call.abandon)  # one that nobody begins to read runs none of its own code
    return stream


def _steps(items: Iterator[Any], call: LLMCall) -> Iterator[Any]:
    try:
        while True:
            try:
                item = call.step(items.__next__)
            except StopIteration:
                return
            yield item
    finally:
        close = getattr(items, "close", None)
        if close is not None:
            close()
        call.abandon()


async def _async_steps(items: AsyncIterator[Any], call: LLMCall) -> AsyncIterator[Any]:
    try:
        while True:
            try:
                item = await call.async_step(items.__anext__)
            except StopAsyncIteration:
                return
            yield item
    finally:
        close = getattr(items, "aclose", None)
        if close is not None:
            await close()
        call.abandon()


def _address(api: Any) -> tuple[str, int | None]:
    url = urlsplit(str(getattr(getattr(api, "_http_options", None), "base_url", None) or ""))
    return url.hostname or "", url.port
