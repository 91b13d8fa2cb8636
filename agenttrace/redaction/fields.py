"""Fields of forms that an agent fills: ``{"selector": "#password", "text": "…"}``."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from typing import Any

from agenttrace.redaction.naming import Names, hides_all, may_be_word
from agenttrace.redaction.values import is_opaque, says_something

FIELDS = (
    *("selector", "element", "locator", "xpath", "placeholder"),
    *("css_selector", "cssSelector", "field_name", "fieldName", "field_label", "label", "field"),
    *("aria_label", "ariaLabel", "input_name", "target", "question", "into"),
)
"""What says of which field something is: a selector of CSS or XPath, or words, *Password textbox*."""
TYPED = (
    "text",
    "value",
    "content",
    "keys",
    "input",
    "input_text",
    "inputText",
    "string",
    "answer",
    "reply",
    "response",
    "send",
)
"""What is typed there."""
ASKED = ("prompt", "expect")
REPLIES = ("reply", "response", "send", "answer")
"""What is asked for, and the reply. Most prompts ask for no secret: the key of the reply is looked for."""
LABELLED = ("message", "note")
"""The text that a label says the subject of: of an entry of `tracer.log`, of an annotation."""
_WORD = re.compile(r"[^\W\d_][\w-]*")
_KINDS = frozenset(
    {"field", "input", "textbox", "textarea", "box", "text", "element", "area", "entry", "first", "last"}
)
"""Words after the name of a field that say what kind of thing it is."""
_LONGEST = 300
_MOST_WORDS = 3


def name_of_field(field: str, names: Names) -> str | None:
    """The secret's name that a selector, or a field's name in words, ends with; None for any other."""
    if len(field) > _LONGEST:
        return None
    words = _WORD.findall(field)
    while words and words[-1].lower() in _KINDS:
        del words[-1]
    for count in range(1, min(len(words), _MOST_WORDS) + 1):
        name = "_".join(words[-count:])
        if names.is_secret(name):
            return name
    return None


def is_located(entry: Collection[str]) -> bool:
    """Returns True where a field is found by what is its ``value``, as WebDriver has it:
    ``{"using": "id", "value": "password"}``."""
    return "value" in entry and ("by" in entry or "using" in entry)


def typed_secrets(entry: Mapping[str, Any], names: Names) -> list[str]:
    """The keys of an entry under which stands what is typed into the field of a secret."""
    typed: tuple[str, ...] = TYPED
    name = _asked_for(entry, FIELDS, names)
    is_question = name is not None and "question" in entry  # of which a word may be the answer
    if name is None and is_located(entry) and type(entry["value"]) is str:
        name, typed = name_of_field(entry["value"], names), tuple(key for key in TYPED if key != "value")
    if name is None:
        name, typed, is_question = _asked_for(entry, ASKED, names), REPLIES, True
    if name is None:
        return []
    return [
        key
        for key in typed
        if type(entry.get(key)) is str
        and _is_typed(name, entry[key], names)
        and (not is_question or is_opaque(entry[key]))
    ]


def labelled_secrets(entry: Mapping[str, Any], names: Names) -> list[str]:
    """The keys of texts that a label says are a secret: ``{"label": "password", "message": "…"}``."""
    label = entry.get("label")
    return [key for key in LABELLED if key in entry and is_labelled_secret(label, entry[key], names)]


def is_labelled_secret(label: Any, text: Any, names: Names) -> bool:
    """Returns True if a label names a secret, and what it stands on is one: what ``label: text`` alone on a
    line hides. What is said of a secret, in words, stays."""
    name = name_of_field(label, names) if type(label) is str else None
    if name is None or text is None or not names.hides(name, text):
        return False
    return type(text) is not str or _is_typed(name, text, names) or (name == label and hides_all(name, names))


def _asked_for(entry: Mapping[str, Any], keys: tuple[str, ...], names: Names) -> str | None:
    fields = [entry[key] for key in keys if type(entry.get(key)) is str]
    return next((name for field in fields if (name := name_of_field(field, names)) is not None), None)


def _is_typed(name: str, text: str, names: Names) -> bool:
    if not names.hides(name, text) or says_something(text):
        return False
    return is_opaque(text) or (may_be_word(name, names) and not any(map(str.isspace, text.strip())))
