"""The examples of the planted demo's two suites: what the support desk is to do, and what it is to answer."""

from __future__ import annotations

from typing import Any

from agenttrace.cli.demo_desk import ORDERS, POLICIES
from agenttrace.core.example import Example

_GIFT_CARD = 1020
_UNKNOWN = 9999
_REFUNDED = (1008, 1015, 1010, 1012, 1017, 1013)


def _call(tool: str, **parameters: Any) -> dict[str, Any]:
    return {"tool_name": tool, **({"parameters": parameters} if parameters else {})}


def _refund(number: int) -> Example:
    order = ORDERS[number]
    name = "gift card" if number == _GIFT_CARD else order.product
    return Example(
        name=f"refund {name}",
        input={"message": f"Please refund my order {number}."},
        expected_tools=[
            _call("lookup_order", order_id=number),
            _call("refund", order_id=number, amount=order.amount, customer=order.customer),
            _call("notify"),
        ],
    )


REFUNDS = [
    *map(_refund, (*_REFUNDED, _GIFT_CARD)),
    Example(
        name="refund unknown order",
        input={"message": f"Please refund my order {_UNKNOWN}."},
        expected_tools=[_call("lookup_order", order_id=_UNKNOWN), _call("escalate")],
    ),
    *(
        Example(
            name=f"where is my {ORDERS[number].product}",
            input={"message": f"Where is my order {number}?"},
            expected_tools=[
                _call("lookup_order", order_id=number),
                _call("track_shipment", order_id=number),
            ],
        )
        for number in (1010, 1013)
    ),
    Example(
        name="label for kettle",
        input={"message": "I need a return label for order 1009."},
        expected_tools=[
            _call("lookup_order", order_id=1009),
            _call("create_label", order_id=1009),
            _call("notify"),
        ],
    ),
    *(
        Example(
            name=f"asks for {topic}",
            input={"message": f"What is your {topic}?"},
            expected_tools=[_call("search_kb", query=topic)],
        )
        for topic in POLICIES
    ),
]
"""What the agent is to call."""

ANSWERS = [
    Example(
        name=f"{topic} for {who}",
        input={"message": f"What is your {topic} for {who}?"},
        retrieval_context=[article],
    )
    for topic, article in POLICIES.items()
    for who in ("members", "guests")
]
"""What the agent is to answer: a judge compares it with the article."""
