"""A fake model with scripted replies, for tests without a network."""

from __future__ import annotations

import inspect
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from agenttrace.core.errors import JudgeError
from agenttrace.core.jsonable import to_json
from agenttrace.judges.models.reading import ChatReply
from agenttrace.judges.prompting import nonce_of, read_blocks

Scripted = str | Mapping[str, Any] | ChatReply | BaseException
"""One reply: text as it stands, an object that becomes JSON with the nonce filled in, a whole `ChatReply`, or
an exception to raise."""


@dataclass(frozen=True, slots=True)
class FakeRequest:
    """One request to a fake model.

    `blocks` are the fenced texts under judgement by label, `nonce` what the reply must echo (``""`` where
    the messages are not a judge's question).
    """

    messages: tuple[Mapping[str, Any], ...]
    schema: Mapping[str, Any] | None
    blocks: Mapping[str, str]
    nonce: str

    @property
    def fields(self) -> tuple[str, ...]:
        """The names of the fields that the reply must have, the nonce left out."""
        properties = (self.schema or {}).get("properties", {})
        return tuple(name for name in properties if name != "nonce")


class FakeChatModel:
    """A model with scripted replies, for tests without a key or a network.

    `replies` is one reply for every request, a list of replies used up one by one (asking for more is a
    `JudgeError`), or a function of the `FakeRequest`, sync or async. `requests` holds all requests so far. ::

        yes = {"reason": "as stated", "verdict": "yes"}
        judge = FakeChatModel([{"items": ["Returns are free."]}, {"verdicts": [yes]}])
        score = await FaithfulnessScorer(model=judge).score(example)
    """

    def __init__(
        self,
        replies: Scripted | Iterable[Scripted] | Callable[[FakeRequest], Scripted | Awaitable[Scripted]],
        *,
        name: str = "fake",
        input_tokens: int = 0,
        output_tokens: int = 0,
        cost: float | None = 0.0,
    ) -> None:
        self.name = name
        self.identity = f"fake {name}"
        self.requests: list[FakeRequest] = []
        self._usage = {"input_tokens": input_tokens, "output_tokens": output_tokens, "cost": cost}
        self._function = replies if callable(replies) else None
        single = isinstance(replies, str | Mapping | ChatReply | BaseException)
        self._always = replies if single else None
        self._script = None if single or callable(replies) else list(replies)  # type: ignore[arg-type]  # what is left is an iterable

    async def complete(
        self, messages: Sequence[Mapping[str, Any]], schema: Mapping[str, Any] | None = None
    ) -> ChatReply:
        """Return the next scripted reply.

        Raises:
            JudgeError: the script has no more replies.
        """
        request = FakeRequest(
            tuple(dict(m) for m in messages), schema, read_blocks(messages), nonce_of(messages)
        )
        self.requests.append(request)
        reply = await self._next(request)
        if isinstance(reply, BaseException):
            raise reply
        if isinstance(reply, ChatReply):
            return reply
        if isinstance(reply, Mapping):
            reply = to_json({"nonce": request.nonce, **reply})
        return ChatReply(text=reply, model=self.name, finish="stop", **self._usage)  # type: ignore[arg-type]  # one dict, two types of value

    async def _next(self, request: FakeRequest) -> Any:
        if self._function is not None:
            answer = self._function(request)
            return await answer if inspect.isawaitable(answer) else answer
        if self._script is None:
            return self._always
        if not self._script:
            raise JudgeError(f"the fake judge has no reply for request {len(self.requests)}")
        return self._script.pop(0)

    def __repr__(self) -> str:
        return f"<FakeChatModel {self.name!r}: {len(self.requests)} requests>"
