"""Where in a text something was taken out, told by what is left of it."""

from __future__ import annotations

from agenttrace.core.marks import REDACTED

_Span = tuple[int, int]


def places_taken_out(text: str, cleaned: str) -> tuple[list[_Span], bool]:
    """The places in a text where there is ``[redacted]`` now, and whether nothing else was changed."""
    if cleaned is text:
        return [], True
    first, *pieces = cleaned.split(REDACTED)
    if not pieces or not text.startswith(first):
        return [], False
    places: list[_Span] = []
    done = len(first)
    for number, piece in enumerate(pieces, 1):
        is_last = number == len(pieces)
        begin = len(text) - len(piece) if is_last else text.find(piece, done) if piece else -1
        if begin < done or (is_last and not text.endswith(piece)):
            return places, False
        places.append((done, begin))
        done = begin + len(piece)
    return places, True


def united(places: list[_Span]) -> list[_Span]:
    """Places in their order, of which none reaches into the next."""
    result: list[_Span] = []
    for begin, end in sorted(places):
        if result and begin <= result[-1][1]:
            result[-1] = result[-1][0], max(end, result[-1][1])
        else:
            result.append((begin, end))
    return result


def without_places(text: str, places: list[_Span]) -> str:
    """The text with ``[redacted]`` in the place of each of these, which are in their order."""
    pieces: list[str] = []
    done = 0
    for begin, end in places:
        pieces += (text[done:begin], REDACTED)
        done = end
    return "".join((*pieces, text[done:]))
