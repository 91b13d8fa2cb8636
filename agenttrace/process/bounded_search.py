"""Searches with the user's regular expressions, none of which can stop the process.

A search that can only be short is made on the spot. Any other one is made by a child process, which is killed
when the search takes too long. Either way it is Python's own `re` that searches.
"""

from __future__ import annotations

import math
import re
from functools import lru_cache

from agenttrace.core.errors import ScorerError
from agenttrace.process.search_process import SUPPORTED, SearchMethod, search_process

SECONDS = 0.5
"""How much processor time a search may take."""

MOST_SECONDS = 60.0
"""The longest time that may be asked for: so long a search may outlive a process that was killed."""

MOST_STEPS = 1_000_000
"""A search of so many steps takes a few thousandths of a second."""

_MOST_REMEMBERED = 4_096
"""Longer texts are searched again each time, so that what is remembered stays a few megabytes."""


def compiled(pattern: str, flags: int = 0) -> re.Pattern[str]:
    """The pattern, ready to search.

    Raises:
        ValueError: it is no regular expression for text; the text says why.
    """
    try:
        ready: re.Pattern[str] = re.compile(pattern, flags)
    except (re.error, TypeError, OverflowError, RecursionError) as error:
        raise ValueError(str(error)) from error
    if not isinstance(ready.pattern, str):
        raise ValueError("it is for bytes")
    return ready


def bounded_search(
    pattern: re.Pattern[str], text: str, method: SearchMethod = "search", seconds: float = SECONDS
) -> tuple[int, int] | None:
    """Where the match of `pattern.search(text)` or `pattern.fullmatch(text)` starts and ends, or None.

    Where the system has no timer of processor time, as on Windows, every search is made on the spot, and
    nothing ends it.

    Raises:
        ScorerError: there is no answer within `seconds` of processor time, or no child process to search.
    """
    if not SUPPORTED or is_short(pattern.pattern, text):
        match = pattern.search(text) if method == "search" else pattern.fullmatch(text)
        return match.span() if match else None
    if len(text) > _MOST_REMEMBERED:
        return _in_child(pattern, text, method, seconds)
    return _remembered(pattern, text, method, seconds)


def is_short(pattern: str, text: str) -> bool:
    """Whether a search can only be short, however the text is made.

    Without a group, all that can be repeated is single characters. From each place in the text, each of these
    repetitions has at most as many lengths to try as the text has characters, and each try takes at most one
    pass over the pattern.
    """
    repetitions = sum(map(pattern.count, "*+?{"))
    if "(" in pattern or repetitions > 20:
        return False
    steps: int = (len(pattern) + 1) * (len(text) + 1) ** (repetitions + 1)
    return steps <= MOST_STEPS


def checked_seconds(seconds: float, scorer: str) -> float:
    """The processor time of a search: a number above 0, at most 60.

    Raises:
        ScorerError: anything else.
    """
    number = not isinstance(seconds, bool) and isinstance(seconds, int | float) and math.isfinite(seconds)
    if not number or not 0 < seconds <= MOST_SECONDS:
        raise ScorerError(
            f"{scorer}: timeout is a number of seconds above 0, at most {MOST_SECONDS:g}, got {seconds!r}"
        )
    return float(seconds)


def _in_child(
    pattern: re.Pattern[str], text: str, method: SearchMethod, seconds: float
) -> tuple[int, int] | None:
    try:
        return search_process().find(method, pattern, text, seconds)
    except TimeoutError:
        raise ScorerError(
            f"/{pattern.pattern:.200}/ found no answer within {seconds:g} s in a text of {len(text):,} "
            "characters: the pattern backtracks; write it without a repetition inside a repetition, such as "
            "(a+)+, and without alternatives that begin alike"
        ) from None
    except ChildProcessError as error:
        raise ScorerError(
            f"/{pattern.pattern:.200}/ is not searched, for nothing could end the search: {error}; "
            "a pattern without groups in a short text needs no process"
        ) from None


# What an alignment asks, its diff and the next scorer ask again. Errors are not remembered.
_remembered = lru_cache(maxsize=1_024)(_in_child)
