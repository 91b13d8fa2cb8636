"""Where the secret stands in a header: ``Authorization: Basic …``, ``Cookie: …``."""

from __future__ import annotations

import re

from agenttrace.redaction.values import is_made_up, is_opaque, is_placeholder

OF_SCHEMES = ("authorization", "auth")
"""How the names of headers end that have a scheme before the secret."""
OF_COOKIES = ("cookie", "cookies", "setcookie")
_SCHEME = re.compile(
    r"(?i)(basic|bearer|token|digest|api-?key|negotiate|ntlm|hawk|aws4-hmac-sha256|ghtoken|sso-key|oauth)\s+(?=[^\s=])"
)
_OTHER_SCHEME = re.compile(
    r"""[A-Za-z][\w-]{1,30}[ ]{1,3}(?P<value>(?=(?:[^\s"'`<>\d]{0,100}\d){2})[^\s"'`<>{}()\[\]]{16,4096}+)"""
    r"""(?!\S{0,200}[(\[{])"""
)
"""A scheme of one service, ``GenieKey``, ``SSWS``, before what is no word of a sentence."""
_JOINED = re.compile(
    r"""(?:["'`]\s{0,9}[+.]\s{0,9}|%s["'`]\s{0,3}%\s{0,3}\(?|\{\d?\}["'`]\.format\(|\$?\{)"""
    r"""[brf]?["'`](?!\[redacted\])(?P<value>(?=[^\s"'`]{0,300}\d)[^\s"'`]{6,4096}+)(?=["'`])"""
)
"""A text that code puts behind a scheme: ``'Basic ' + '…'``, ``'Basic %s' % '…'``."""
_BEGINS = re.compile(r"(?i)(?:basic|bearer|token|api-?key)[ ]?(?:%s|\{\d?\})?")
_ONLY_SCHEME = re.compile(r"(?i)(?:basic|bearer|digest|negotiate|oauth)[ ]?")
_ONE_WORD = ("basic", "bearer", "token", "apikey", "api-key", "negotiate", "ntlm", "ghtoken", "sso-key")
_FIELD = r"""\w+=(?:"[^"\r\n]*"|[^\s,"'<>]+)"""
_FIELDS = re.compile(rf"{_FIELD}(?:\s*,\s*{_FIELD})*")
"""What a scheme with several fields has: ``Token token="…"``, ``Hawk id="…", mac="…"``."""
_REST_OF_LINE = re.compile(r"""[^\r\n"'`<>]{1,4096}""")
_REST_OF_WORD = re.compile(r"""[^\r\n"'`<> ]+""")
"""What a header has after its scheme: a line may have very many of them."""
_COOKIES = re.compile(r"""\s*[\w.%-]+=[^\r\n"'`<>]*""")
_QUOTES = ("'", '"')


def secret_after_scheme(text: str, begin: int) -> tuple[int, int] | None:
    """Where a secret stands after the scheme that begins at a place, which stays; nothing is taken out where
    both are the same. None where there is no scheme."""
    scheme = _SCHEME.match(text, begin)
    if scheme is None:
        return _after_other_scheme(text, begin)
    start = scheme.end()
    fields = _FIELDS.match(text, start)
    if fields is not None:
        return fields.span()
    if text.startswith("${", start):
        return start, start
    rest = _REST_OF_WORD if scheme[1].lower() in _ONE_WORD else _REST_OF_LINE
    value = rest.match(text, start)
    if value is None or is_placeholder(value[0]) or not (is_opaque(value[0]) or " " in value[0]):
        return start, start
    return value.span()


def _after_other_scheme(text: str, begin: int) -> tuple[int, int] | None:
    scheme = _OTHER_SCHEME.match(text, begin)
    is_one = scheme is not None and is_made_up(scheme["value"]) and not is_placeholder(scheme["value"])
    return scheme.span("value") if scheme is not None and is_one else None


def begins_scheme(text: str) -> bool:
    """Returns True for a scheme behind which code may put a secret: ``Basic ``, ``Bearer %s``."""
    return _BEGINS.fullmatch(text) is not None


def secret_joined(text: str, place: int) -> tuple[int, int] | None:
    """Where a secret stands that code puts behind a scheme, which ends at a place; None for none."""
    joined = _JOINED.match(text, place)
    is_one = joined is not None and is_opaque(joined["value"]) and not is_placeholder(joined["value"])
    return joined.span("value") if joined is not None and is_one else None


def has_secret(text: str) -> bool:
    """Returns True for a scheme with a secret after it: ``Basic …``."""
    secret = secret_after_scheme(text, 0)
    return secret is not None and secret[0] < secret[1]


def says_scheme_alone(text: str) -> bool:
    """Returns True for a scheme without a secret, or with a placeholder: ``Bearer``, ``Bearer ${TOKEN}``."""
    scheme = _SCHEME.match(text)
    return _ONLY_SCHEME.fullmatch(text) is not None or (
        scheme is not None and is_placeholder(text[scheme.end() :])
    )


def cookies_at(text: str, begin: int) -> tuple[int, int] | None:
    """Where cookies stand; None where there is none, or code sets one: ``cookie: sid='…'``."""
    cookies = _COOKIES.match(text, begin)
    if cookies is None or (cookies[0][-1] == "=" and text[cookies.end() : cookies.end() + 1] in _QUOTES):
        return None
    return begin, cookies.end()
