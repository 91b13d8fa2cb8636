"""A copy of a client whose requests to a model are recorded.

Both libraries send every request through the client's own ``post``: one place to listen, whichever method
of which version the caller uses.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from copy import copy
from dataclasses import dataclass
from functools import cached_property, wraps
from typing import Any, TypeVar

from agenttrace.core.interruptions import raised_by_signal
from agenttrace.integrations.anthropic_messages import MessagesReader
from agenttrace.integrations.llm_answer import Reader
from agenttrace.integrations.llm_call import LLMCall
from agenttrace.integrations.openai_chat import ChatReader
from agenttrace.integrations.openai_responses import ResponsesReader
from agenttrace.integrations.prices import Price
from agenttrace.integrations.spans import Spans
from agenttrace.integrations.streaming import watch_result

C = TypeVar("C")

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
"""What a client's class is called, with OpenTelemetry's name for who answers it."""


@dataclass(frozen=True, slots=True)
class Recording:
    """How the calls of one client are recorded."""

    library: str
    spans: Spans
    prices: Mapping[str, Price]

    def begin(self, client: Any, path: Any, options: Mapping[str, Any]) -> LLMCall | None:
        """Open the span of a request, or None where it is none to a model, or is not recorded."""
        try:
            made = _READERS.get((self.library, path.partition("?")[0].strip("/")))
            if made is None:
                return None
            request = _request(options)
            name = f"chat {request['model']}" if isinstance(request.get("model"), str) else "chat"
            span = self.spans.span(name, span_type="llm", input=request).open()
            if not span.recorded:
                return None
            call = LLMCall(span, made(), self.prices)
        except Exception as error:  # choke-point: the guard of recording; the request goes on unrecorded
            if raised_by_signal(error):
                raise
            return None
        call.describe(_provider(client, self.library), _address(client), request)
        return call


def is_wrapped(client: Any) -> bool:
    """Whether this is a client that `instrumented` made."""
    return _MARK in vars(client)


def instrumented(client: C, recording: Recording) -> C:
    """A copy of the client, sharing its connections, whose requests to a model are recorded."""
    made = copy(client)
    state = vars(made)
    recorded = _recorded(_method(made, "post"), made, recording)
    state[_MARK], state["post"] = recording, recorded  # first: resources take their `post` when they are made
    for name, value in list(state.items()):
        if getattr(value, "_client", None) is not client:
            continue
        if isinstance(getattr(type(client), name, None), cached_property):
            del state[name]  # a resource that was made for the given client, and is made anew on use
        else:
            state[name] = type(value)(made)
    for name in ("copy", "with_options"):
        state[name] = _also_wrapped(_method(made, name), recording)
    return made


def _method(client: Any, name: str) -> Any:
    """The method of the client's class, bound to this client, not to one that it was copied from."""
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
            return post(path, *args, **kwargs)
        try:
            result = post(path, *args, **kwargs)
        except BaseException as error:
            call.fail(error)
            raise
        _deliver(result, call)
        return result

    @wraps(post)
    async def recorded_async(path: Any, *args: Any, **kwargs: Any) -> Any:
        call = recording.begin(client, path, kwargs)
        if call is None:
            return await post(path, *args, **kwargs)
        try:
            result = await post(path, *args, **kwargs)
        except BaseException as error:
            call.fail(error)
            raise
        _deliver(result, call)
        return result

    return recorded_async if inspect.iscoroutinefunction(post) else recorded


def _deliver(result: Any, call: LLMCall) -> None:
    try:
        watch_result(result, call)
    except Exception as error:  # choke-point: the caller gets the result all the same
        if raised_by_signal(error):
            raise
        call.span.count_recording_error()
        call.finish("ok")


def _request(options: Mapping[str, Any]) -> dict[str, Any]:
    """The request's parameters as they are sent, without those that were not given."""
    body = options.get("body")
    extra = (options.get("options") or {}).get("extra_json")
    given = {**(body if isinstance(body, Mapping) else {}), **(extra if isinstance(extra, Mapping) else {})}
    return {name: value for name, value in given.items() if type(value).__name__ not in ("NotGiven", "Omit")}


def _provider(client: Any, library: str) -> str:
    names = [cls.__name__ for cls in type(client).__mro__]
    return next((told for word, told in _PROVIDERS if any(word in name for name in names)), library)


def _address(client: Any) -> tuple[str, int | None]:
    try:
        return client.base_url.host, client.base_url.port
    except Exception as error:  # choke-point: a client that has none, or computes it
        if raised_by_signal(error):
            raise
        return "", None
