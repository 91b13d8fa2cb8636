"""A model on loopback that follows a script: it asks for the weather, books a hotel, and says so.

It speaks OpenAI's chat completions and responses, Anthropic's messages and Gemini's content, whole and
streamed, and DSPy's prompts of fields. The turn is told by the request's own messages, so runs may overlap.

    python tests/interop/scripted_model.py       # serves until it is ended; prints its address
"""

from __future__ import annotations

import json
import re
import threading
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

Json = dict[str, Any]
CALLS: list[tuple[str, Json]] = [
    ("get_weather", {"city": "Paris"}),
    ("book_hotel", {"city": "Paris", "nights": 2}),
]
OUTPUTS = ["sunny in Paris", "booked 2 nights in Paris"]
SAID = "It is sunny in Paris, and the hotel is booked."


def next_call(answered: int, offered: list[str]) -> tuple[str, str, Json] | None:
    """The call to ask for after so many answers: its id, name and arguments; None for the last answer."""
    script = list(CALLS)
    if "final_answer" in offered:  # smolagents ends with a tool
        script.append(("final_answer", {"answer": SAID}))
    if answered >= len(script):
        return None
    name, arguments = script[answered]
    full = next(
        (one for one in offered if one == name or one.endswith(f"__{name}")), None
    )  # mcp__server__name
    return None if full is None else (f"call_{answered}", full, arguments)


def chat(request: Json) -> tuple[Json, list[Any]]:
    """An answer of OpenAI's chat completions, and the same as the items of a stream."""
    offered = [tool["function"]["name"] for tool in request.get("tools") or [] if "function" in tool]
    text = json.dumps(request["messages"])
    answered = sum(message["role"] in ("tool", "tool-response") for message in request["messages"])
    if "final_answer" in offered and not answered:  # smolagents gives results as a user's words
        answered = sum(output in text for output in OUTPUTS)
    asked = next_call(answered, offered)
    message: Json = {"role": "assistant", "content": None if asked else said_to(text), "refusal": None}
    deltas: list[Json] = [{"role": "assistant", "content": "" if asked else message["content"]}]
    if asked:
        identifier, name, arguments = asked
        function = {"name": name, "arguments": json.dumps(arguments)}
        message["tool_calls"] = [{"id": identifier, "type": "function", "function": function}]
        head, tail = function["arguments"][:5], function["arguments"][5:]
        begun = {
            "index": 0,
            "id": identifier,
            "type": "function",
            "function": {**function, "arguments": head},
        }
        deltas += [{"tool_calls": [begun]}, {"tool_calls": [{"index": 0, "function": {"arguments": tail}}]}]
    reason = "tool_calls" if asked else "stop"
    usage = {"prompt_tokens": 50, "completion_tokens": 7, "total_tokens": 57}
    base = {"id": "chatcmpl-1", "created": 1, "model": request.get("model")}
    choice = {"index": 0, "message": message, "finish_reason": reason, "logprobs": None}
    whole = {**base, "object": "chat.completion", "choices": [choice], "usage": usage}

    def part(choices: list[Json], **more: Any) -> Json:
        return {**base, "object": "chat.completion.chunk", "choices": choices, **more}

    items: list[Any] = [part([{"index": 0, "delta": delta, "finish_reason": None}]) for delta in deltas]
    items.append(part([{"index": 0, "delta": {}, "finish_reason": reason}]))
    if (request.get("stream_options") or {}).get("include_usage"):
        items.append(part([], usage=usage))
    return whole, [*items, "[DONE]"]


def said_to(text: str) -> str:
    """The words of an answer without a call: in the form of fields where a prompt of DSPy's asks for it."""
    if "[[ ## " not in text:
        return SAID
    if "next_tool_name" not in text:
        return f"[[ ## reasoning ## ]]\nBoth are done.\n\n[[ ## answer ## ]]\n{SAID}\n\n[[ ## completed ## ]]"
    answered = len(set(re.findall(r"\[\[ ## observation_(\d+) ## \]\]", text)))
    name, arguments = [*CALLS, ("finish", {})][min(answered, len(CALLS))]
    fields = {"next_thought": "Go on.", "next_tool_name": name, "next_tool_args": json.dumps(arguments)}
    return "\n\n".join(f"[[ ## {key} ## ]]\n{value}" for key, value in [*fields.items(), ("completed", "")])


