"""What stands for the reader's token where others may see it: a code in an address, a word in a cookie.

Every user of a machine can read the command line of a browser, and a browser sends a cookie to every port
of the machine. So both are signed with the token, for one viewer's cookie alone; the token does not follow
from them.
"""

from __future__ import annotations

import hmac
import secrets
import time

SECONDS = 300
"""How long a code is good for. It is good for once."""


def entry_code(token: str, cookie: str) -> str:
    """A new code with which a browser enters."""
    return _signed(token, f"entry of {cookie}", f"{int(time.time()) + SECONDS}.{secrets.token_urlsafe(12)}")


def end_of_entry(token: str, cookie: str, code: str) -> float | None:
    """Until when a code is good, in seconds since 1970; None for one that is no code, or is none any more."""
    until = code.partition(".")[0]
    if not _is_signed(token, f"entry of {cookie}", code) or not until.isdecimal():
        return None
    return float(until) if time.time() <= float(until) else None


def cookie_word(token: str, cookie: str) -> str:
    """A new word for a cookie, which is good for as long as the token."""
    return _signed(token, f"reader of {cookie}", secrets.token_urlsafe(12))


def is_cookie_word(token: str, cookie: str, word: str) -> bool:
    """Whether a word was made for this cookie with this token."""
    return _is_signed(token, f"reader of {cookie}", word)


def _signed(token: str, purpose: str, word: str) -> str:
    return f"{word}.{_signature(token, purpose, word)}"


def _is_signed(token: str, purpose: str, text: str) -> bool:
    word, _, signature = text.rpartition(".")
    expected = _signature(token, purpose, word)
    return hmac.compare_digest(signature.encode(errors="replace"), expected.encode())


def _signature(token: str, purpose: str, word: str) -> str:
    message = f"{purpose}: {word}".encode(errors="replace")
    return hmac.new(token.encode(), message, "sha256").hexdigest()
