"""Secrets in other spellings: base64, hexadecimal, percent signs, colours, wide signs, and texts cut off."""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Callable
from urllib.parse import unquote

from agenttrace.core.marks import REDACTED, spelled
from agenttrace.redaction.shapes import ENCODED_RUN

_ENCODED = re.compile(
    rf"(?<![A-Za-z0-9+/_-])(?:[A-Za-z0-9_-]{{{ENCODED_RUN},}}(?![A-Za-z0-9+/_-])"
    rf"|[A-Za-z0-9+/]{{{ENCODED_RUN},}}|[A-Za-z0-9_-]{{{ENCODED_RUN},}})={{0,2}}"
)
"""In one of both alphabets (RFC 4648, 4 and 5); where a run has letters of both, its beginning in one."""
_CONTROLS = re.compile(rb"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]")
_OF_NO_TEXT = bytes({*range(32), 127} - set(b"\r\n\t"))
_HEX = re.compile(r"[0-9a-fA-F]+")
_QUOTED = re.compile(r"""(?<![^\s"'<>])[^\s"'<>%…]{0,2000}(?:%[0-9A-Fa-f]{2}[^\s"'<>%…]{0,2000})+""")
_CUT_THERE = re.compile(r"(?:%[0-9A-Fa-f]?)?…\[\+")
QUOTED_SIGNS = ("%2", "%3", "%5")
"""The beginnings of signs that part names from values."""
_LONGEST_ENCODED = 8_192
"""Longer runs are pictures and files: only their beginning is looked into."""

_CUT = re.compile(r"…\[\+\d+ chars(?: #[0-9a-f]{32})?\]\Z")
_FEW_ZEROS = 8
"""Of so many bytes one is a zero in most texts in UTF-16."""
_BEGINNING = r"""(?<![A-Za-z0-9])(?:
    (?i:[spr]k[-_]|gh[pousr]_|github_pat_|gl[a-z]{2,5}-|xox[a-z][-.]|xapp-|hf_|gsk_|npm_|glsa_|dapi(?=[0-9a-f])|ntn_|lsv2_|lin_(?:api|oauth)_|r8_|dckr_pat_|xai-|pplx-|tvly-|pypi-|dop_v1_|ya29\.|SG\.)
    |AKIA|ASIA|SK(?=[0-9a-f]{4})|\d{8,10}:AA|AIza|eyJ|hv[sb]\.|whsec_|sntry|shp[a-z]{2}_)[\w.~+/=-]*"""
_URL_BEGINNING = r"""(://[^\s/:@?#"'<>…]*:)(?!\d{1,5}(?:[/?#]|\Z|…))[^\s/?#"'<>@…]+(?:[#/?][^\s"'<>@…]*)?"""
_TORN = re.compile(rf"{_BEGINNING}\Z", re.VERBOSE)
_TORN_URL = re.compile(rf"{_URL_BEGINNING}\Z")
_SHORTENED = re.compile(rf"{_BEGINNING}(?=…)", re.VERBOSE)
_SHORTENED_URL = re.compile(rf"{_URL_BEGINNING}(?=…)")
_REST_OF_URL = re.compile(r"""(?<=…)[^\s/?#"'<>@…]+@(?=[\w.-]+)""")

Clean = Callable[[str], str]
"""Returns the text without secrets: the same object where there are none."""


def without_encoded(text: str, clean: Clean) -> tuple[str, int]:
    """The text without runs of base64 or hexadecimal digits that spell a secret, and how many were found."""
    count = 0

    def replace(match: re.Match[str]) -> str:
        nonlocal count
        if not _spells_secret(match[0][:_LONGEST_ENCODED], clean):
            return match[0]
        count += 1
        return REDACTED

    cleaned = _ENCODED.sub(replace, text)
    return (cleaned, count) if count else (text, 0)


def _spells_secret(run: str, clean: Clean) -> bool:
    content = _decoded(run)
    if content is None or content.translate(None, _OF_NO_TEXT) != content:
        return False
    text = spelled(content)
    if not content.isascii() and text.encode() != content[: len(text.encode())]:
        return False  # no UTF-8
    return clean(text) is not text


