"""Numbers that are written in groups of digits, which are no sentence: of cards, and PINs."""

from __future__ import annotations

import re

from agenttrace.redaction.names import NameRule
from agenttrace.redaction.personal import has_luhn_digit

_OF_CARD = re.compile(r"\d{2,7}(?:[ \u00a0]\d{2,7}){1,5}")
_PIN = re.compile(r"(?=(?:\d[ \u00a0]?){4,8}\Z)\d{1,4}(?:[ \u00a0]\d{1,4}){1,7}")


def is_card_in_groups(text: str) -> bool:
    """Returns True for a card's number with its check digit, ``4111 1111 1111 1111``."""
    return _OF_CARD.fullmatch(text) is not None and has_luhn_digit(text)


def is_grouped(rule: NameRule, text: str) -> bool:
    """Returns True for a card's number, or a PIN, under a name that may hold one."""
    if "card" in rule.words:
        return is_card_in_groups(text)
    return rule.what == "PINs" and _PIN.fullmatch(text) is not None
