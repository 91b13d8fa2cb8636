"""Pieces of secrets where a text was cut: ``…on_user:Rk7vQ…`` is no password that could be recognised."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator

from agenttrace.core.jsonable import to_json
from agenttrace.redaction.taken_out import united, without_places

_CUT = "…"
_SHORTEST_SECRET = 8
_SHORTEST_PIECE = 4
"""Letters that stand beside a cut, and in a secret, not by chance."""
_LONGEST_PIECE = 4_000


def without_pieces(text: str, secrets: Iterable[str]) -> str:
    """A text in which values are cut off at ``…``, without what stands there of any of the secrets."""
    if _CUT not in text:
        return text
    whole = "\0".join(
        form for secret in secrets if len(secret) >= _SHORTEST_SECRET for form in _forms(secret)
    )
    if not whole:
        return text
    places = [place for cut in re.finditer(_CUT, text) for place in _beside(cut.start(), text, whole)]
    return without_places(text, united(places)) if places else text


def _beside(cut: int, text: str, whole: str) -> Iterator[tuple[int, int]]:
    """The places of what stands of a secret on either side of a cut."""
    before = _longest(cut, lambda size: text[cut - size : cut] in whole)
    if before:
        yield cut - before, cut
    begin = cut + len(_CUT)
    after = _longest(len(text) - begin, lambda size: text[begin : begin + size] in whole)
    if after:
        yield begin, begin + after


def _longest(most: int, fits: Callable[[int], bool]) -> int:
    """The largest size of a piece that fits, where all smaller ones do; 0 for one that is too short."""
    least, most = 0, min(most, _LONGEST_PIECE)
    while least < most:
        middle = (least + most + 1) // 2
        if fits(middle):
            least = middle
        else:
            most = middle - 1
    return least if least >= _SHORTEST_PIECE else 0


def _forms(secret: str) -> set[str]:
    """A secret as it is, in a `repr`, in JSON, and in JSON that stands in JSON as a text."""
    in_json = to_json(secret)[1:-1]
    return {secret, repr(secret)[1:-1], in_json, to_json(in_json)[1:-1]}
