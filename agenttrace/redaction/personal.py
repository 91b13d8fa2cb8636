"""Shapes of what is personal: cards, accounts, addresses, telephones. They are looked for where asked for."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import NamedTuple

from agenttrace.core.marks import REDACTED


class Personal(NamedTuple):
    """One row: what it is, where its form is documented, how it is found and what decides."""

    what: str
    source: str
    sign: str
    """What each match holds: ``digits`` for four digits in a row or parted, else a text."""
    pattern: re.Pattern[str]
    is_one: Callable[[str], bool]


def has_luhn_digit(number: str) -> bool:
    """Returns True if the last of a card's 13 to 19 digits is the check digit of the others (ISO/IEC 7812)."""
    digits = [int(digit) for digit in number if digit.isdecimal()]
    if not 13 <= len(digits) <= 19 or len(set(digits)) == 1:
        return False
    doubled = [digit * 2 - 9 * (digit > 4) for digit in digits[-2::-2]]
    return (sum(digits[-1::-2]) + sum(doubled)) % 10 == 0


LARGEST_IF_CARDS = 10**12
"""Integers below it are no card's number."""
_CARD = re.compile(r"4\d{12}(?:\d{3}){0,2}|5[1-5]\d{14}|2[2-7]\d{14}|3[47]\d{13}|3[0689]\d{12}|6\d{15,18}")


def is_card(number: int) -> bool:
    """Returns True for a number that begins and ends as a card's does, by its issuers' ranges: a moment in
    nanoseconds has as many digits, and one in ten a card's check digit."""
    text = str(number) if 10**12 < number < 10**19 else ""
    return _CARD.fullmatch(text) is not None and has_luhn_digit(text)


def has_iban_digits(account: str) -> bool:
    """Returns True if an account's third and fourth letter are its check digits (ISO 13616)."""
    bare = re.sub(r"[ -]", "", account).upper()
    if not 15 <= len(bare) <= 34 or not bare.isalnum() or not bare.isascii():
        return False
    return int("".join(str(int(letter, 36)) for letter in bare[4:] + bare[:4])) % 97 == 1


def is_telephone(number: str) -> bool:
    """Returns True if a number has 8 to 15 digits and is written as one is dialled (E.164): no date, no decimal."""
    digits = sum(map(str.isdecimal, number))
    return 8 <= digits <= 15


PERSONAL: tuple[Personal, ...] = (
    Personal(
        "card",
        "ISO/IEC 7812, PCI DSS",
        "digits",
        re.compile(r"(?<![\w.-])\d(?:[ -]?\d){12,18}(?![\w-])"),
        has_luhn_digit,
    ),
    Personal(
        "iban",
        "ISO 13616",
        "digits",
        re.compile(r"(?<![A-Za-z0-9])[A-Za-z]{2}\d{2}(?:[ -]?[A-Za-z0-9]){11,30}(?![A-Za-z0-9])"),
        has_iban_digits,
    ),
    Personal(
        "email",
        "RFC 5321",
        "@",
        re.compile(
            r"(?<![\w.+%-])[\w.+%-]{1,64}@(?:[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?\.){1,8}[A-Za-z]{2,24}(?![\w-])"
        ),
        bool,
    ),
    Personal(
        "phone",
        "E.164, NANP",
        "digits",
        re.compile(
            r"(?<![\w.+-])(?:\+\d{1,3}[ .-]?(?:\(\d{1,4}\)[ .-]?)?\d(?:[ .-]?\d){5,13}"
            r"|(?:1[ .-]?)?(?:\(\d{3}\) ?\d{3}[ .-]|\d{3}[.-]\d{3}[.-])\d{4}"
            r"|(?:1 )?[2-9]\d{2} [2-9]\d{2} \d{4})(?![\w-])"
        ),
        is_telephone,
    ),
)
KINDS = tuple(row.what for row in PERSONAL)
"""``card``, ``iban``, ``email``, ``phone``."""


def without_personal(row: Personal, text: str) -> tuple[str, int]:
    """The text without what is of this kind, and how many were found. An account may be longer than it is."""
    count = 0

    def replace(match: re.Match[str]) -> str:
        nonlocal count
        value = match[0]
        while not row.is_one(value):
            shorter = value.rpartition(" ")[0]  # the words after an account's number
            if row.what != "iban" or len(shorter) < 15:
                return match[0]
            value = shorter
        count += 1
        return f"{REDACTED}{match[0][len(value) :]}"

    cleaned = row.pattern.sub(replace, text)
    return (cleaned, count) if count else (text, 0)
