"""Models behind Anthropic's Messages API."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from agenttrace.core.errors import ConfigError
from agenttrace.core.jsonable import to_json
from agenttrace.core.numbers import is_whole
from agenttrace.http.endpoint import ApiKey, checked_base_url
from agenttrace.http.transport import REQUEST_TIMEOUT, Transport
from agenttrace.judges.models.options import check_options
from agenttrace.judges.models.reading import ChatReply, ask, read_answer, reply_of

API_VERSION = "2023-06-01"
_TOOL = "reply"


class AnthropicModel:
    """A model behind Anthropic's Messages API.

    The shape of the reply is asked for as the input of a tool that the model must call, which every Claude
    model understands. `timeout` is in seconds, for a request with its retries; `max_tokens` bounds the reply.

    Raises:
        ConfigError: the key, the address or an option cannot work.
    """

    def __init__(
        self,
        name: str,
        *,
        api_key: str | ApiKey,
        base_url: str = "https://api.anthropic.com",
        temperature: float | None = 0.0,
        max_tokens: int = 4096,
        timeout: float = REQUEST_TIMEOUT,
        extra: Mapping[str, Any] | None = None,
        transport: Transport | None = None,
    ) -> None:
        check_options(name, temperature, timeout, extra)
        if not is_whole(max_tokens, 1):
            raise ConfigError(f"max_tokens is a whole number from 1, got {max_tokens!r}")
        self.name = name
        self.base_url = checked_base_url(base_url)
        self.temperature = temperature
        self.max_tokens = max_tokens
        self.extra = dict(extra or {})
        self._key = ApiKey(api_key) if isinstance(api_key, str) else api_key
        self._transport = transport or Transport(timeout=timeout)

    @property
    def identity(self) -> str:
        """The text by which a cache tells this model's replies from another's; it holds no key."""
        settings = [self.temperature, self.max_tokens, self.extra]
        return to_json([self.base_url, "messages", self.name, settings])

    async def complete(
        self, messages: Sequence[Mapping[str, Any]], schema: Mapping[str, Any] | None = None
    ) -> ChatReply:
        """Return one reply to a list of messages.

        Raises:
            JudgeError: the endpoint gives no usable answer.
        """
        headers = {"x-api-key": self._key.reveal(), "anthropic-version": API_VERSION}
        answer = await ask(
            self._transport, f"{self.base_url}/v1/messages", headers, self._payload(messages, schema)
        )
        return self._reply(read_answer(answer, model=self.name, key=self._key))

    async def aclose(self) -> None:
        """Close the connections of the running event loop."""
        await self._transport.aclose()

    def _payload(self, messages: Sequence[Mapping[str, Any]], schema: Mapping[str, Any] | None) -> Any:
        system = "\n\n".join(str(m["content"]) for m in messages if m["role"] == "system")
        payload: dict[str, Any] = {
            "model": self.name,
            "max_tokens": self.max_tokens,
            "messages": [dict(m) for m in messages if m["role"] != "system"],
        }
        if self.temperature is not None:
            payload["temperature"] = self.temperature
        if system:
            payload["system"] = system
        if schema is not None:
            tool = {"name": _TOOL, "description": "Give the reply.", "input_schema": schema}
            payload["tools"] = [tool]
            payload["tool_choice"] = {"type": "tool", "name": _TOOL}
        return {**payload, **self.extra}

    def _reply(self, body: Mapping[str, Any]) -> ChatReply:
        content = body.get("content")
        parts = [part for part in content if isinstance(part, Mapping)] if isinstance(content, list) else []
        calls = [part for part in parts if part.get("type") == "tool_use" and part.get("name") == _TOOL]
        if calls:
            # Two calls are two documents: unreadable, like any two replies in one.
            text = "\n".join(to_json(call.get("input")) for call in calls)
        else:
            text = "".join(part["text"] for part in parts if isinstance(part.get("text"), str))
        return reply_of(self.name, body, text, body.get("stop_reason"))

    def __repr__(self) -> str:
        return f"<AnthropicModel {self.name!r} at {self.base_url}>"
