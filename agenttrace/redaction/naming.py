"""`Names`: what says which names are secret, and which of their values are to be taken out."""

from __future__ import annotations

import re
from typing import Protocol

from agenttrace.redaction.name_rules import rule_of


class Names(Protocol):
    """What says which names are secret."""

    def is_secret(self, name: str) -> bool:
        """Returns True if values of this name are taken out."""
        ...

    def hides(self, name: str, value: object) -> bool:
        """Returns True if this value of a secret name is to be taken out."""
        ...


_PASSWORD = re.compile(
    r"(?i)pass[_\- ]?(?:w|phrase|code)|[_-]pass\Z|pwd|kennwort|contrase|mot_?de_?passe|senha|parol|парол"
    r"|wachtwoord|has[łl]o|l[öo]senord|passord|adgangs?kod|salasana|heslo|jelsz[óo]|[şs]ifre|lozinka|geslo|密[码碼]|パスワード|비밀번호|पासवर्ड|كلمة_?ال"
)


def may_be_word(name: str, names: Names) -> bool:
    """Returns True if a value of this secret name may be a word: a password's, or a user's own name."""
    return _PASSWORD.search(name) is not None or hides_all(name, names)


def hides_all(name: str, names: Names) -> bool:
    """Returns True for a user's own name, and for each at the level *strict*: any value is taken out."""
    return names.hides(name, False)  # no name of ours hides a flag


def name_of_words(words: list[str], names: Names) -> str:
    """The name that some words end with; an empty one where it is that of no secret."""
    name = ""
    for word in reversed(words):
        name = f"{word}_{name}" if name else word
        if rule_of(name) is not None and not names.is_secret(name):  # it is left alone on request
            return ""
    if names.is_secret(name):
        return name
    rule = rule_of(words[-1]) if words else None
    return words[-1] if rule is not None and rule.place in ("whole", "any word") else ""
