"""Where a text in quotes ends, which may have more of them within: doubled, or joined in a shell."""

from __future__ import annotations

import re

from agenttrace.redaction.commands import JOINED

_TO_QUOTE = {quote: re.compile(rf"(?:[^{quote}\\]|\\[\s\S])*") for quote in "\"'"}
_TO_ESCAPED_QUOTE = {quote: re.compile(rf"[^{quote}\\]*") for quote in "\"'"}
_JOINED = re.compile(JOINED)
_DOUBLED = re.compile("''")


def end_of_quoted(text: str, begin: int, quote: str, *, is_escaped: bool) -> int:
    """Where a text ends that begins behind a quote; `is_escaped` says whether a backslash is before that."""
    end = _end(_TO_ESCAPED_QUOTE if is_escaped else _TO_QUOTE, quote, text, begin)
    if quote != "'":
        return end
    while end > begin and _DOUBLED.match(text, end):  # as SQL and YAML write one
        end = _end(_TO_ESCAPED_QUOTE if is_escaped else _TO_QUOTE, quote, text, end + 2)
    while not is_escaped and (joined := _JOINED.match(text, end)) is not None:
        end = _end(_TO_QUOTE, quote, text, joined.end())
    return end


def _end(patterns: dict[str, re.Pattern[str]], quote: str, text: str, begin: int) -> int:
    match = patterns[quote].match(text, begin)
    return begin if match is None else match.end()