def responses(request: Json) -> tuple[Json, list[Any]]:
    """An answer of OpenAI's responses, and the events of its stream."""
    offered = [tool.get("name", "") for tool in request.get("tools") or []]
    given = request["input"] if isinstance(request["input"], list) else []
    answered = sum(item.get("type") == "function_call_output" for item in given)
    earlier = re.fullmatch(r"resp_(\d+)_\d+", request.get("previous_response_id") or "")
    answered += int(earlier[1]) if earlier else 0
    asked = next_call(answered, offered)
    if asked:
        identifier, name, arguments = asked
        item: Json = {
            "type": "function_call", "id": f"fc_{identifier}", "call_id": identifier, "name": name,
            "arguments": json.dumps(arguments), "status": "completed",
        }  # fmt: skip
    else:
        content = {"type": "output_text", "text": SAID, "annotations": [], "logprobs": []}
        item = {
            "type": "message",
            "id": "msg_1",
            "role": "assistant",
            "status": "completed",
            "content": [content],
        }
    details = {"input_tokens_details": {"cached_tokens": 0}, "output_tokens_details": {"reasoning_tokens": 0}}
    whole = {
        "id": f"resp_{answered}_{id(request) % 10**6}", "object": "response", "created_at": 1,
        "status": "completed", "model": request.get("model"), "output": [item],
        "parallel_tool_calls": True, "tool_choice": "auto", "tools": [], "error": None,
        "incomplete_details": None, "instructions": None, "metadata": {},
        "temperature": 1.0, "top_p": 1.0,
        "usage": {"input_tokens": 50, "output_tokens": 7, "total_tokens": 57, **details},
    }  # fmt: skip
    events: list[Json] = [
        {
            "type": "response.created",
            "response": {**whole, "status": "in_progress", "output": [], "usage": None},
        },
        {"type": "response.output_item.added", "output_index": 0, "item": item | hollow(item)},
        *filling(item),
        {"type": "response.output_item.done", "output_index": 0, "item": item},
        {"type": "response.completed", "response": whole},
    ]
    return whole, [{**event, "sequence_number": number} for number, event in enumerate(events)]


def hollow(item: Json) -> Json:
    """What an item of a stream is before its parts have come."""
    empty: Json = {"arguments": ""} if item["type"] == "function_call" else {"content": []}
    return {"status": "in_progress", **empty}


def filling(item: Json) -> list[Json]:
    """The events that bring an item's parts."""
    place: Json = {"item_id": item["id"], "output_index": 0}
    if item["type"] == "function_call":
        name = "response.function_call_arguments"
        whole = {"arguments": item["arguments"], "name": item["name"]}
        return [
            {"type": f"{name}.delta", **place, "delta": item["arguments"]},
            {"type": f"{name}.done", **place, **whole},
        ]
    [part] = item["content"]
    place["content_index"] = 0
    return [
        {"type": "response.content_part.added", **place, "part": {**part, "text": ""}},
        {"type": "response.output_text.delta", **place, "delta": SAID, "logprobs": []},
        {"type": "response.output_text.done", **place, "text": SAID, "logprobs": []},
        {"type": "response.content_part.done", **place, "part": part},
    ]


def messages(request: Json) -> tuple[Json, list[Any]]:
    """An answer of Anthropic's messages, and the events of its stream."""
    offered = [tool.get("name", "") for tool in request.get("tools") or []]
    parts = [
        part for one in request["messages"] if isinstance(one["content"], list) for part in one["content"]
    ]
    answered = sum(part.get("type") == "tool_result" for part in parts)
    thread = request.get("thread") or {}
    earlier = thread.get("previous_message_id", "").split(".")
    if len(earlier) > 1:  # the provider keeps the conversation, and the tools that were offered
        answered, offered = answered + int(earlier[1]), earlier[2:]
    asked = next_call(answered, offered)
    block: Json = {"type": "text", "text": SAID}
    empty: Json = {"text": ""}
    delta = {"type": "text_delta", "text": SAID}
    if asked:
        block = {"type": "tool_use", "id": f"toolu_{asked[0]}", "name": asked[1], "input": asked[2]}
        empty, delta = {"input": {}}, {"type": "input_json_delta", "partial_json": json.dumps(asked[2])}
    usage = {
        "input_tokens": 40,
        "output_tokens": 7,
        "cache_read_input_tokens": 0,
        "cache_creation_input_tokens": 0,
    }
    reason = {"stop_reason": "tool_use" if asked else "end_turn", "stop_sequence": None}
    whole = {
        "id": ".".join(["msg", str(answered), *offered]), "type": "message", "role": "assistant",
        "model": request.get("model"), "content": [block], **reason, "usage": usage,
    }  # fmt: skip
    return whole, [
        {"type": "message_start", "message": {**whole, "content": [], "stop_reason": None}},
        {"type": "content_block_start", "index": 0, "content_block": {**block, **empty}},
        {"type": "content_block_delta", "index": 0, "delta": delta},
        {"type": "content_block_stop", "index": 0},
        {"type": "message_delta", "delta": reason, "usage": {"output_tokens": 7}},
        {"type": "message_stop"},
    ]


