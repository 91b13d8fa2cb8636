"""Questions and requests for a secret, as people and models put them: *Could you share your password*."""

from __future__ import annotations

import re

from agenttrace.redaction.names import NAMES
from agenttrace.redaction.naming import Names

_LONGEST, _MOST_SENTENCES, _MOST_WORDS = 400, 4, 40
_SENTENCES = re.compile(r"(?<=[.?!])\s+|\n+")
_WORDS = re.compile(r"[^\W\d_][\w-]*")
IMPERATIVES = (
    r"\A\W*(?:(?:now|then|first),?\s)?"
    r"(?:choose|pick|set|create|select|make up|think of|repeat|re-?enter|retype)\b"
)
"""How a request for a new secret begins: within a sentence these words tell what somebody did."""
_ASKS = re.compile(
    r"(?i)[?:][\s*_`\"')]*\Z|\b(?:please|enter|share|paste|provide|send|give|tell|type|need|requires?|what|which|could"
    r"|can|may|confirm|input|reply|waiting|bitte|gib|geben|nenne|veuillez|entrez|saisissez|donnez|introduce"
    r"|introduzca|ingresa|ingrese|escribe|dime|favor|inserisci|digite|informe)\b"
    rf"|{IMPERATIVES}"
)
_REFUSES = re.compile(
    r"(?i)\b(?:never|don't|do not|not (?:share|send|give|tell)|without|niemals|nicht|nunca|jamais|mai|não)\b"
    r"|\bno (?:compart|env|dig|escrib)\w|\bne \w+ez pas\b"
)
_OF_IT = re.compile(r"(?i)\b(?:it|them|that|this|one)\b")
_ABOUT = frozenset(
    re.findall(
        r"\w+",
        "count counts limit limits usage length budget policy policies hash manager reset field fields"
        " strength requirements rules format type expiry rotation settings page generator hint box id name"
        " number",
    )
)
"""Words after a secret's name with which it is none: *the password policy*."""
_OTHER_WORDS = tuple(
    word
    for rule in NAMES
    if rule.what == "passwords in other languages"
    for word in rule.words
    if len(word) > 4
)
_SIGNS = (
    *("pass", "secret", "token", "key", "credential", "pin", "otp", "code", "pwd", "cvv", "ssn", "phrase"),
    *("kennwort", *_OTHER_WORDS),
)
_PURPOSES = frozenset({"reset", "recover", "change", "restore", "unlock", "update"})
"""*To reset your password I need your order number* asks for another thing."""
_OF_DIGITS = re.compile(
    r"(?i)\bdigit\s(?:\w+\s)?code\b|\bcode\b(?=.{0,40}\b(?:sent|texted|e-?mailed|receive[sd]?|authenticator)\b)"
)
"""*The 6-digit code*, *the code we texted you*."""
_LABEL_WORDS = 3


def asked_name(question: str, names: Names) -> str:
    """The name of the secret that a text asks for at its end, or an empty one.

    The last sentence with such a name tells, if what is asked behind it is asked of the same: *I need the
    password. Could you send it?*
    """
    sentences = _SENTENCES.split(question[-_LONGEST:].strip())
    for sentence in reversed(sentences[-_MOST_SENTENCES:]):
        name = _named_in(sentence, names)
        if name:
            is_label = len(_WORDS.findall(sentence)) <= _LABEL_WORDS
            asks = is_label or _ASKS.search(sentence) is not None
            return name if asks and _REFUSES.search(sentence) is None else ""
        if "?" in sentence and _OF_IT.search(sentence) is None:
            return ""
    return ""


def _named_in(sentence: str, names: Names) -> str:
    words = _WORDS.findall(sentence)[-_MOST_WORDS:]
    if _OF_DIGITS.search(sentence) is not None and names.is_secret("verification_code"):
        return "verification_code"
    for end in range(len(words), 0, -1):
        last = words[end - 1].lower()
        is_told = any(sign in last for sign in _SIGNS)
        if is_told and (end == len(words) or words[end].lower() not in _ABOUT):
            for count in range(1, min(end, _LABEL_WORDS) + 1):
                name = "_".join(words[end - count : end])
                if names.is_secret(name):
                    before = {word.lower() for word in words[max(0, end - count - 3) : end - count]}
                    return "" if end < len(words) and not _PURPOSES.isdisjoint(before) else name
    return ""
