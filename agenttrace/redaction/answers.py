"""Messages of a conversation that answer one which asks for a secret, such as a password."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from itertools import count
from typing import Any

from agenttrace.redaction.fields import name_of_field
from agenttrace.redaction.naming import Names
from agenttrace.redaction.shape_search import looks_random
from agenttrace.redaction.tables import is_list
from agenttrace.redaction.values import is_made_up

_OF_SECRETS = ("pass", "secret", "token", "key", "credential")
_END = r"[?:.!]?[\s*_`]{0,4}"
_LAST_WORDS = re.compile(rf"(?P<asked>[^.!?:\n]{{1,120}}?)(?:\s+(?:for|of|to)\s[^.!?:\n]{{1,60}})?{_END}\Z")
_MAY_ASK = re.compile(rf"(?i)(?:{'|'.join(_OF_SECRETS)})[^.!?:\n]{{0,190}}{_END}(?:\n\n|\Z)")
"""What stands in each such question, where it is one of several texts with empty lines between."""
_WITH_DIGIT = re.compile(r"(?:[A-Za-z]\d|\d[A-Za-z])")
_LONGEST_QUESTION, _LONGEST_ANSWER, _LONGEST_LEAD = 300, 200, 60


def may_ask(text: str) -> bool:
    """Returns False only if none of several texts, with empty lines between them, asks for a secret."""
    return _MAY_ASK.search(text) is not None


_Path = tuple[int | str, ...]
_CONTENTS = ("content", "parts", "text")
"""Under what a message has its text, or its parts, for OpenAI, Anthropic, Gemini and OpenTelemetry."""
_OF_MESSAGES = frozenset(_CONTENTS)
_ROLES = frozenset({"role", "type", "from", "author", "sender", "kind"})
_OF_ROLES = frozenset({"assistant", "ai", "bot", "model", "system", "developer", "user", "human", "customer"})


def may_be_answered(texts: Iterable[str]) -> bool:
    """Returns False only if of several texts none asks for a secret, or no other one could be the answer."""
    questions, answers = set(filter(may_ask, texts)), set(filter(_may_answer, texts))
    return bool(questions) and bool(answers) and len(questions | answers) > 1


def holds_answers(messages: Sequence[Any], names: Names) -> bool:
    """Returns True if one of the messages answers a question for a secret."""
    return len(messages) > 1 and _may_be_messages(messages) and places_of_answers(messages, names) != []


def without_answers(messages: list[Any], items: list[Any], names: Names, taken_out: Any) -> None:
    """Put what `taken_out` makes of an answer in its place in `items`, the clean copies of the messages."""
    if len(messages) > 1 and _may_be_messages(messages):
        for number, path in places_of_answers(messages, names):
            items[number] = _without(items[number], path, taken_out)


def _may_be_messages(items: Sequence[Any]) -> bool:
    """Returns True for a list of messages, mappings or pairs of who speaks and what."""
    first = items[0]
    if type(first) is dict:
        return not _ROLES.isdisjoint(first) and not _OF_MESSAGES.isdisjoint(first)
    return is_list(first) and len(first) == 2 and type(first[0]) is str and first[0].lower() in _OF_ROLES


def places_of_answers(messages: Sequence[Any], names: Names) -> list[tuple[int, _Path]]:
    """The places of messages whose one word answers a question for a secret, and the way to each word."""
    answers: list[tuple[int, _Path]] = []
    before: list[tuple[str, _Path]] = []
    for place, message in enumerate(messages):
        texts = _texts(message)
        if before and len(texts) == 1 and _is_answer(before[-1][0], texts[0][0], names):
            answers.append((place, texts[0][1]))
        before = texts
    return answers


def _without(message: Any, path: _Path, taken_out: Any) -> Any:
    """A copy of a message with what `taken_out` makes of the text at the end of a way through it."""
    if not path:
        return taken_out(message, begin_of_answer(message))
    copy: Any = list(message) if is_list(message) else dict(message)
    copy[path[0]] = _without(message[path[0]], path[1:], taken_out)
    return copy


def _texts(message: Any) -> list[tuple[str, _Path]]:
    """The texts of a message, each with the way to it."""
    if is_list(message):
        return [(message[1], (1,))] if len(message) == 2 and type(message[1]) is str else []
    if type(message) is not dict:
        return []
    for key in _CONTENTS:
        content: Any = message.get(key)
        if type(content) is str:
            return [(content, (key,))]
        if is_list(content):
            return [(text, (key, *path)) for text, path in map(_text_of_part, content, count()) if path]
    return []


def _text_of_part(part: Any, place: int) -> tuple[str, _Path]:
    if type(part) is str:
        return part, (place,)
    key = next((key for key in _CONTENTS if type(part) is dict and type(part.get(key)) is str), None)
    return ("", ()) if key is None else (part[key], (place, key))


def _may_answer(text: str) -> bool:
    return begin_of_answer(text) >= 0


def begin_of_answer(text: str) -> int:
    """Where in a message the one word begins that answers, which ends it: *Sure, it's …*; -1 for none."""
    if not 0 < len(text) <= _LONGEST_ANSWER or _WITH_DIGIT.search(text) is None:
        return -1
    word = text.strip()
    if not any(map(str.isspace, word)):
        return 0 if is_made_up(word) else -1
    begin = max(map(text.rstrip().rfind, " \n\t")) + 1
    word = text[begin:].strip().rstrip(".!,;")
    is_one = begin <= _LONGEST_LEAD and is_made_up(word) and looks_random(word)
    return begin if is_one and word.isalnum() else -1


def asked_name(question: str, names: Names) -> str | None:
    """The name of the secret that a question asks for, or a prompt that ends with it; None for any other."""
    asked = _LAST_WORDS.search(question[-_LONGEST_QUESTION:])
    return None if asked is None else name_of_field(asked["asked"], names)


def _is_answer(question: str, answer: str, names: Names) -> bool:
    if not _may_answer(answer):
        return False
    name = asked_name(question, names)
    # What the quick look at all texts at once tells.
    is_told = name is not None and any(sign in name.lower() for sign in _OF_SECRETS)
    return is_told and names.hides(name or "", answer)
