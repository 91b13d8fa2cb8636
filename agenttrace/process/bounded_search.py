"""Search with a user's regular expression for a limited time, so that none can stop the process.

A search that must be short runs in this process. Any other search runs in a child process, which is killed if
the search takes too long. Both use Python's own `re`.
"""

from __future__ import annotations

import re
from functools import lru_cache

from agenttrace.core.errors import ScorerError
from agenttrace.core.numbers import is_number
from agenttrace.process.search_process import SUPPORTED, SearchMethod, search_process

SECONDS = 0.5
"""How much processor time a search may take."""

MOST_SECONDS = 60.0
"""The longest limit that may be set: so long may a search go on after this process was killed."""

MOST_STEPS = 1_000_000
"""A search of so many steps takes a few thousandths of a second."""

_LONGEST_CACHED = 4_096
"""Characters of a text whose result is cached; so the cache takes a few megabytes at most."""


def compiled(pattern: str, flags: int = 0) -> re.Pattern[str]:
    """Compile a pattern for text.

    Raises:
        ValueError: it is no regular expression for text; the message says why.
    """
    try:
        compiled_pattern: re.Pattern[str] = re.compile(pattern, flags)
    except (re.error, TypeError, OverflowError, RecursionError) as error:
        raise ValueError(str(error)) from error
    if not isinstance(compiled_pattern.pattern, str):
        raise ValueError("it is for bytes")
    return compiled_pattern


def bounded_search(
    pattern: re.Pattern[str], text: str, method: SearchMethod = "search", seconds: float = SECONDS
) -> tuple[int, int] | None:
    """Where the match of `pattern.search(text)` or `pattern.fullmatch(text)` starts and ends, or None.

    On a system without a timer of processor time, such as Windows, every search runs in this process, without
    a limit.

    Raises:
        ScorerError: there is no answer within `seconds` of processor time, or no child process to search.
    """
    if not SUPPORTED or is_short(pattern.pattern, text):
        match = pattern.search(text) if method == "search" else pattern.fullmatch(text)
        return match.span() if match else None
    if len(text) > _LONGEST_CACHED:
        return _search_in_child(pattern, text, method, seconds)
    return _cached_search(pattern, text, method, seconds)


def is_short(pattern: str, text: str) -> bool:
    """Returns True if a search is short whatever the text contains.

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
    """The seconds that a scorer's option `timeout` gives: a number above 0, at most 60.

    Raises:
        ScorerError: anything else.
    """
    if not (is_number(seconds) and 0 < seconds <= MOST_SECONDS):
        raise ScorerError(
            f"{scorer}: timeout is a number of seconds above 0, at most {MOST_SECONDS:g}, got {seconds!r}"
        )
    return float(seconds)


def _search_in_child(
    pattern: re.Pattern[str], text: str, method: SearchMethod, seconds: float
) -> tuple[int, int] | None:
    try:
        return search_process.find(method, pattern, text, seconds)
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


# An alignment, its diff and the next scorer make the same searches. Errors are not cached.
_cached_search = lru_cache(maxsize=1_024)(_search_in_child)
