"""Made-up words in the result of a call, of which its name or its arguments say that they are a secret."""

from __future__ import annotations

import re
from collections.abc import Callable
from operator import is_
from typing import Any

from agenttrace.core.marks import REDACTED
from agenttrace.redaction.json_text import without_secrets_of_data
from agenttrace.redaction.values import is_made_up

RESULTS = frozenset(
    {
        *("stdout", "output", "result", "text", "content", "value", "answer", "response", "data", "payload"),
        *("secret", "plaintext", "key", "token", "raw", "body", "string", "parameter", "Parameter", "Value"),
    }
)
"""Under what a call returns a text beside how it went, and who is meant."""
LONGEST_RESULT = 200
_SHORTEST, _SHORTEST_OF_LETTERS = 4, 12
"""Letters of a word; shorter ones of letters alone are words of a language."""
_MOST_ITEMS, _DEEPEST = 10, 6
_CONTAINERS = frozenset({dict, list, tuple})
_LONGEST_SPELLED = 20_000
_LABELLED = re.compile(
    r"(?im)(?P<label>^[ \t]{0,8}(?:std ?out|output|result|value|key|token|secret|answer|response)"
    r"[ \t]{0,4}[:=]\s{1,8})(?P<word>\S{4,200})(?=[ \t]*\r?$)"
)
_FILE_OR_MOMENT = re.compile(
    r"[\w./-]+\.[A-Za-z]{1,5}(?::\d+)*|\d{4}-\d\d-\d\dT\d\d:\d\d(?::\d\d)?[\d.:+Z-]{0,16}"
)


def may_be_given(output: Any) -> bool:
    """Returns False for most results that are no secret and have none: told in a few steps."""
    if type(output) is str:
        if " " not in output:
            size = len(output)
            return size >= _SHORTEST and (size >= _SHORTEST_OF_LETTERS or not output.isalpha())
        is_told = "\n" in output or "|" in output or "," in output or "\t" in output
        return is_told or output[:1] == "{" or ": " in output
    return type(output) in _CONTAINERS


def holds_word(output: Any) -> bool:
    """Returns True for a result that is one made-up word, or has one."""
    return without_words(output, lambda _: REDACTED) is not output


def without_words(output: Any, clean: Callable[[str], Any], levels: int = _DEEPEST) -> Any:
    """The result with what `clean` makes of each of its made-up words; the same object where it has none."""
    if type(output) is str:
        if is_word(output):
            return clean(output)
        spelled = _without_spelled(output, clean, levels - 1) if levels > 0 else output
        return output if spelled == output else spelled
    if levels <= 0 or type(output) not in _CONTAINERS:
        return output
    if type(output) is dict:
        items = {key: without_words(output[key], clean, levels - 1) for key in output.keys() & RESULTS}
        is_same = all(items[key] is output[key] for key in items)
        return output if is_same else {key: items.get(key, item) for key, item in output.items()}
    if len(output) > _MOST_ITEMS:
        return output
    listed = [without_words(item, clean, levels - 1) for item in output]
    return output if all(map(is_, listed, output)) else listed


def _without_spelled(text: str, clean: Callable[[str], Any], levels: int) -> str:
    """A text that spells data, or has a word after a label, ``stdout: …``, without these words."""
    if len(text) > _LONGEST_SPELLED:
        return text
    if text.lstrip()[:1] in ("{", "[", "("):
        return without_secrets_of_data(text, lambda data: without_words(data, clean, levels))[0]
    return _LABELLED.sub(lambda label: _cleaned(label, clean), text)


def _cleaned(label: re.Match[str], clean: Callable[[str], Any]) -> str:
    word = label["word"]
    return f"{label['label']}{clean(word)}" if is_word(word) else label[0]


def is_word(text: str) -> bool:
    """Returns True for one made-up word: no sentence, no file, no place in one, no moment."""
    if len(text) > LONGEST_RESULT or " " in text or (text.isalpha() and len(text) < _SHORTEST_OF_LETTERS):
        return False  # most results: told in a few steps
    text = text.strip().strip("\"'")
    return not any(map(str.isspace, text)) and is_made_up(text) and _FILE_OR_MOMENT.fullmatch(text) is None
