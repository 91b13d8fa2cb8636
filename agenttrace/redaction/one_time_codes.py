"""One-time codes as mails and short messages have them: ``Your code is: 482913``, ``Enter 482913 to …``."""

from __future__ import annotations

import re

from agenttrace.core.marks import REDACTED
from agenttrace.redaction.naming import Names
from agenttrace.redaction.texts import has_any

_CODE = r"(?<![\w.,#/-])(?:[A-Z]{1,3}-)?(?P<code>\d{3}[ -]\d{3}|\d{4,8})(?![\w%-]|[.,/:]\d)"
_NAME = (
    r"(?:otp|totp|passcode|pass\scode|one[- ]time\spassword"
    r"|(?:log-?in|sign-?in|access|security|verification|authentication|one[- ]time|single-use|sms)\scode"
    r"|[2m]fa\scode)"
)
_OTHERS = (
    r"(?!(?:zip|post\w*|promo\w*|discount|coupon|booking|order|reference|confirmation|tracking|country|area|error"
    r"|status|voucher|gift|referral|product|item|source|customer|member)\s)"
)
"""What codes that everybody may know are for."""
_NO_OFFER = (
    r"(?!\s(?:for|at|and|to\s(?:get|save|receive))\s"
    r"(?:\d|[$€£]|checkout|free\b|save\b|get\b|your\s(?:next|first)))"
)
"""Codes of offers: *Use code … for 10% off*."""
_BETWEEN = r"(?:\s|</?[a-z][^<>]{0,60}>){1,10}"
"""Blanks, lines and tags."""
_QUOTES = r"[\"'*`]{0,3}"
_TO_VERIFY = r"\sto\s(?:verify|log\sin|sign\sin|confirm|continue|complete|authenticate|reset)"
_OF_CARD = (
    r"\b(?:cvv2?|cvc2?|cv2)(?:\s(?:code|number|no\.?))?(?:\sis)?:?\s{1,3}(?P<code>\d{3,4})(?![\w%-]|[.,/:]\d)"
)
"""The code of a card is as short as three digits."""
_EXPRESSIONS = tuple(
    re.compile(rf"(?i){expression}")
    for expression in (
        rf"{_CODE}{_QUOTES}\s(?:is|as|-|–|—)\s(?:your|the|my)\s(?:[\w.-]{{1,20}}\s){{0,3}}"
        rf"(?:{_NAME}|confirmation\scode|{_OTHERS}(?-i:[A-Z])[\w.-]{{1,20}}\scode)\b",
        rf"\byour\s(?:{_OTHERS}(?-i:[A-Z])[\w.-]{{1,20}}\s){{0,2}}(?:{_NAME}|code)(?:\sis:?|:)"
        rf"(?:\s|<[^<>]{{1,60}}>){{1,8}}{_QUOTES}{_CODE}",
        rf"\b(?:enter|use|type)\s{_QUOTES}{_CODE}{_QUOTES}{_TO_VERIFY}",
        rf"\b(?:enter|use|type)\s(?:the\s|this\s)?(?:{_NAME}|code)\s{_QUOTES}{_CODE}{_NO_OFFER}",
        rf"\b(?:(?:following|this)\s(?:\w{{1,20}}\s){{0,2}}code|the\scode\sbelow)(?:{_TO_VERIFY}[^\n:.<]{{0,60}})?:?"
        rf"{_BETWEEN}{_QUOTES}{_CODE}",
        rf"\b{_NAME}{_QUOTES}:?{_QUOTES}{_BETWEEN}{_QUOTES}{_CODE}",
        _OF_CARD,
    )
)
_BESIDE_CODE = ("your", "following code", "this code", " code\n", " code:\n", " my ", "use ", "enter ")


def may_have_codes(lowered: str) -> bool:
    """Returns False for most texts that have no such code, which are given in lower case."""
    if "code" in lowered and has_any(_BESIDE_CODE, lowered):
        return True
    return (
        " otp" in lowered
        or lowered.startswith("otp")
        or has_any(_TO_ENTER, lowered)
        or has_any(_OF_CARDS, lowered)
    )


_OF_CARDS = ("cvv", "cvc", "cv2 ")
_TO_ENTER = (
    "passcode",
    "one time pass",
    "one-time pass",
    " to verify",
    " to log in",
    " to sign in",
    " to confirm",
)


def without_codes(text: str, names: Names) -> tuple[str, int]:
    """The text without such codes, and how many were found."""
    count = 0
    for expression in _EXPRESSIONS if names.is_secret("verification_code") else ():
        text, taken_out = expression.subn(_without, text)
        count += taken_out
    return text, count


def _without(match: re.Match[str]) -> str:
    begin, end = match.start("code") - match.start(), match.end("code") - match.start()
    return f"{match[0][:begin]}{REDACTED}{match[0][end:]}"
