"""Every order of overlapping calls that the record admits, where there are few.

Which order fits best depends on where values come from, and that on which calls labels stand for, and that on
the order. A search for one order may miss it; of few calls, each order is compared.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import chain, islice, product
from math import prod

from agenttrace.core.tool_call import ToolCall
from agenttrace.matching.parallel import Precedence, groups_of

MOST_ORDERS = 720
"""As many as six calls at once have."""
MOST_CALLS = 5_000
"""Calls in all orders together: of a long run, fewer orders are compared."""


def all_orders(calls: Sequence[ToolCall], names: set[str]) -> Iterator[list[ToolCall]] | None:
    """Every admissible order of the calls with these names; None where there are too many.

    The calls stand in the order of the trace. Others have their turn as soon as it may be: so they are in no
    other call's way.
    """
    most = min(MOST_ORDERS, MOST_CALLS // (len(calls) or 1))
    precedence = Precedence(calls)
    counts = [call.name in names for call in calls]
    of_groups: list[list[list[int]]] = []
    for group in groups_of(calls):
        orders = _orders_of(group, precedence.before(group), counts)
        of_groups.append([*islice(orders, most + 1)])
        if prod(map(len, of_groups)) > most:
            return None
    return ([calls[at] for at in chain.from_iterable(order)] for order in product(*of_groups))


def _orders_of(group: range, before: Sequence[int], counts: Sequence[bool]) -> Iterator[list[int]]:
    """The orders of one group: the calls that count in each order in which they may be."""

    def orders(order: list[int], done: int) -> Iterator[list[int]]:
        waiting = [at for at in group if not done >> at - group.start & 1]
        free = [at for at in waiting if not before[at - group.start] & ~done]
        if not free:
            yield order
            return
        others = [at for at in free if not counts[at]]
        for turn in [others] if others else [[at] for at in free]:
            yield from orders([*order, *turn], done | sum(1 << at - group.start for at in turn))

    return orders([], 0)
