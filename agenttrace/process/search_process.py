"""A child process that searches with `re`, which only a kill can end: it holds the interpreter's lock."""

from __future__ import annotations

import re
from typing import Literal

from agenttrace.process.killable_child import PREPARED, SUPPORTED, KillableChild

__all__ = ["SUPPORTED", "SearchMethod", "SearchProcess", "search_process"]

SearchMethod = Literal["search", "fullmatch"]

_NOTHING = b"nothing\n"

_CODE = (
    PREPARED
    + """
import re
answers.write(b"ready\\n")
while line := requests.readline().split():
    method, flags, seconds, *sizes = line
    pattern, text = (requests.read(int(size)).decode("utf-8", "surrogatepass") for size in sizes)
    signal.setitimer(signal.ITIMER_PROF, float(seconds))
    match = getattr(re.compile(pattern, int(flags)), method.decode())(text)
    signal.setitimer(signal.ITIMER_PROF, 0)
    answers.write(b"%d %d\\n" % match.span() if match else b"nothing\\n")
"""
)


class SearchProcess(KillableChild):
    """The child that searches for this process."""

    def __init__(self) -> None:
        super().__init__(lambda: _CODE)

    def find(
        self, method: SearchMethod, pattern: re.Pattern[str], text: str, seconds: float
    ) -> tuple[int, int] | None:
        """Where the match starts and ends, or None. Each search waits for its turn. Raises as `ask`."""
        flags = pattern.flags & ~int(re.DEBUG)
        parts = [part.encode("utf-8", "surrogatepass") for part in (pattern.pattern, text)]
        head = f"{method} {flags} {seconds} {len(parts[0])} {len(parts[1])}\n"
        answer = self.ask(b"".join([head.encode(), *parts]), seconds)
        if answer == _NOTHING:
            return None
        start, end = answer.split()
        return int(start), int(end)


search_process = SearchProcess()
"""The one that all scorers and matchers of this process share."""
