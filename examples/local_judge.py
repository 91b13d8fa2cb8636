"""A model on loopback that speaks OpenAI's chat protocol by simple rules, for trying things without a key.

It answers a chat by repeating it, and a judge's question by comparing words: a claim is contradicted where it
has a number that the text does not have, a statement is to the point where it shares a word with the input.
Good enough to see every part move; no judge of anything.
"""

from __future__ import annotations

import asyncio
import json
import re
import threading
from collections.abc import Mapping
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from agenttrace.judges import FakeChatModel, FakeRequest


class LocalJudge:
    """The server: serves at `url` from `start` until `stop`, or as long as the process lives."""

    def __init__(self) -> None:
        self.model = FakeChatModel(answer)
        handler = type("Handler", (_Handler,), {"model": self.model})
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
        self._server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self._server.server_port}/v1"

    @property
    def environment(self) -> dict[str, str]:
        """The variables that make it the model of every OpenAI client, and of every judge."""
        return {"OPENAI_BASE_URL": self.url, "OPENAI_API_KEY": "sk-local"}

    def start(self) -> LocalJudge:
        threading.Thread(target=self._server.serve_forever, args=(0.05,), daemon=True).start()
        return self

    def stop(self) -> None:
        self._server.shutdown()
        self._server.server_close()


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    wbufsize = -1  # headers and body in one packet
    model: FakeChatModel

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        schema = body.get("response_format", {}).get("json_schema", {}).get("schema")
        reply = asyncio.run(self.model.complete(body["messages"], schema))
        data = json.dumps(completion(body["model"], reply.text)).encode()
        self.send_response(200)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *_: object) -> None:
        """Say nothing."""


def completion(model: str, text: str) -> dict[str, Any]:
    """A chat completion as OpenAI's API returns it."""
    return {
        "id": "chatcmpl-local",
        "object": "chat.completion",
        "created": 0,
        "model": model,
        "choices": [
            {"index": 0, "message": {"role": "assistant", "content": text}, "finish_reason": "stop"},
        ],
        "usage": {
            "prompt_tokens": 20,
            "completion_tokens": len(text.split()),
            "total_tokens": 20 + len(text.split()),
        },
    }


def answer(request: FakeRequest) -> str | Mapping[str, Any]:
    """What this model says."""
    if "items" in request.fields:
        return {"items": sentences(" ".join(request.blocks.values()))}
    if "verdicts" in request.fields:
        return {"verdicts": verdicts(request.blocks)}
    if "score" in request.fields:
        shared = set.intersection(*map(words, request.blocks.values()))
        return {"reason": f"words that all texts share: {len(shared)}", "score": float(bool(shared))}
    if "label" in request.fields:
        labels = request.schema["properties"]["label"]["enum"] if request.schema else []
        said = words(" ".join(request.blocks.values()))
        chosen = next((label for label in labels if words(label) & said), labels[-1])
        return {"reason": "the label whose words the text has, else the last one", "label": chosen}
    return f"You said: {request.messages[-1]['content']}"


def verdicts(blocks: Mapping[str, str]) -> list[dict[str, str]]:
    """One for each numbered item: against what was retrieved by numbers, against an input by words."""
    text = " ".join(value for label, value in blocks.items() if label != "items")
    items = re.findall(r"^\d+\. (.*)$", blocks["items"], re.M)
    return [contradiction(item, text) if "input" not in blocks else relevance(item, text) for item in items]


def contradiction(claim: str, text: str) -> dict[str, str]:
    """Yes, unless the claim has a number that the text does not have."""
    other = sorted(numbers(claim) - numbers(text))
    reason = f"the text does not say {', '.join(other)}" if other else "no number differs"
    return {"reason": reason, "verdict": "no" if other else "yes"}


def relevance(statement: str, asked: str) -> dict[str, str]:
    """Yes where the two share a word."""
    shared = sorted(words(statement) & words(asked))
    reason = f"both say {', '.join(shared)}" if shared else "they share no word"
    return {"reason": reason, "verdict": "yes" if shared else "no"}


def sentences(text: str) -> list[str]:
    """The sentences of a text."""
    return [part.strip() for part in re.split(r"(?<=[.!?])\s+", text) if part.strip()]


def words(text: str) -> set[str]:
    """The words of more than three letters, in lower case."""
    return set(re.findall(r"[a-z]{4,}", text.lower()))


def numbers(text: str) -> set[str]:
    """The whole numbers in a text."""
    return set(re.findall(r"\d+", text))
