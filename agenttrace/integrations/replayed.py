"""Requests of wrapped clients that a recording answers: the library reads a made-up reply, no network.

The client's own code sends the request, through a transport in memory, so parsing, streams and raw responses
are the library's.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from agenttrace.core.errors import SimulationError
from agenttrace.core.jsonable import to_json
from agenttrace.tracing.context import ModelAnswers, RecordedAnswer, answering


def models_here() -> ModelAnswers | None:
    """What answers requests to models in this context in place of the network, or None."""
    answers = answering.get()
    return None if answers is None else answers.models()


def refuse_where_replayed(what: str) -> None:
    """Raise SimulationError where a recording answers requests: of this kind it cannot."""
    if models_here() is not None:
        raise SimulationError(
            f"{what} cannot be replayed; replay with models='live', or simulate what sends it"
        )


def offline(client: Any, library: str, path: str, request: Mapping[str, Any], models: ModelAnswers) -> Any:
    """A copy of a client that answers one request from a recording; its `post` is the library's own.

    Raises:
        SimulationError: the recording has no such request, or its kind cannot be replayed.
    """
    kind = path.partition("?")[0].strip("/")
    streamed = bool(request.get("stream"))
    write = _WRITERS.get((library, kind, streamed))
    if write is None:
        refuse_where_replayed(f"{'a stream' if streamed else 'a request'} to {kind}")
        raise AssertionError
    body = write(models.answer_request(request), request)
    http = _http_of(client)
    content_type = "text/event-stream" if streamed else "application/json"
    transport = http.MockTransport(
        lambda _: http.Response(200, headers={"content-type": content_type}, content=body.encode())
    )
    is_async = any(cls.__name__ == "AsyncClient" for cls in type(client._client).__mro__)
    sends = (http.AsyncClient if is_async else http.Client)(transport=transport)
    return type(client).copy(client, http_client=sends, max_retries=0)


def _http_of(client: Any) -> Any:
    """The HTTP library of a client."""
    for cls in type(client._client).__mro__:
        root = cls.__module__.partition(".")[0]
        if root.startswith("httpx"):
            return sys.modules[root]
    raise SimulationError(f"{type(client).__name__} sends by a library of which no transport is known")


def _chat(answer: RecordedAnswer, _: Mapping[str, Any]) -> str:
    choices = [
        {"index": n, "message": _message(choice), "finish_reason": choice.get("finish_reason") or "stop"}
        for n, choice in enumerate(answer.choices)
    ]
    return to_json(
        {**_chat_head(answer, "chat.completion"), "choices": choices, "usage": _chat_usage(answer)}
    )


def _chat_head(answer: RecordedAnswer, kind: str) -> dict[str, Any]:
    return {"id": answer.id, "object": kind, "created": 0, "model": answer.model}


def _chat_usage(answer: RecordedAnswer) -> dict[str, Any]:
    sent, got = _tokens(answer)
    usage: dict[str, Any] = {"prompt_tokens": sent, "completion_tokens": got, "total_tokens": sent + got}
    cached, reasoned = answer.usage.get("cache_read_tokens"), answer.usage.get("reasoning_tokens")
    if cached is not None:
        usage["prompt_tokens_details"] = {"cached_tokens": cached}
    if reasoned is not None:
        usage["completion_tokens_details"] = {"reasoning_tokens": reasoned}
    return usage


def _tokens(answer: RecordedAnswer) -> tuple[int, int]:
    return int(answer.usage.get("input_tokens", 0)), int(answer.usage.get("output_tokens", 0))


def _message(choice: Mapping[str, Any]) -> dict[str, Any]:
    calls: list[dict[str, Any]] = [
        {"id": call["id"], "type": "function", "function": {"name": call["name"], "arguments": _json(call)}}
        for call in choice.get("tool_calls") or ()
    ]
    text = choice.get("text") or (None if calls else "")
    message: dict[str, Any] = {"role": "assistant", "content": text, "refusal": choice.get("refusal")}
    if calls:
        message["tool_calls"] = calls
    return message


def _json(call: Mapping[str, Any]) -> str:
    arguments = call["arguments"]
    return arguments if isinstance(arguments, str) else to_json(arguments)


def _chat_stream(answer: RecordedAnswer, request: Mapping[str, Any]) -> str:
    head = _chat_head(answer, "chat.completion.chunk")
    items: list[dict[str, Any]] = []
    for n, choice in enumerate(answer.choices):
        delta = _message(choice)
        for place, call in enumerate(delta.get("tool_calls") or ()):
            call["index"] = place
        finish = choice.get("finish_reason") or "stop"
        items.append({"choices": [{"index": n, "delta": delta, "finish_reason": None}]})
        items.append({"choices": [{"index": n, "delta": {}, "finish_reason": finish}]})
    if (request.get("stream_options") or {}).get("include_usage"):
        items.append({"choices": [], "usage": _chat_usage(answer)})
    return "".join(f"data: {to_json({**head, **item})}\n\n" for item in items) + "data: [DONE]\n\n"


def _response(answer: RecordedAnswer, _: Mapping[str, Any]) -> str:
    (choice,) = answer.choices
    items: list[dict[str, Any]] = []
    if choice.get("text"):
        content = [{"type": "output_text", "text": choice["text"], "annotations": []}]
        message: dict[str, Any] = {
            "type": "message",
            "role": "assistant",
            "status": "completed",
            "content": content,
        }
        items.append({"id": "replayed", **message})
    for n, call in enumerate(choice.get("tool_calls") or ()):
        asked = {"call_id": call["id"], "name": call["name"], "arguments": _json(call)}
        items.append({"type": "function_call", "id": f"replayed-{n}", "status": "completed", **asked})
    sent, got = _tokens(answer)
    usage = {
        "input_tokens": sent,
        "input_tokens_details": {"cached_tokens": answer.usage.get("cache_read_tokens", 0)},
        "output_tokens": got,
        "output_tokens_details": {"reasoning_tokens": answer.usage.get("reasoning_tokens", 0)},
        "total_tokens": sent + got,
    }
    head = {"id": answer.id, "object": "response", "created_at": 0, "model": answer.model}
    settings = {"parallel_tool_calls": True, "tool_choice": "auto", "tools": []}
    return to_json({**head, **settings, "status": "completed", "output": items, "usage": usage})


def _claude_message(answer: RecordedAnswer) -> dict[str, Any]:
    (choice,) = answer.choices
    blocks: list[dict[str, Any]] = [{"type": "text", "text": choice["text"]}] if choice.get("text") else []
    blocks += [
        {"type": "tool_use", "id": call["id"], "name": call["name"], "input": call["arguments"]}
        for call in choice.get("tool_calls") or ()
    ]
    sent, got = _tokens(answer)
    return {
        "id": answer.id,
        "type": "message",
        "role": "assistant",
        "model": answer.model,
        "content": blocks,
        "stop_reason": choice.get("finish_reason") or "end_turn",
        "stop_sequence": None,
        "usage": {"input_tokens": sent, "output_tokens": got},
    }


def _claude(answer: RecordedAnswer, _: Mapping[str, Any]) -> str:
    return to_json(_claude_message(answer))


def _claude_stream(answer: RecordedAnswer, _: Mapping[str, Any]) -> str:
    return "".join(f"event: {item['type']}\ndata: {to_json(item)}\n\n" for item in _claude_events(answer))


def _claude_events(answer: RecordedAnswer) -> Iterator[dict[str, Any]]:
    message = _claude_message(answer)
    yield {"type": "message_start", "message": {**message, "content": [], "stop_reason": None}}
    for n, block in enumerate(message["content"]):
        if block["type"] == "text":
            empty, delta = {**block, "text": ""}, {"type": "text_delta", "text": block["text"]}
        else:
            arguments = to_json(block["input"])
            empty, delta = {**block, "input": {}}, {"type": "input_json_delta", "partial_json": arguments}
        yield {"type": "content_block_start", "index": n, "content_block": empty}
        yield {"type": "content_block_delta", "index": n, "delta": delta}
        yield {"type": "content_block_stop", "index": n}
    stop = {"stop_reason": message["stop_reason"], "stop_sequence": None}
    yield {
        "type": "message_delta",
        "delta": stop,
        "usage": {"output_tokens": message["usage"]["output_tokens"]},
    }
    yield {"type": "message_stop"}


_Writer = Callable[[RecordedAnswer, Mapping[str, Any]], str]
_WRITERS: Mapping[tuple[str, str, bool], _Writer] = {
    ("openai", "chat/completions", False): _chat,
    ("openai", "chat/completions", True): _chat_stream,
    ("openai", "responses", False): _response,
    ("anthropic", "v1/messages", False): _claude,
    ("anthropic", "v1/messages", True): _claude_stream,
}
