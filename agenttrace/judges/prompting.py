"""Prompts of judges, ours or the user's own, posed as messages with the judged texts as fenced data."""

from __future__ import annotations

import hashlib
import hmac
import re
import secrets
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any

from agenttrace.core.errors import ScorerError, did_you_mean
from agenttrace.core.jsonable import clean_text, to_json
from agenttrace.judges.evidence import FIELDS, Evidence

_LIKE_A_PLACEHOLDER = re.compile(r"\{{1,2}\s*(\w+)\s*\}?")
_PLACEHOLDER = re.compile(r"\{\{\s*(.*?)\s*\}\}", re.DOTALL)
_NONCE_LINE = re.compile(r"^nonce: ([0-9a-f]{16})$", re.MULTILINE)
_FENCE_LINE = re.compile(r"^fence: ([0-9a-f]{16})$", re.MULTILINE)
_ROLES = ("system", "user", "assistant")


@dataclass(frozen=True, slots=True)
class Prompt:
    """Instructions to a judge, with a version that is recorded in each score."""

    name: str
    version: str
    text: str


@cache
def load_prompt(name: str) -> Prompt:
    """Return one of the prompts that come with agenttrace, from ``prompts/<name>.txt``."""
    head, _, text = (
        (files("agenttrace.judges") / "prompts" / f"{name}.txt").read_text("utf-8").partition("\n\n")
    )
    return Prompt(name, head.removeprefix("version: ").strip(), text.strip())


def fill(template: str, values: Mapping[str, str], where: str = "the prompt") -> str:
    """Replace each ``{{name}}`` by its value. Nothing else is interpreted, and nothing in the values.

    Raises:
        ScorerError: a placeholder is not a known name, or there is a template tag (``{%``).
    """
    placeholders(template, values, where)
    return _PLACEHOLDER.sub(lambda match: values[match[1]], template)


def placeholders(template: str, fields: Iterable[str], where: str = "the prompt") -> tuple[str, ...]:
    """Return the names that a template uses, in order, each once.

    Raises:
        ScorerError: as `fill`.
    """
    names = tuple(dict.fromkeys(_PLACEHOLDER.findall(template)))
    allowed = set(fields)
    for name in names:
        if name not in allowed:
            raise ScorerError(f"{where} uses {{{{{name}}}}}, which is not known{did_you_mean(name, allowed)}")
    if "{%" in template:
        raise ScorerError(f"{where} holds a template tag ('{{%'); only {{{{name}}}} is replaced")
    return names


class OwnPrompt:
    """A judge's task in the user's own words: one prompt, or a conversation.

    It may hold ``{{input}}``, ``{{actual_output}}``, ``{{trajectory}}`` and the example's other fields. A
    placeholder becomes the name of a fenced text, and the text follows as data, so that an agent's words
    never stand among the instructions. The fields that are named are needed. The version is a digest of the
    text.

    Raises:
        ScorerError: there is neither a prompt nor a conversation, or both; a placeholder or a role is
            unknown.
    """

    def __init__(
        self, owner: str, prompt: str | None, conversation: Sequence[Mapping[str, str]] | None
    ) -> None:
        if (prompt is None) == (conversation is None):
            raise ScorerError(f"{owner} needs prompt= or conversation=, one of them")
        messages = [{"role": "system", "content": prompt}] if prompt is not None else list(conversation or ())
        texts = [_content(owner, message) for message in messages]
        if not "".join(texts).strip():
            raise ScorerError(f"{owner} has an empty prompt")
        whole = "\n".join(texts)
        self.needs = placeholders(whole, FIELDS, f"the prompt of {owner}")
        unclosed = _LIKE_A_PLACEHOLDER.search(_PLACEHOLDER.sub("", whole))
        if unclosed is not None and unclosed[1] in FIELDS:
            raise ScorerError(
                f"the prompt of {owner} has {unclosed[0]!r}: a field is written {{{{{unclosed[1]}}}}}"
            )
        if not self.needs:
            raise ScorerError(
                f"the prompt of {owner} shows the judge nothing of the example; name what it is to judge, "
                "such as {{actual_output}}"
            )
        pointers = {field: f'[the text "{field}"]' for field in FIELDS}
        contents = [fill(text, pointers) for text in texts]
        roles = [message["role"] for message in messages]
        pairs = list(zip(roles, contents, strict=True))
        self.dialogue = tuple({"role": role, "content": text} for role, text in pairs if role != "system")
        system = [text for role, text in pairs if role == "system"]
        task = "\n\n".join(system) or "Answer the last message of the conversation that follows."
        digest = hashlib.sha256(whole.encode("utf-8", "replace")).hexdigest()[:8]
        self.prompt = Prompt(owner, digest, task)

    def blocks(self, evidence: Evidence) -> dict[str, str]:
        """Return the texts that the prompt names."""
        return evidence.blocks(*self.needs)