def content(request: Json) -> tuple[Json, list[Any]]:
    """An answer of Gemini's ``generateContent``; its stream is that one item."""
    groups = [tool.get("functionDeclarations") or [] for tool in request.get("tools") or []]
    offered = [declared["name"] for group in groups for declared in group]
    parts = [part for one in request["contents"] for part in one.get("parts", [])]
    asked = next_call(sum("functionResponse" in part for part in parts), offered)
    part: Json = {"text": SAID}
    if asked:
        part = {"functionCall": {"id": asked[0], "name": asked[1], "args": asked[2]}}
    usage = {"promptTokenCount": 50, "candidatesTokenCount": 7, "totalTokenCount": 57}
    candidate = {"content": {"role": "model", "parts": [part]}, "finishReason": "STOP", "index": 0}
    whole = {
        "candidates": [candidate],
        "usageMetadata": usage,
        "modelVersion": "scripted",
        "responseId": "r1",
    }
    return whole, [whole]


ANSWERS: dict[str, Callable[[Json], tuple[Json, list[Any]]]] = {
    "chat/completions": chat,
    "responses": responses,
    "messages": messages,
    ":generateContent": content,
    ":streamGenerateContent": content,
}


class ScriptedModel(BaseHTTPRequestHandler):
    """Answers every request by the script, one of OTLP with nothing at all."""

    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:
        request = json.loads(self.body() or b"{}")
        path = self.path.partition("?")[0]
        answer = next((answer for end, answer in ANSWERS.items() if path.endswith(end)), None)
        if answer is None:
            self.reply(404, "application/json", '{"error": {"message": "no such path"}}')
            return
        whole, items = answer(request)
        if request.get("stream") or "streamGenerate" in path:
            self.reply(200, "text/event-stream", "".join(map(event, items)))
        else:
            self.reply(200, "application/json", json.dumps(whole))

    def body(self) -> bytes:
        """The request's body, whole or in chunks."""
        if "chunked" not in self.headers.get("transfer-encoding", ""):
            return self.rfile.read(int(self.headers.get("content-length", 0)))
        parts = []
        while size := int(self.rfile.readline(100).split(b";")[0], 16):
            parts.append(self.rfile.read(size))
            self.rfile.readline(100)
        self.rfile.readline(100)
        return b"".join(parts)

    def reply(self, status: int, kind: str, text: str) -> None:
        self.send_response(status)
        self.send_header("content-type", kind)
        self.send_header("content-length", str(len(text.encode())))
        self.end_headers()
        self.wfile.write(text.encode())

    def log_message(self, *args: object) -> None:
        pass


def event(item: Any) -> str:
    """One item of a stream, under its type where it has one."""
    name = f"event: {item['type']}\n" if isinstance(item, dict) and "type" in item else ""
    return f"{name}data: {item if isinstance(item, str) else json.dumps(item)}\n\n"


def start() -> tuple[str, Callable[[], None]]:
    """Serve from a thread; gives the address, and what ends it."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), ScriptedModel)
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, args=(0.1,), daemon=True).start()

    def stop() -> None:
        server.shutdown()
        server.server_close()

    return f"http://127.0.0.1:{server.server_port}", stop


if __name__ == "__main__":
    address, _ = start()
    print(address, flush=True)
    threading.Event().wait()
