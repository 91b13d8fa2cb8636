"""A refund desk without a model: what `task.yaml` beside it evaluates, offline.

agenttrace eval run examples/refund_task/task.yaml
"""

from __future__ import annotations

from collections.abc import Sequence

from agenttrace import observe

ORDERS = {7: {"total": 12.5, "paid": True}, 8: {"total": 40.0, "paid": False}}


@observe(span_type="tool")
def lookup_order(order_id: int) -> dict[str, object]:
    """Look an order up."""
    if order_id not in ORDERS:
        raise KeyError(f"no order {order_id}")
    return dict(ORDERS[order_id])


@observe(span_type="tool")
def refund(order_id: int, amount: float) -> str:
    """Pay an amount back."""
    return f"refund of {amount} for order {order_id}"


@observe(span_type="tool")
def notify(order_id: int) -> None:
    """Tell the customer."""


def answer(order_id: int) -> str:
    """Decide about a refund: ``refunded``, ``refused``; an order that nobody knows is an error."""
    order = lookup_order(order_id)
    if not order["paid"]:
        return "refunded"  # wrong: what was not paid is not paid back
    refund(order_id, float(str(order["total"])))
    notify(order_id)
    return "refunded"


def least(values: Sequence[float]) -> float:
    """The worst coverage of any case: a metric of one's own."""
    return min(values)
