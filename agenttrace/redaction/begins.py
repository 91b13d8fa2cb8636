"""Where a value begins behind the separator that stands after its name."""

from __future__ import annotations

import re

_SPACES = re.compile(r"[ \t\u00a0*`]*")
"""With the signs of Markdown: ``**password**: `…` ``."""
_CONTINUED = re.compile(r"\\\r?\n[ \t]*(?!\\)")
_WIDE_SPACES = re.compile(r"\s*")
_ANCHOR = re.compile(r"(?:&[A-Za-z][\w-]{0,40}|!!?[A-Za-z][\w:/-]{0,40})[ \t]+(?=[^\s=])")
"""What YAML may have before a value: ``password: &pw …``, ``!!str …``."""
_WRAPPED = re.compile(
    r"""(?:Some|Just|Ok|Right)[( ]\(?(?=\\{0,20}"|(?=[^)\s]{0,200}\d)[^)\s"']{6})"""
    r"""|Optional\[(?=(?=[^\]\s]{0,200}\d[^\]\s]{0,200}\d)[^\]\s"']{6})"""
)
"""What there may be or not, as Rust, Scala, Haskell and Java print it: ``Some("…")``, ``Optional[…]``."""


_WRAPPERS = ("S", "J", "O", "R")


def begin_of_value(text: str, place: int, *, is_quoted: bool) -> tuple[int, int]:
    """Where the value begins behind a separator, and the place of what stands for that then; `is_quoted` says
    whether the name stands in quotes."""
    spaces = _WIDE_SPACES if is_quoted else _SPACES
    begin = place + 1 + (text[place + 1 : place + 2] == ">")
    begin = _end(spaces, text, begin)
    if text[begin : begin + 1] == "\\" and (continued := _CONTINUED.match(text, begin)) is not None:
        return continued.end() - 1, continued.end()  # a line that goes on
    if text[begin : begin + 1] in _WRAPPERS and (wrapped := _WRAPPED.match(text, begin)) is not None:
        return place, wrapped.end()
    anchor = _ANCHOR.match(text, begin)
    return place, begin if anchor is None else anchor.end()


def _end(pattern: re.Pattern[str], text: str, begin: int) -> int:
    match = pattern.match(text, begin)
    return begin if match is None else match.end()
