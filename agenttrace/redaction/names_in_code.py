"""Names as code has them, with dots and of types, which look like keys: which of them are random."""

from __future__ import annotations

import re

_DOTTED = re.compile(r"!?[A-Za-z_$]\w*(?:(?:\??\.#?|::)[A-Za-z_$]\w*)+")
SEPARATORS = re.compile(r"\??\.#?|::|[/#!$]")
_WORDS = re.compile(r"[A-Z]?[a-z]{2,}")
_WORDS_OF_CLASS = re.compile(r"(?=[AEIOUY]|[A-Z]?[a-z]{0,40}[aeiouy])[A-Z]?[a-z]{2,}")
"""Random letters have fewer vowels, and more numbers: of 1,900 names with a digit 94 of 100 are told."""
_NUMBERS = re.compile(r"\d+")
_SHORT_NAME = re.compile(r"[A-Za-z]{1,4}\d{1,5}")
LONGEST_NAME, _SHORTEST_PART = 200, 20


def is_name_in_code(text: str) -> bool:
    """Returns True for a name with dots, ``asn1.decode_dss_signature``, of which no part is random."""
    return (
        len(text) <= LONGEST_NAME
        and _DOTTED.fullmatch(text) is not None
        and all(map(is_of_words, SEPARATORS.split(text)))
        and not has_random_part(text)
    )


def has_random_part(text: str) -> bool:
    """Returns True if a long part between dots is of letters and digits that are no words: ``AQ.Ab8RN6…``."""
    return "." in text and any(
        len(part) >= _SHORTEST_PART and part.isalnum() and not part.islower() and not _names_type(part)
        for part in text.split(".")
        if any(map(str.isdigit, part))
    )


def is_class(text: str) -> bool:
    """Returns True for the name of a type, ``X25519PrivateKey``."""
    if len(text) > LONGEST_NAME:
        return False
    is_mixed = any(map(str.isupper, text)) and not text.isupper()
    return text.isidentifier() and is_mixed and text[-1].isalpha() and _names_type(text)


def is_name_with_digits(text: str) -> bool:
    """Returns True for words with numbers between, ``acme-widget-2024-01``, and with one or two within."""
    mixed = sum(len(part) for part in re.split("[-_]", text) if not part.isalpha() and not part.isdigit())
    return 2 * mixed < len(text) or (len(_NUMBERS.findall(text)) <= 2 and is_of_words(text))


def _names_type(text: str) -> bool:
    return len(_NUMBERS.findall(text)) <= 2 and is_of_words(text, _WORDS_OF_CLASS, 0.65)


def is_of_words(text: str, words: re.Pattern[str] = _WORDS, least: float = 0.6) -> bool:
    """Returns True if most letters of a name are those of words, and digits few."""
    if _SHORT_NAME.fullmatch(text):
        return True
    letters = sum(map(str.isalpha, text))
    in_words = sum(map(len, words.findall(text)))
    return in_words >= least * letters and len(text) - letters - text.count("_") <= letters
