"""Messages of a conversation that answer one which asks for a secret, such as a password."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import count
from typing import Any

from agenttrace.redaction.naming import Names
from agenttrace.redaction.questions import asked_name
from agenttrace.redaction.shape_search import looks_random
from agenttrace.redaction.tables import is_list
from agenttrace.redaction.values import is_made_up

_DIGIT = re.compile(r"[0-9]")
_WITH_DIGIT = re.compile(r"(?:[A-Za-z]\d|\d[A-Za-z])")
_BEFORE_DOUBT = re.compile(
    r"(?i)(?=\S*\d)(?=\S*[A-Za-z])\S{6,100}\s(?:-{1,2}\s|—\s)?(?:i\s(?:think|guess|believe|hope|suppose)|maybe|probably|perhaps"
    r"|please|thanks|thank\syou|thx|if\si\b|as\sfar|or\sso|for\snow|is\s(?:it|my\spass|the\spass)|should|try|works)\b[^\d\n]{0,60}\Z"
)
"""What people say behind the word that answers."""
_OF_NUMBERS = re.compile(r"(?i)pin|code|otp")
_NUMBER = re.compile(r"\d{4,8}")
_LONGEST_ANSWER, _LONGEST_LEAD = 200, 60
_Path = tuple[int | str, ...]
_CONTENTS = ("content", "parts", "text", "message", "value")
"""Under what a message has its text, or its parts, for OpenAI, Anthropic, Gemini and OpenTelemetry."""
_OF_MESSAGES = frozenset(_CONTENTS)
_ROLES = frozenset({"role", "type", "from", "author", "sender", "kind", "speaker"})
_OF_ROLES = frozenset({"assistant", "ai", "bot", "model", "system", "developer", "user", "human", "customer"})


def holds_answers(messages: Sequence[Any], names: Names) -> bool:
    """Returns True if one of the messages answers a question for a secret."""
    if len(messages) < 2 or not _may_be_messages(messages) or not _may_have_answer(messages):
        return False
    return places_of_answers(messages, names) != []


def without_answers(messages: list[Any], items: list[Any], names: Names, taken_out: Any) -> None:
    """Put what `taken_out` makes of an answer in its place in `items`, the clean copies of the messages."""
    if len(messages) > 1 and _may_be_messages(messages):
        for number, path in places_of_answers(messages, names):
            items[number] = _without(items[number], path, taken_out)


def _may_have_answer(messages: Sequence[Any]) -> bool:
    """Returns False for most conversations: no message is short, with a digit in its first or last word."""
    for message in messages:
        if type(message) is not dict or "content" not in message:
            return True
        text = message["content"]
        if type(text) is str:
            if len(text) <= _LONGEST_ANSWER:
                word = text.strip()
                if _DIGIT.search(word.rpartition(" ")[2]) or _DIGIT.search(word.partition(" ")[0]):
                    return True
        elif text is not None:
            return True
    return False


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
        if any(text for text, _ in texts):  # a message without a text, as of a call, answers nothing
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


def begin_of_answer(text: str) -> int:
    """Where in a message the one word begins that answers, which ends it: *Sure, it's …*, or which begins it:
    *…, I think*; -1 for none."""
    if not 0 < len(text) <= _LONGEST_ANSWER:
        return -1
    word = text.strip()
    if _NUMBER.fullmatch(word) is not None:
        return 0
    if not any(map(str.isspace, word)):
        return 0 if _DIGIT.search(word) is not None and is_made_up(word) else -1
    if _BEFORE_DOUBT.match(word) is not None and is_made_up(word.split()[0].rstrip(".,;!")):
        return 0
    if _WITH_DIGIT.search(text) is None:
        return -1
    begin = max(map(text.rstrip().rfind, " \n\t")) + 1
    word = text[begin:].strip().rstrip(".!,;")
    is_one = begin <= _LONGEST_LEAD and is_made_up(word) and looks_random(word)
    return begin if is_one and word.isalnum() else -1


def _is_answer(question: str, answer: str, names: Names) -> bool:
    if begin_of_answer(answer) < 0:
        return False
    name = asked_name(question, names)
    if name == "" or (answer.strip().isdigit() and _OF_NUMBERS.search(name) is None):
        return False
    return names.hides(name, answer)
