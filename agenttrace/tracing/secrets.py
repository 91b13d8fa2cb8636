"""The rules for what is a secret: its name, its shape, or the name of its field in a text."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import NamedTuple

from agenttrace.core.marks import REDACTED

SECRET_NAMES = frozenset(
    {
        "accesskey",
        "accesstoken",
        "apikey",
        "apisecret",
        "apitoken",
        "auth",
        "authorization",
        "authtoken",
        "awssecretaccesskey",
        "bearer",
        "bearertoken",
        "clientsecret",
        "connectionstring",
        "cookie",
        "credential",
        "credentials",
        "idtoken",
        "passphrase",
        "passwd",
        "password",
        "privatekey",
        "proxyauthorization",
        "pwd",
        "refreshtoken",
        "secret",
        "secretaccesskey",
        "secretkey",
        "sessiontoken",
        "setcookie",
        "signingkey",
        "token",
        "xapikey",
    }
)
"""Names of parameters and keys whose value is never recorded; compared in lower case without ``_ - .``"""

_ENDINGS = (
    *("accesskey", "accesstoken", "apikey", "apitoken", "authorization", "authtoken", "bearertoken"),
    *("connectionstring", "credential", "passphrase", "passwd", "password", "privatekey", "refreshtoken"),
    *("secret", "secretkey", "securitytoken", "sessiontoken", "signingkey"),
)
"""A longer name that ends so, in the singular or the plural, is secret too: ``openai_api_key``."""

_LAST_WORDS = frozenset({"auth", "cookie", "pwd", "token"})
"""The same for a last word, which other words may well end with: ``X-Auth-Token``, but not ``tokens``."""

_HARMLESS_TOKENS = frozenset(
    {
        *(
            "bos",
            "cls",
            "end",
            "eos",
            "eot",
            "image",
            "mask",
            "pad",
            "sep",
            "special",
            "start",
            "stop",
            "unk",
        ),
        *("each", "first", "last", "max", "min", "new", "per", "total"),
        *("continuation", "cursor", "next", "page", "prev", "previous"),
    }
)
"""Words before ``token`` with which it is a token of a text, or of a list's next page: no secret."""

_IGNORED = str.maketrans("", "", "_-. ")
_WORDS = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])|[^\W\d_]+")


class Shape(NamedTuple):
    """A shape of secrets, with what a text cannot have it without: `in` looks through a long text a hundred
    times faster than `re`, which holds up the traced threads meanwhile.

    One of the `signs`, in lower case and ASCII, stands in whatever has the shape. `run`, unless 0, promises
    that it stands within so many characters in a row of ``A-Za-z0-9_-``, all of them part of what has the
    shape. `beside` is a second text that stands in it, too. `secret_scan` lives from these.
    """

    signs: tuple[str, ...]
    pattern: re.Pattern[str]
    replacement: str
    run: int = 0
    beside: str = ""


# No shape can begin again inside what it has just looked through, so that a hostile text costs no more than
# its length.
SHAPES: tuple[Shape, ...] = tuple(
    Shape(signs, re.compile(shape), replacement, *promises)
    for signs, shape, replacement, *promises in (
        (("sk-", "pk-", "rk-"), r"\b(?:sk|pk|rk)-[A-Za-z0-9_-]{16,}", REDACTED, 19),  # OpenAI, Anthropic
        (("k_live_", "k_test_"), r"\b(?:sk|pk|rk)_(?:live|test)_[A-Za-z0-9]{10,}", REDACTED, 18),  # Stripe
        (("akia", "asia"), r"\b(?:AKIA|ASIA)[0-9A-Z]{16}\b", REDACTED, 20),  # AWS access keys
        (("ghp_", "gho_", "ghu_", "ghs_", "ghr_"), r"\bgh[pousr]_[A-Za-z0-9]{30,}", REDACTED, 34),
        (("github_pat_",), r"\bgithub_pat_[A-Za-z0-9_]{40,}", REDACTED, 51),
        (("xox",), r"\bxox[abprs]-[A-Za-z0-9-]{10,}", REDACTED, 15),  # Slack
        (("aiza",), r"(?<![A-Za-z0-9_-])AIza[0-9A-Za-z_-]{35}", REDACTED, 39),  # Google
        (
            ("eyj",),  # JWT
            r"(?<![A-Za-z0-9_-])eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}",
            REDACTED,
        ),
        (("bearer",), r"(?i:\bbearer\s+[A-Za-z0-9._~+/-]{16,}=*)", REDACTED),
        (
            ("private key-----",),
            r"-----BEGIN [A-Z ]*PRIVATE KEY-----[\s\S]*?(?:-----END [A-Z ]*PRIVATE KEY-----|\Z)",
            REDACTED,
        ),
        (
            ("://",),  # the password of a URL
            r"""(://[^\s/:@?#"'<>]*:)(?!\[redacted\]@)[^\s/?#"'<>]+@""",
            rf"\1{REDACTED}@",
            0,
            "@",
        ),
    )
)
_SIGNS = tuple(sign for shape in SHAPES for sign in shape.signs)
SHORTEST_SECRET = 15
"""Shorter strings are not searched: they are too short for a key."""

