"""The demo's agent: it refunds an order, and can get it wrong."""

from __future__ import annotations

import re
from collections.abc import Callable

from agenttrace.core.example import Example
from agenttrace.tracer import Tracer

ORDERS: dict[int, tuple[str, float]] = {7: ("ann", 12.5), 8: ("bo", 99.0)}


def refund_agent(tracer: Tracer, *, careless: bool = False) -> Callable[[str], str]:
    """An agent that refunds the order a message names.

    A `careless` one refunds a round sum and forgets to tell the customer.
    """

    @tracer.observe(span_type="tool")
    def lookup_order(order_id: int) -> dict[str, str | float]:
        customer, amount = ORDERS[order_id]
        return {"customer": customer, "amount": amount}

    @tracer.observe(span_type="tool")
    def refund(order_id: int, amount: float) -> str:
        return f"refunded {amount:.2f} for order {order_id}"

    @tracer.observe(span_type="tool")
    def notify(customer: str, text: str) -> None:
        """Would send a message."""

    @tracer.observe(span_type="agent")
    def answer(message: str) -> str:
        number = int(re.findall(r"\d+", message)[0])
        order = lookup_order(number)
        amount = float(order["amount"])
        receipt = refund(number, float(int(amount)) if careless else amount)
        if not careless:
            notify(str(order["customer"]), receipt)
        return receipt

    return answer


EXAMPLES = [
    Example(
        name=f"refund-{number}",
        input={"message": f"Please refund my order {number}."},
        expected_tools=[
            {"tool_name": "lookup_order", "parameters": {"order_id": number}},
            {"tool_name": "refund", "parameters": {"order_id": number, "amount": amount}},
            {"tool_name": "notify"},
        ],
    )
    for number, (_, amount) in ORDERS.items()
]