def _decoded(run: str) -> bytes | None:
    try:
        if len(run) % 2 == 0 and _HEX.fullmatch(run):
            return bytes.fromhex(run)
        run = run.rstrip("=").replace("-", "+").replace("_", "/")
        run = run[: len(run) - (len(run) % 4 == 1)]
        return base64.b64decode(run + "=" * (-len(run) % 4))
    except (ValueError, binascii.Error):
        return None


def without_quoted(text: str, clean: Clean) -> tuple[str, int]:
    """The text without secrets in words with percent signs, ``user%3A…``, and how many were found."""
    count = 0

    def replace(match: re.Match[str]) -> str:
        nonlocal count
        spelled = unquote(match[0])
        cleaned = clean(spelled)
        if cleaned is spelled and _CUT_THERE.match(text, match.end()):
            cleaned, _ = without_torn(f"{spelled}…[+1 chars]")
            cleaned = cleaned.removesuffix("…[+1 chars]")
            cleaned = spelled if cleaned == spelled else cleaned
        if cleaned is spelled:
            return match[0]
        count += 1
        return cleaned

    cleaned = _QUOTED.sub(replace, text)
    return (cleaned, count) if count else (text, 0)


_COLOUR = re.compile(r"\x1b\[[0-9;:?]*[A-Za-z]")
_ESCAPE = "\x1b"
_WIDE = ("\u00a0", "\uff1a", "\uff1d", "\u202f", "\u200b", "\ufeff")
_PLAIN = str.maketrans(
    {"\u00a0": " ", "\u202f": " ", "\uff1a": ":", "\uff1d": "=", "\u200b": None, "\ufeff": None}
)


def may_be_styled(text: str) -> bool:
    """Returns True if a text has a terminal's colours, or spaces and signs that only look like ours."""
    return _ESCAPE in text or (not text.isascii() and any(sign in text for sign in _WIDE))


def without_styled(text: str, clean: Clean) -> tuple[str, int]:
    """The text without secrets that are found once its colours are left out and its wide signs are plain.

    Where there are some, the text is the plain one; and 1 or 0.
    """
    spelled = _COLOUR.sub("", text).translate(_PLAIN)
    cleaned = clean(spelled)
    return (text, 0) if cleaned is spelled else (cleaned, 1)


def without_torn(text: str) -> tuple[str, int]:
    """The text without the beginning of a secret where it was cut off, and how many were found."""
    cut = _CUT.search(text)
    if cut is None:
        return text, 0
    end = cut.start()
    begin = max(0, text.rfind(" ", 0, end), text.rfind("\n", 0, end), end - _LONGEST_ENCODED)
    last, mark = text[begin:end], text[end:]
    cleaned, count = _TORN.subn(REDACTED, last)
    if not count:
        cleaned, count = _TORN_URL.subn(rf"\1{REDACTED}", last)
    return (f"{text[:begin]}{cleaned}{mark}", count) if count else (text, 0)


def without_shortened(text: str) -> tuple[str, int]:
    """The text without beginnings of secrets that ``…`` ends, as where a diff shows long values, and how many
    were found."""
    if "…" not in text:
        return text, 0
    text, count = _SHORTENED.subn(REDACTED, text)
    text, more = _SHORTENED_URL.subn(rf"\1{REDACTED}", text)
    text, rest = _REST_OF_URL.subn(f"{REDACTED}@", text)
    return text, count + more + rest


def texts_of(content: bytes) -> list[str]:
    """The texts that bytes may be, in which secrets are looked for: without zeros, and as UTF-16."""
    texts = [spelled(content.replace(b"\0", b""))]
    is_marked = content[:2] in (b"\xff\xfe", b"\xfe\xff")
    if is_marked or content.count(0) * _FEW_ZEROS > len(content):
        is_big = content[:2] == b"\xfe\xff" or (
            not is_marked and content[::2].count(0) > content[1::2].count(0)
        )
        texts.append(content.decode("utf-16-be" if is_big else "utf-16-le", "replace"))
    return texts
