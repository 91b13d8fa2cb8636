"""A judge's question as messages: instructions of ours, then the text under judgement as fenced data."""

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

from agenttrace.core.errors import ConfigError, did_you_mean
from agenttrace.core.jsonable import clean_text, to_json

_PLACEHOLDER = re.compile(r"\{\{\s*(.*?)\s*\}\}", re.DOTALL)
_NONCE_LINE = re.compile(r"^nonce: ([0-9a-f]{16})$", re.MULTILINE)
_FENCE_LINE = re.compile(r"^fence: ([0-9a-f]{16})$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Prompt:
    """Instructions to a judge, with the version that scores are reported under."""

    name: str
    version: str
    text: str


@cache
def load_prompt(name: str) -> Prompt:
    """One of the prompts that come with agenttrace, from ``prompts/<name>.txt``."""
    head, _, text = (
        (files("agenttrace.judges") / "prompts" / f"{name}.txt").read_text("utf-8").partition("\n\n")
    )
    return Prompt(name, head.removeprefix("version: ").strip(), text.strip())


def fill(template: str, values: Mapping[str, str], where: str = "the prompt") -> str:
    """Put values in the place of ``{{name}}``; nothing else is interpreted, in the values neither.

    Raises:
        ConfigError: a placeholder that is not a known name, or a template tag (``{%``).
    """
    placeholders(template, values, where)
    return _PLACEHOLDER.sub(lambda found: values[found[1]], template)


def placeholders(template: str, known: Iterable[str], where: str = "the prompt") -> tuple[str, ...]:
    """The names that a template uses, in order, each once.

    Raises:
        ConfigError: as `fill`.
    """
    names = tuple(dict.fromkeys(_PLACEHOLDER.findall(template)))
    allowed = set(known)
    for name in names:
        if name not in allowed:
            raise ConfigError(f"{where} uses {{{{{name}}}}}, which is not known{did_you_mean(name, allowed)}")
    if "{%" in template:
        raise ConfigError(f"{where} holds a template tag ('{{%'); only {{{{name}}}} is replaced")
    return names


@dataclass(frozen=True, slots=True)
class Question:
    """What a judge is asked: messages, and the nonce that an answer to exactly this question echoes."""

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
    """Write a question down.

    The instructions stand in the system message. The texts under judgement come last, in a message of their
    own, each between lines that carry a random fence and state the text's length. Without `secret` fence
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
    """The nonce that a question asks for, or ``""``."""
    found = _NONCE_LINE.search(str(messages[0].get("content", ""))) if messages else None
    return found[1] if found else ""


def read_blocks(messages: Sequence[Mapping[str, Any]]) -> dict[str, str]:
    """The texts under judgement by label, read as a careful judge would: by fence and stated length."""
    found = _FENCE_LINE.search(str(messages[0].get("content", ""))) if messages else None
    if found is None:
        return {}
    opening = re.compile(rf"^=== {found[1]} BEGIN (\S+), (\d+) characters ===\n", re.MULTILINE)
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
    """A fence and a nonce, neither of which occurs in any of the parts."""
    material = to_json([salt, *parts]).encode("utf-8", "replace")
    key = secret or secrets.token_bytes(32)
    while True:
        digest = hmac.new(key, material, hashlib.sha256).hexdigest()
        fence, nonce = digest[:16], digest[16:32]
        if not any(fence in part or nonce in part for part in parts):
            return fence, nonce
        material += b"+"
