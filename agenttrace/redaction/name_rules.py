"""`rule_of`: the row of the table of names that has a name, by its last words or those before its owner's."""

from __future__ import annotations

import re

from agenttrace.redaction.names import NAMES, TAILS, NameRule, Place, Weight, as_seen, plain, words_of
from agenttrace.redaction.qualified_names import without_last, without_qualifiers

_LOOKUP = re.compile(
    r"(?:__(?:not_?)?(?:eq|ne|neq|is|in|i?exact|i?contains|i?startswith|i?endswith|i?like|i?regex)"
    r"|\.(?:n?eq|ne|i?like)|\[(?:n?eq|ne|i?like)\])\Z"
)
"""How a filter compares a field: ``password__eq``, ``password[ne]``."""
_VERSION = re.compile(r"(?<![\W\d_])[\W\d_]+\Z")
"""It begins where digits begin alone: a key of a thousand digits would be gone through from each of them."""


def rule_of(name: str) -> NameRule | None:
    """The row that has this name; None: it is that of no secret."""
    name = _LOOKUP.sub("", name) if name[-1:].isalpha() or name[-1:] == "]" else name
    return _rule_by_end(name) or _qualified_rule(name)


def _qualified_rule(name: str) -> NameRule | None:
    """The row of a name behind which stands whose it is, ``password_postgres``: it hides what is no word."""
    words = words_of(as_seen(name).replace("'", ""))
    while len(words) > 1 and words[-1] in TAILS:
        words.pop()
    several: tuple[tuple[Weight, list[str]], ...]
    several = ("if long", without_qualifiers(words)), ("if random", without_last(words))
    for weight, named in several:
        rule = None if len(named) == len(words) else _rule_of("".join(named), named)
        if rule is not None and (rule.what in _QUALIFIED or named[-1] == "apikey"):
            is_password = rule.what == _PASSWORDS and weight == "if long"
            return rule._replace(weight="if opaque" if is_password else weight)
    return None


_PASSWORDS = "passwords"
_QUALIFIED = frozenset({_PASSWORDS, "keys, tokens and secrets in one word", "tokens", "keys of a kind"})


def _rule_by_end(name: str) -> NameRule | None:
    name = as_seen(name)
    words = words_of(name.replace("'", ""))
    while True:
        bare = plain(_VERSION.sub("", name)).strip("$@") if words else ""
        rule = _rule_of(bare, words)
        if rule is not None or len(words) < 2 or words[-1] not in TAILS:
            field = name.rpartition(".")[2] if rule is None else name
            return _rule_of(plain(field), words_of(field)) if field not in ("", name) else rule
        end = name.lower().rfind(words.pop())
        name = name[:end]


def _rule_of(bare: str, words: list[str]) -> NameRule | None:
    if not words:
        return None
    last, before = words[-1], "".join(words[-2:-1])
    rule = (_WHOLE.get(bare) if len(words) == 1 else None) or _LAST.get(last)
    if rule is not None and before not in rule.unless:
        if rule.words == ("token",) and _is_harmless_token(bare, rule):
            return None
        return rule
    joined = "".join(words[-3:-1])  # ``openAIKey``: some write one word as two
    for rule in _AFTER.get(last, ()):
        if (before in rule.before or joined in rule.before) and not set(words) & set(rule.unless):
            return rule
    for rule in _ENDING:
        if bare.endswith(rule.words):
            return rule
    glued = _glued(last) if rule is None or last != "token" else None
    if glued is not None:
        return glued
    for word in (*words, bare):
        if word in _ANY:
            return _ANY[word]
    return None


def _is_harmless_token(bare: str, rule: NameRule) -> bool:
    return bare != "token" and bare.removesuffix("token") in rule.unless


def _glued(last: str) -> NameRule | None:
    """``csrftoken``, ``groqkey``: the words of a row written as one."""
    if last.endswith("token") and len(last) > 5:
        return None if last.removesuffix("token") in _TOKEN.unless else _TOKEN
    for end in ("key", "keys", "code"):
        if last.endswith(end) and len(last) > len(end) + 1:
            for rule in _AFTER[end]:
                if last.removesuffix(end) in rule.before:
                    return rule
    return None


def _by_word(place: Place) -> dict[str, NameRule]:
    return {word: rule for rule in NAMES if rule.place == place for word in rule.words}


_WHOLE, _LAST, _ANY = _by_word("whole"), _by_word("last word"), _by_word("any word")
_ENDING = [rule for rule in NAMES if rule.place == "ending"]
_AFTER: dict[str, list[NameRule]] = {}
for _rule in NAMES:
    for _word in _rule.words if _rule.place == "after" else ():
        _AFTER.setdefault(_word, []).append(_rule)
_TOKEN = _LAST["token"]
