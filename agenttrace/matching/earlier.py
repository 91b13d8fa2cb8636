"""`EarlierCalls`: the calls from which a value may come, also those that are not compared themselves."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Sequence
from itertools import chain

from agenttrace.core.cached import cached_property
from agenttrace.core.tool_call import ToolCall, are_unordered


class EarlierCalls:
    """Which calls were before which: of those that are compared, in their order, and of those elsewhere.

    `calls` has all of them, the `compared` ones first. One elsewhere was earlier than a compared call where
    the record lets it be before that one, and all compared calls that surely came before it are, too; and in
    a negation where it surely was before that one, or before a compared call that is. `in_any_order`: so may
    any call be that overlaps it, wherever it stands.
    """

    def __init__(self, calls: Sequence[ToolCall], compared: int, *, in_any_order: bool = False) -> None:
        self.calls = calls
        self._compared = compared
        self._in_any_order = in_any_order

    def before(self, position: int, *, in_negation: bool = False) -> Iterable[int]:
        """The positions of the calls that were, or may have been, before the one at a position."""
        if self._in_any_order or position >= self._compared:
            return (at for at in range(len(self.calls)) if self._may_be_before(at, position))
        if self._compared == len(self.calls):
            return range(position)
        firsts = self._first_after if in_negation else self._first_users
        number = bisect_right(firsts, (position, len(self.calls)))
        return chain(range(position), [at for _, at in firsts[:number]])

    def _may_be_before(self, position: int, other: int) -> bool:
        one, second = self.calls[position], self.calls[other]
        are_compared = position < self._compared and other < self._compared
        is_first = position < other if are_compared else one.index < second.index
        return is_first or (position != other and are_unordered(one, second))

    @cached_property
    def _first_users(self) -> list[tuple[int, int]]:
        """For each call elsewhere the first compared position that it may have been before, and its own."""
        last = range(self._compared - 1, -1, -1)
        return sorted(
            (1 + next((user for user in last if not self._may_be_before(at, user)), -1), at)
            for at in range(self._compared, len(self.calls))
        )

    @cached_property
    def _first_after(self) -> list[tuple[int, int]]:
        """For each call elsewhere the first compared position that it surely was before, and its own."""
        users = range(self._compared)
        return sorted(
            (next((user for user in users if not self._may_be_before(user, at)), self._compared), at)
            for at in range(self._compared, len(self.calls))
        )
