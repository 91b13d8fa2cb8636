"""The words of a text, as a search compares them."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence

_WORD = re.compile(r"\w+")


def words_of(text: str) -> list[str]:
    """The runs of letters, digits and underscores of a text, without regard to case and width.

    ``Straße`` and ``STRASSE`` are the same word; ``order-7`` is two words.
    """
    if text.isascii():
        return _WORD.findall(text.lower())
    return _WORD.findall(unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", text).casefold()))


def stands_in(phrase: Sequence[str], words: Sequence[str]) -> bool:
    """Whether the words of a phrase follow each other somewhere, the last one perhaps cut short there.

    ``["refund", "ord"]`` stands in ``["a", "refund", "order"]``.
    """
    *whole, last = phrase
    count = len(whole)
    return any(
        words[at + count].startswith(last) and list(words[at : at + count]) == whole
        for at in range(len(words) - count)
    )