_FIELD = re.compile(r"""(["'])([^\W\d_][\w. -]{0,63})\\*\1\s*:\s*""")
_TEXT_VALUE = re.compile(r"""(\\*)(["'])(?!\[redacted\])""")
_NUMBER = re.compile(r"-?\d[\w.+-]*")
_TO_QUOTE = {quote: re.compile(rf"(?:[^{quote}\\]|\\[\s\S])*") for quote in "\"'"}
_TO_ESCAPED_QUOTE = {quote: re.compile(rf"[^{quote}\\]*") for quote in "\"'"}
_SHOWN = re.compile(r"""(?<![\w.-])([^\W\d_][\w.\[\]-]{0,127})(?:=|: (?=(?:not )?expected\b))(?!"?\[redac)""")
_FIELD_SIGNS = (
    *("key", "token", "auth", "secret", "passw", "pwd", "passphrase", "cookie", "credential", "bearer"),
    *("connection", "string"),
)


def plain(name: str) -> str:
    """A name in the form in which names are compared."""
    return name.lower().translate(_IGNORED)


def names_a_secret(name: str) -> bool:
    """Returns True if this name is that of a secret."""
    bare = plain(name).rstrip("0123456789")
    if bare in SECRET_NAMES or bare.removesuffix("s").endswith(_ENDINGS) or bare.endswith(_ENDINGS):
        return True
    words = [word.lower() for word in _WORDS.findall(name)]
    return len(words) > 1 and words[-1] in _LAST_WORDS and words[-2] not in _HARMLESS_TOKENS


def without_shapes(text: str, lowered: str) -> tuple[str, int]:
    """The text without what has the shape of a secret, and how many were found."""
    total = 0
    if not may_have_shapes(lowered):
        return text, total
    for shape in SHAPES:
        for sign in shape.signs:
            if sign in lowered:
                text, count = shape.pattern.subn(shape.replacement, text)
                total += count
                break
    return text, total


def may_have_shapes(lowered: str) -> bool:
    """Returns True if a text has what some secret's shape cannot be without."""
    return _has_any(_SIGNS, lowered)


def may_have_fields(lowered: str, signs: tuple[str, ...]) -> bool:
    """Returns True if a text could be JSON, or Python's repr, with one of the signs in a name."""
    if ('"' not in lowered and "'" not in lowered) or ":" not in lowered:
        return False
    return _has_any(_FIELD_SIGNS, lowered) or _has_any(signs, lowered)


def _has_any(signs: tuple[str, ...], lowered: str) -> bool:
    for sign in signs:  # noqa: SIM110 - a generator in `any` takes half as long again
        if sign in lowered:
            return True
    return False


def without_fields(text: str, is_secret: Callable[[str], bool]) -> tuple[str, int]:
    """The text without the values of secret names in JSON or Python's repr, and how many were found.

    Also where the text is cut off inside a value, or is JSON inside JSON.
    """
    pieces: list[str] = []
    position = 0
    for field in _FIELD.finditer(text):
        if field.start() < position or not is_secret(field[2]):
            continue
        begin = field.end()
        opening = _TEXT_VALUE.match(text, begin)
        if opening is not None:
            begin = opening.end()
            to_end = _TO_ESCAPED_QUOTE if opening[1] else _TO_QUOTE
            value = to_end[opening[2]].match(text, begin)
        else:
            value = _NUMBER.match(text, begin)
        if value is None or value.end() == begin:
            continue
        pieces += (text[position:begin], REDACTED if opening is not None else f'"{REDACTED}"')
        position = value.end()
    if not pieces:
        return text, 0
    return "".join((*pieces, text[position:])), len(pieces) // 2


def without_shown_arguments(text: str, is_secret: Callable[[str], bool], signs: tuple[str, ...]) -> str:
    """The text of a score without the arguments of secret names in its calls, ``f(password="…``, and in its
    differences, ``user.password: expected …``.

    Such a line ends there: values may be cut off, so that nothing says where one does.
    """
    lowered = text.lower()
    if not (_has_any(_FIELD_SIGNS, lowered) or _has_any(signs, lowered)):
        return text
    return "\n".join(_shown_line(line, is_secret) for line in text.split("\n"))


def _shown_line(line: str, is_secret: Callable[[str], bool]) -> str:
    for shown in _SHOWN.finditer(line):
        if is_secret_path(shown[1], is_secret):
            return f"{line[: shown.end()]}{REDACTED}"
    return line


def is_secret_path(path: str, is_secret: Callable[[str], bool]) -> bool:
    """Returns True if a part of a path, ``user.password`` or ``keys[0].token``, is the name of a secret."""
    return any(is_secret(part) for part in re.split(r"[.\[\]]+", path) if part)