def _content(owner: str, message: Mapping[str, str]) -> str:
    role, content = message.get("role", ""), message.get("content")
    if role not in _ROLES:
        raise ScorerError(
            f"{owner}: unknown role {role!r} in the conversation{did_you_mean(str(role), _ROLES)}"
        )
    if not isinstance(content, str):
        raise ScorerError(f"{owner}: the content of a message is text, got {type(content).__name__}")
    return content


@dataclass(frozen=True, slots=True)
class Question:
    """A judge's question as messages, with the nonce that an answer to this question must repeat."""

    messages: tuple[dict[str, str], ...]
    nonce: str


def pose(
    task: str,
    blocks: Mapping[str, str],
    schema: Mapping[str, Any],
    *,
    secret: bytes | None = None,
    salt: int = 0,
    dialogue: Sequence[Mapping[str, str]] = (),
) -> Question:
    """Write a question as messages.

    The instructions stand in the system message. The texts under judgement come last, in a message of their
    own, each between lines that hold a random fence and the text's length. Without `secret` fence
    and nonce are random; with it they are derived from the question and `salt`, so that an equal question
    can be found in a cache while the judged text still cannot know them. `dialogue` are messages that stand
    between the two.
    """
    clean = {label: clean_text(text) for label, text in blocks.items()}
    shape = to_json(schema)
    fence, nonce = _tokens(secret, salt, [task, shape, *clean, *clean.values()])
    rules = fill(
        load_prompt("rules").text, {"task": clean_text(task), "shape": shape, "fence": fence, "nonce": nonce}
    )
    data = "\n\n".join(_block(fence, label, text) for label, text in clean.items())
    between = [{"role": m["role"], "content": clean_text(m["content"])} for m in dialogue]
    messages = [{"role": "system", "content": rules}, *between]
    if data:
        messages.append({"role": "user", "content": data})
    elif not between:
        messages.append({"role": "user", "content": "There is no text to judge. Reply."})
    return Question(tuple(messages), nonce)


def nonce_of(messages: Sequence[Mapping[str, Any]]) -> str:
    """Return the nonce that a question asks for, or ``""``."""
    match = _NONCE_LINE.search(str(messages[0].get("content", ""))) if messages else None
    return match[1] if match else ""


def read_blocks(messages: Sequence[Mapping[str, Any]]) -> dict[str, str]:
    """Return the texts under judgement by label, found by their fence and length."""
    match = _FENCE_LINE.search(str(messages[0].get("content", ""))) if messages else None
    if match is None:
        return {}
    opening = re.compile(rf"^=== {match[1]} BEGIN (\S+), (\d+) characters ===\n", re.MULTILINE)
    blocks: dict[str, str] = {}
    for message in messages[1:]:
        text, place = str(message.get("content", "")), 0
        while (start := opening.search(text, place)) is not None:
            place = start.end() + int(start[2])
            blocks[start[1]] = text[start.end() : place]
    return blocks


def _block(fence: str, label: str, text: str) -> str:
    return f"=== {fence} BEGIN {label}, {len(text)} characters ===\n{text}\n=== {fence} END {label} ==="


def _tokens(secret: bytes | None, salt: int, parts: list[str]) -> tuple[str, str]:
    """Return a fence and a nonce, neither of which occurs in any of the parts."""
    material = to_json([salt, *parts]).encode("utf-8", "replace")
    key = secret or secrets.token_bytes(32)
    while True:
        digest = hmac.new(key, material, hashlib.sha256).hexdigest()
        fence, nonce = digest[:16], digest[16:32]
        if not any(fence in part or nonce in part for part in parts):
            return fence, nonce
        material += b"+"
