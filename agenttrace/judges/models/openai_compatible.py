"""Models behind an OpenAI-compatible endpoint."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal, get_args

from agenttrace.core.errors import ConfigError
from agenttrace.core.jsonable import to_json
from agenttrace.http.endpoint import ApiKey, checked_base_url
from agenttrace.http.transport import REQUEST_TIMEOUT, Transport
from agenttrace.judges.models.options import check_options
from agenttrace.judges.models.reading import ChatReply, ask, read_answer, reply_of
from agenttrace.providers.answer import Choice, Reader
from agenttrace.providers.openai import ChatReader, ResponsesReader

Structured = Literal["json_schema", "json_object", "prompt"]
"""How the shape of the reply is asked for: by JSON schema, as any JSON object, or in the prompt alone."""

Api = Literal["chat", "responses"]

# Families that refuse a temperature with an error: with one, model="gpt-5" would never work.
_FIXED_TEMPERATURE = ("o1", "o3", "o4", "gpt-5")


class OpenAICompatibleModel:
    """A model behind an OpenAI-compatible endpoint: chat completions, or the Responses API.

    `timeout` is in seconds, for a request with its retries. `extra` is merged into the request's body, for
    what one endpoint needs and others do not know. The temperature is 0, and left out for families that
    refuse one, or with `temperature=None`.

    Raises:
        ConfigError: the key, the address or an option cannot work.
    """

    def __init__(
        self,
        name: str,
        *,
        base_url: str,
        api_key: str | ApiKey | None = None,
        api: Api = "chat",
        structured: Structured = "json_schema",
        temperature: float | None = 0.0,
        timeout: float = REQUEST_TIMEOUT,
        extra: Mapping[str, Any] | None = None,
        transport: Transport | None = None,
    ) -> None:
        check_options(name, temperature, timeout, extra)
        for option, value, known in (("api", api, Api), ("structured", structured, Structured)):
            if value not in get_args(known):
                raise ConfigError(f"{option} is one of {', '.join(get_args(known))}, got {value!r}")
        self.name = name
        self.base_url = checked_base_url(base_url)
        self.api = api
        self.structured = structured
        self.temperature = None if name.startswith(_FIXED_TEMPERATURE) else temperature
        self.extra = dict(extra or {})
        self._key = ApiKey(api_key) if isinstance(api_key, str) else api_key
        self._transport = transport or Transport(timeout=timeout)

    @property
    def identity(self) -> str:
        """The text by which a cache tells this model's replies from another's; it holds no key."""
        settings = [self.structured, self.temperature, self.extra]
        return to_json([self.base_url, self.api, self.name, settings])

    async def complete(
        self, messages: Sequence[Mapping[str, Any]], schema: Mapping[str, Any] | None = None
    ) -> ChatReply:
        """Return one reply to a list of messages.

        Raises:
            JudgeError: the endpoint gives no usable answer.
        """
        headers = {"authorization": f"Bearer {self._key.reveal()}"} if self._key else {}
        chat = self.api == "chat"
        payload = self._chat_payload(messages, schema) if chat else self._responses_payload(messages, schema)
        url = self.base_url + ("/chat/completions" if chat else "/responses")
        answer = await ask(self._transport, url, headers, payload)
        return self._reply(read_answer(answer, model=self.name, key=self._key))

    async def aclose(self) -> None:
        """Close the connections of the running event loop."""
        await self._transport.aclose()

    def _settings(self) -> dict[str, Any]:
        sampling = {} if self.temperature is None else {"temperature": self.temperature}
        return {"model": self.name, **sampling}

    def _chat_payload(self, messages: Sequence[Mapping[str, Any]], schema: Mapping[str, Any] | None) -> Any:
        payload = {**self._settings(), "messages": list(messages)}
        if schema is not None and self.structured == "json_schema":
            json_schema = {"name": "reply", "schema": schema, "strict": True}
            payload["response_format"] = {"type": "json_schema", "json_schema": json_schema}
        elif schema is not None and self.structured == "json_object":
            payload["response_format"] = {"type": "json_object"}
        return {**payload, **self.extra}

    def _responses_payload(
        self, messages: Sequence[Mapping[str, Any]], schema: Mapping[str, Any] | None
    ) -> Any:
        payload = {**self._settings(), "input": list(messages), "store": False}
        if schema is not None and self.structured == "json_schema":
            payload["text"] = {
                "format": {"type": "json_schema", "name": "reply", "schema": schema, "strict": True}
            }
        elif schema is not None and self.structured == "json_object":
            payload["text"] = {"format": {"type": "json_object"}}
        return {**payload, **self.extra}

    def _reply(self, body: Mapping[str, Any]) -> ChatReply:
        reader: Reader = ChatReader() if self.api == "chat" else ResponsesReader()
        reader.reply(body)
        choice = next(iter(reader.answer().choices), Choice())
        if choice.refusal:
            return reply_of(self.name, body, choice.refusal, "refusal")
        finish = "stop" if choice.finish_reason == "completed" else choice.finish_reason
        return reply_of(self.name, body, choice.text, finish)

    def __repr__(self) -> str:
        return f"<OpenAICompatibleModel {self.name!r} at {self.base_url}>"
