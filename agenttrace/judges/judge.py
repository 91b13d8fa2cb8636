"""One question to one model: asked once more where the first reply is unreadable."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

from agenttrace.core.errors import JudgeError
from agenttrace.core.protocols import ChatModel, FencesAlike, KeepsReplies, optional
from agenttrace.judges.models.reading import ChatReply
from agenttrace.judges.prompting import Prompt, Question, fill, load_prompt, pose
from agenttrace.judges.verdict import (
    ItemsReply,
    RatingReply,
    ReasonedVerdict,
    Reply,
    UnreadableReply,
    VerdictsReply,
    read_reply,
    reply_schema,
)

Shape = TypeVar("Shape", bound=Reply)
Check = Callable[[Shape], str | None]
"""Returns what is wrong with a reply that has the right shape, or None."""


@dataclass(frozen=True, slots=True)
class Asked:
    """A question that was asked: its prompt's name, the texts under judgement, the raw replies."""

    prompt: str
    blocks: Mapping[str, str]
    replies: list[str] = field(default_factory=list)


class Judge:
    """Asks one model for one score, and adds up the cost and the tokens.

    `salt` distinguishes the votes of one score: each is a question with its own fence and nonce.
    """

    def __init__(self, model: ChatModel, *, salt: int = 0) -> None:
        self.model = model
        self.salt = salt
        self.replies: list[ChatReply] = []
        self.prompts: dict[str, str] = {}
        self.asked: list[Asked] = []

    async def ask(
        self,
        prompt: str | Prompt,
        blocks: Mapping[str, str],
        shape: type[Shape],
        *,
        check: Check[Shape] | None = None,
        words: Mapping[str, str] | None = None,
        dialogue: Sequence[Mapping[str, str]] = (),
    ) -> Shape:
        """Ask a question and read the answer; after an unreadable answer, ask once more and say why.

        `words` fill the prompt's own placeholders and must be the caller's text, never text under judgement.

        Raises:
            UnreadableReply: the second answer is unreadable, too.
            JudgeError: the model gives no answer at all.
        """
        prompt = load_prompt(prompt) if isinstance(prompt, str) else prompt
        self.prompts[prompt.name] = prompt.version
        self.asked.append(asked := Asked(prompt.name, blocks))
        schema = reply_schema(shape)
        task = fill(prompt.text, words) if words is not None else prompt.text
        fencing = optional(self.model, FencesAlike)
        secret = None if fencing is None else fencing.fence_secret
        question = pose(task, blocks, schema, secret=secret, salt=self.salt, dialogue=dialogue)
        try:
            return await self._answer(question.messages, question, schema, shape, check, asked)
        except UnreadableReply as error:
            again = fill(load_prompt("again").text, {"problem": error.problem})
        messages = (*question.messages, {"role": "user", "content": again})
        return await self._answer(messages, question, schema, shape, check, asked)

    async def items(self, prompt: str, blocks: Mapping[str, str]) -> list[str]:
        """Ask for the claims (statements, instructions …) of a text; blank ones are left out."""
        reply = await self.ask(prompt, blocks, ItemsReply)
        return [item for item in reply.items if item.strip()]

    async def verdicts(
        self, prompt: str, items: Sequence[str], blocks: Mapping[str, str]
    ) -> list[ReasonedVerdict]:
        """Ask for one verdict for each item, in order; a reply with another number of them is unreadable."""
        if not items:
            return []
        blocks = {**blocks, "items": numbered(items)}
        reply = await self.ask(prompt, blocks, VerdictsReply, check=VerdictsReply.one_for_each(items))
        return reply.verdicts

    async def rating(
        self, prompt: str, blocks: Mapping[str, str], words: Mapping[str, str] | None = None
    ) -> RatingReply:
        """Ask for a rating of 1 to 5."""
        return await self.ask(prompt, blocks, RatingReply, words=words)

    @property
    def cost(self) -> float | None:
        """The US dollars spent so far, or None where a price is not known."""
        costs = [reply.cost for reply in self.replies]
        return None if None in costs or not costs else sum(cost for cost in costs if cost is not None)

    @property
    def usage(self) -> dict[str, int]:
        """The number of requests, how many came from a cache, and the tokens of the others."""
        uncached = [reply for reply in self.replies if not reply.cached]
        return {
            "requests": len(self.replies),
            "cached": len(self.replies) - len(uncached),
            "input_tokens": sum(reply.input_tokens or 0 for reply in uncached),
            "output_tokens": sum(reply.output_tokens or 0 for reply in uncached),
        }

    async def _answer(
        self,
        messages: Sequence[Mapping[str, Any]],
        question: Question,
        schema: Mapping[str, Any],
        shape: type[Shape],
        check: Check[Shape] | None,
        asked: Asked,
    ) -> Shape:
        reply = as_reply(await self.model.complete(messages, schema))
        self.replies.append(reply)
        asked.replies.append(reply.text)
        try:
            answer = read_reply(reply.text, shape, question.nonce)
        except UnreadableReply as error:
            if reply.finish in ("refusal", "content_filter"):
                raise UnreadableReply("the judge refused to answer", error.raw) from None
            if reply.finish in ("length", "max_tokens", "max_output_tokens", "incomplete"):
                raise UnreadableReply("it was cut off at the token limit", error.raw) from None
            raise
        problem = check(answer) if check is not None else None
        if problem is not None:
            raise UnreadableReply(problem, reply.text)
        keeping = optional(self.model, KeepsReplies)
        if keeping is not None:
            keeping.keep(messages, schema, reply)
        return answer


def as_reply(answer: Any) -> ChatReply:
    """Return a model's answer as a `ChatReply`; the user's own models may answer with plain text.

    Raises:
        JudgeError: it is neither a `ChatReply` nor text.
    """
    if isinstance(answer, ChatReply):
        return answer
    if isinstance(answer, str):
        return ChatReply(text=answer)
    raise JudgeError(f"the model's complete() must return a ChatReply or text, got {type(answer).__name__}")


def numbered(items: Sequence[str]) -> str:
    """Return the items as numbered lines."""
    return "\n".join(f"{number}. {' '.join(item.split())}" for number, item in enumerate(items, 1))
