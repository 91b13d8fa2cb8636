"""Secrets before their name, or apart from it, in a sentence: *… is my password*, *your password? …*."""

from __future__ import annotations

import re

from agenttrace.redaction.beside import reads_as_key
from agenttrace.redaction.names_in_code import is_class
from agenttrace.redaction.naming import Names, may_be_word, name_of_words
from agenttrace.redaction.questions import asked_name
from agenttrace.redaction.shape_search import looks_random
from agenttrace.redaction.values import is_made_up, is_measure, is_opaque, is_placeholder

_WINDOW, _REACH = 160, 64
_MOST_WORDS = 3
_ATTRIBUTES = (
    r"(?:(?:the|your|my|his|her|their|our|its|a|an|new|old|current|temporary|default|initial|admin|db|database"
    r"|root|api|secret|access|auth|bearer|client|login|wifi|wi-fi)\s){0,4}"
)
_BEFORE = re.compile(
    r"""(?i)(?P<verb>\b(?:used?|uses|using|cho(?:o?se|sen)|pick(?:ed)?|set|have|had|put|try|tried|enter(?:ed)?|is|was|to"""
    r"""|it's)\s{1,3})?["'`“]?(?<![^\s"'`“(])(?P<value>[^\s"'`“”()]{6,120})["'`”]?\s"""
    rf"""(?:(?P<as>as)\s|(?P<is>is|was)\s(?=(?:the|your|my|his|her|our|their)\s)|(?P<bracket>\()){_ATTRIBUTES}\w{{0,20}}\Z"""
)
"""*I use … as the password*, *… is my password*, *reset to … (temporary password)*."""
_APART = re.compile(
    r"""["'`]?,\s["'`“]?(?P<value>[^\s"'`“”,()]{6,120})["'`”]?,\s(?:is|was|has|had|does|did|isn't|wasn't|doesn't)\b"""
)
"""*The password, …, is wrong*."""
_ANSWERED = re.compile(
    r"""["'`*]{0,3}\s?\?["'`*]{0,3}[ \t]{1,4}(?:(?i:sure|ok|okay|yes|well|it's|it is)[,:]?\s){0,2}["'`“]?"""
    r"""(?P<value>[^\s"'`“”?]{6,200})["'`”]?[ \t]*(?=\r?\n|\Z)"""
)
"""*What's your password? …* on one line."""
_REST_OF_NAME = re.compile(r"\w{0,20}")
_ENDS = re.compile(
    r"""["'`*”]{0,3}(?:\s*(?:[.,;:!?)\n]|\Z)|\s+(?:[-–—]|for|to|on|of|in|at|and|but|everywhere|now|with|when|because|since"""
    r"""|so|there|here|again|then|please)\b)"""
)
"""Behind a secret's name where it is the last word of what is said: no *password field*."""
_PLACE = re.compile(
    r"(?i)(?:arg(?:ument|v)?|param(?:eter)?|field|col(?:umn)?|line|key|string|str|input|value|val|option|opt|item|row|word"
    r"|part|token|user|step|slot|group|cell|index|note|page|text|box|form|var|variable|figure|table|version|step"
    r"|example|test|column|block|phase|level|tier|node|host|server|client|app|type|class|object|data)s?[-_#]?\d{1,4}"
)
"""A thing with a number, as descriptions have them: *Argument2 is the password*."""


def value_in_sentence(text: str, place: int, names: Names) -> tuple[int, int] | None:
    """Where the secret stands in a sentence that has its name, of which a sign stands at a place."""
    near = max(0, place - _REACH)
    if (
        text.rfind(" as ", near, place) >= 0
        or text.rfind(" (", near, place) >= 0
        or text.rfind(" is ", near, place) >= 0
        or text.rfind(" was ", near, place) >= 0
    ):
        match = _BEFORE.search(text, max(0, place - _WINDOW), place)
        if match is not None and _is_before(text, place, match, names):
            return match.span("value")
    rest = _REST_OF_NAME.match(text, place)
    end = place if rest is None else rest.end()
    apart = _APART.match(text, end)
    if apart is not None and _is_secret(apart["value"], _name_at(text, end, names), names):
        return apart.span("value")
    answer = _ANSWERED.match(text, end)
    if answer is not None:
        line = text.rfind("\n", max(0, place - _WINDOW), place) + 1
        name = asked_name(text[max(line, place - _WINDOW) : answer.start("value")].rstrip(), names)
        value = answer["value"].rstrip(".!,;")
        if _is_secret(value, name, names):
            return answer.start("value"), answer.start("value") + len(value)
    return None


def _is_before(text: str, place: int, match: re.Match[str], names: Names) -> bool:
    value, rest = match["value"], _REST_OF_NAME.match(text, place)
    end = place if rest is None else rest.end()
    name = _name_at(text, end, names)
    if not name or not names.hides(name, value) or _ENDS.match(text, end) is None:
        return False
    if not match["is"] and is_made_up(value) and looks_random(value) and not is_class(value):
        return is_opaque(value) and not is_placeholder(value)
    return (match["is"] is not None or match["verb"] is not None) and _is_secret(value, name, names)


def _name_at(text: str, end: int, names: Names) -> str:
    """The secret's name that ends at a place; an empty one for none."""
    words = re.findall(r"[\w-]+", text[max(0, end - _REACH) : end])[-_MOST_WORDS:]
    return name_of_words(words, names) if words else ""


def _is_secret(value: str, name: str, names: Names) -> bool:
    """Returns True for one made-up word of a password, or for a key."""
    if not name or not names.hides(name, value) or is_measure(value) or _PLACE.fullmatch(value):
        return False
    is_word = is_made_up(value) and not value.isdigit() and is_opaque(value)
    return is_word if may_be_word(name, names) else reads_as_key(value)
