"""Messages of a conversation that answer one which asks for a secret, such as a password."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from agenttrace.redaction.fields import name_of_field
from agenttrace.redaction.naming import Names
from agenttrace.redaction.values import is_made_up

_OF_SECRETS = ("pass", "secret", "token", "key", "credential")
_END = r"[?:.!]?[\s*_`]{0,4}"
_LAST_WORDS = re.compile(rf"(?P<asked>[^.!?:\n]{{1,120}}?)(?:\s+(?:for|of|to)\s[^.!?:\n]{{1,60}})?{_END}\Z")
_MAY_ASK = re.compile(rf"(?i)(?:{'|'.join(_OF_SECRETS)})[^.!?:\n]{{0,190}}{_END}(?:\n\n|\Z)")
"""What stands in each such question, where it is one of several texts with empty lines between."""
_WITH_DIGIT = re.compile(r"(?:[A-Za-z]\d|\d[A-Za-z])")
_LONGEST_QUESTION, _LONGEST_ANSWER = 300, 200


def may_ask(text: str) -> bool:
    """Returns False only if none of several texts, with empty lines between them, asks for a secret."""
    return _MAY_ASK.search(text) is not None


def places_of_answers(messages: Sequence[Any], names: Names) -> list[int]:
    """The places of messages whose one word answers a question for a secret."""
    return [
        place
        for place in range(1, len(messages))
        if _is_answer(_content(messages[place - 1]), _content(messages[place]), names)
    ]


def _content(message: Any) -> str:
    content = message.get("content") if type(message) is dict else None
    return content if type(content) is str else ""


def _is_answer(question: str, answer: str, names: Names) -> bool:
    if not 0 < len(answer) <= _LONGEST_ANSWER or any(map(str.isspace, answer)) or not is_made_up(answer):
        return False
    asked = _LAST_WORDS.search(question[-_LONGEST_QUESTION:])
    name = None if asked is None else name_of_field(asked["asked"], names)
    # What the quick look at all texts at once tells.
    is_told = name is not None and any(sign in name.lower() for sign in _OF_SECRETS)
    return is_told and _WITH_DIGIT.search(answer) is not None and names.hides(name or "", answer)
