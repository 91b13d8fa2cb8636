"""A user and a password side by side: *Log in with ann / …*, *creds are ann:…*, ``ann@example.org:…``."""

from __future__ import annotations

import re

from agenttrace.core.marks import REDACTED
from agenttrace.redaction.naming import Names
from agenttrace.redaction.shape_search import looks_random
from agenttrace.redaction.texts import has_any
from agenttrace.redaction.values import is_made_up

_VALUE = r"(?P<value>[^\s\"'`<>]{6,80}(?<![.,;)?]))"
_SENTENCE = re.compile(
    r"(?i)\b(?:cred(?:ential)?s?|log-?\s?in|sign-?\s?in|log-?\s?on|account)\b(?:\s[\w'’-]{1,20}){0,4}?"
    r"(?::|\s(?:is|are|with|as|using|via|of)|(?<=creds)|(?<=credentials))\s{1,3}[\"'`*]{0,2}[\w.@+-]{1,60}[\"'`*]{0,2}"
    rf"(?P<between>\s/\s|:|/)[\"'`*]{{0,2}}(?!/){_VALUE}"
)
_MAIL = re.compile(
    rf"(?<![\w.+:/@-])(?P<user>[\w.+-]{{1,64}}@[\w-]{{1,63}}(?:\.[\w-]{{2,63}}){{1,4}}):(?!/){_VALUE}"
)
_COPIES = re.compile(r"\b(?:scp|rsync|ssh|sftp|sshfs|git|clone|remote|origin|mount)\b[^\n]{0,200}\Z")
"""What is said of a path on another machine before its address: ``scp report1 ann@example.org:Backup2``."""
_WINDOW = 200
_SIGNS = ("log", "sign", "account")


def may_have_logins(lowered: str) -> bool:
    """Returns False for most texts that have none, which are given in lower case. What says *creds* is looked
    into for its sake."""
    if "@" in lowered and _AFTER_DOMAIN.search(lowered) is not None:
        return True
    return (
        (" / " in lowered or ":" in lowered)
        and has_any(_SIGNS, lowered)
        and _MAY_SAY.search(lowered) is not None
    )


_AFTER_DOMAIN = re.compile(r"\.[a-z]{2,20}:[^\s/]{6}")
_MAY_SAY = re.compile(r"\b(?:log|sign)[- ]?[io]n\b|\baccount\b")


def without_logins(text: str, names: Names) -> tuple[str, int]:
    """The text without the passwords of such pairs, and how many were found."""
    if not names.is_secret("password"):
        return text, 0
    count = 0

    def in_sentence(match: re.Match[str]) -> str:
        nonlocal count
        value = match["value"]
        if not is_made_up(value) or value.isdigit() or (match["between"] == "/" and not looks_random(value)):
            return match[0]
        count += 1
        return f"{match[0][: match.start('value') - match.start()]}{REDACTED}"

    def behind_address(match: re.Match[str]) -> str:
        nonlocal count
        value, before = match["value"], text[max(0, match.start() - _WINDOW) : match.start()]
        is_password = any(map(str.isdigit, value)) and not value.isdigit() and is_made_up(value)
        if not is_password or "/" in value or _COPIES.search(before) is not None or not _is_odd(value):
            return match[0]
        count += 1
        return f"{match['user']}:{REDACTED}"

    text = _SENTENCE.sub(in_sentence, text)
    if "@" in text:
        text = _MAIL.sub(behind_address, text)
    return text, count


def _is_odd(value: str) -> bool:
    """Returns True for both cases, or letters as no word has them, beside the digits: a port has none."""
    has_both = any(map(str.islower, value)) and any(map(str.isupper, value))
    return has_both or (looks_random(value) and not value.replace("-", "").replace("_", "").isdigit())
