"""The agent of the planted demo: a shop's support desk, as each of its releases works, with its own tools."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from random import Random
from typing import Any

from agenttrace.core.jsonable import to_json
from agenttrace.tracer import Tracer

CUSTOMERS = ("globex", "acme", "initech", "umbrella", "hooli")
PRODUCTS = ("headphones", "kettle", "lamp", "backpack", "keyboard", "desk")
MODEL = "gpt-5"
DECLINED_FOR = "acme"
_PRICES = (1.25e-6, 10e-6)
"""US dollars a token, read and written."""

POLICIES = {
    "return window": "Returns are accepted for 30 days. The item must be unused. Refunds arrive in 5 days.",
    "warranty": "The warranty lasts 2 years. It covers defects in material. It does not cover water damage.",
    "shipping": "Standard shipping takes 3 days. Express shipping takes 1 day. It is free from 40 dollars.",
}
_REMEMBERED = {
    "30 days": "60 days",
    "5 days": "2 days",
    "2 years": "5 years",
    "3 days": "1 day",
    "40 ": "20 ",
}
"""What the newest release answers from memory, in place of what the article says."""

_SYSTEM = (
    "You are the support desk of a shop. Look things up before you act, and tell the customer what you did."
)


class PaymentError(Exception):
    """The bank said no."""


@dataclass(frozen=True)
class Order:
    """An order of the shop."""

    number: int
    customer: str
    product: str
    amount: float
    paid_by: str


ORDERS = {
    number: Order(
        number,
        CUSTOMERS[number % 5],
        PRODUCTS[number % 6],
        round(19.9 + 7.35 * (number % 23), 2),
        "gift card" if number % 17 == 0 else "card",
    )
    for number in range(1000, 1120)
}


@dataclass(frozen=True)
class Ticket:
    """Who asks, and where, besides what."""

    message: str
    customer: str
    session: str
    channel: str


class _Conversation:
    """What the model is asked and answers in one ticket: each question has all that went before."""

    def __init__(self, tracer: Tracer, text: str) -> None:
        self._tracer = tracer
        self._messages: list[dict[str, Any]] = [
            {"role": "system", "content": _SYSTEM},
            {"role": "user", "content": text},
        ]

    def call(self, tool: Callable[..., Any], **arguments: Any) -> Any:
        """Have the model ask for a tool, and call it."""
        asked = {"name": tool.__name__, "arguments": to_json(arguments)}
        key = f"call_{len(self._messages)}"
        self._answer({"content": None, "tool_calls": [{"id": key, "type": "function", "function": asked}]})
        try:
            output = tool(**arguments)
        except PaymentError as error:
            self._messages.append({"role": "tool", "tool_call_id": key, "content": f"error: {error}"})
            raise
        self._messages.append({"role": "tool", "tool_call_id": key, "content": to_json(output)})
        return output

    def end(self, text: str) -> str:
        """Have the model say the last word."""
        self._answer({"content": text})
        return text

    def _answer(self, message: dict[str, Any]) -> None:
        answer = {"role": "assistant", **message}
        asked = {"model": MODEL, "messages": self._messages}
        with self._tracer.span("chat", span_type="llm", input=asked) as span:
            tokens = [len(to_json(one)) // 4 for one in (self._messages, answer)]
            cost = tokens[0] * _PRICES[0] + tokens[1] * _PRICES[1]
            usage = {"input_tokens": tokens[0], "output_tokens": tokens[1], "total_tokens": sum(tokens)}
            self._tracer.update_current_span(usage={**usage, "cost": cost}, model=MODEL)
            span.output = answer
        self._messages.append(answer)


class Desk:
    """A support desk whose agent is ``handle_ticket``, as one release of it works.

    `chance` decides what varies from ticket to ticket. What else is wrong is wrong by release: before 2.4.0 a
    number that is no order's stops it and gift cards get credit, 2.5.0 gives credit again and answers
    policies from memory.
    """

    def __init__(self, tracer: Tracer, release: str, chance: Random) -> None:
        self.tracer = tracer
        self.release = release
        self.chance = chance
        self.answered = 0
        self.ticket: Ticket | None = None
        """Of whom the next message is, in production."""
        self._make_tools(tracer)
        self.handle_ticket: Callable[..., str] = tracer.observe(span_type="agent", name="handle_ticket")(
            self._handle
        )

    def _make_tools(self, tracer: Tracer) -> None:
        @tracer.observe(span_type="tool")
        def lookup_order(order_id: int) -> dict[str, Any]:
            order = ORDERS.get(order_id)
            if order is None:
                return {"success": 0, "reason": "no such order"}
            return {"customer": order.customer, "product": order.product, "amount": order.amount}

        @tracer.observe(span_type="tool")
        def search_kb(query: str) -> str:
            return POLICIES.get(query, "Nothing was found.")

        @tracer.observe(span_type="tool")
        def refund(order_id: int, amount: float, customer: str) -> dict[str, Any]:
            if customer == DECLINED_FOR and self.is_declining:
                raise PaymentError("card declined: issuer unavailable")
            return {"success": 1, "order": order_id, "refunded": amount}

        @tracer.observe(span_type="tool")
        def store_credit(order_id: int, amount: float) -> dict[str, Any]:
            return {"success": 1, "order": order_id, "credit": amount}

        @tracer.observe(span_type="tool")
        def track_shipment(order_id: int) -> dict[str, Any]:
            return {"carrier": "DHL", "state": "in transit", "days_left": order_id % 4 + 1}

        @tracer.observe(span_type="tool")
        def create_label(order_id: int) -> dict[str, Any]:
            if order_id % 9 == 4:
                return {"success": 0, "reason": "the address is not complete"}
            return {"success": 1, "label": f"L{order_id}"}

        @tracer.observe(span_type="tool")
        def notify(customer: str, text: str) -> dict[str, Any]:
            return {"success": 1, "to": f"{customer}@shop.example", "characters": len(text)}

        @tracer.observe(span_type="tool")
        def escalate(order_id: int, reason: str) -> dict[str, Any]:
            return {"success": 1, "order": order_id, "team": "payments" if "card" in reason else "orders"}

        self.lookup_order, self.search_kb, self.refund = lookup_order, search_kb, refund
        self.store_credit, self.track_shipment, self.create_label = store_credit, track_shipment, create_label
        self.notify, self.escalate = notify, escalate
        self.is_declining = False
        """Whether the bank of one customer declines."""

    def _label(self, ticket: Ticket) -> None:
        self.tracer.set_customer_id(ticket.customer)
        self.tracer.set_session_id(ticket.session)
        self.tracer.set_tags(["production", ticket.channel])
        self.tracer.update_metadata({"release": self.release})

    def _handle(self, message: str) -> str:
        self.answered += 1
        if self.ticket is not None:
            self._label(self.ticket)
        talk = _Conversation(self.tracer, message)
        if "warranty of discontinued" in message:
            return self._search_in_circles(talk)
        number = re.search(r"\d{4}", message)
        if number is None:
            return self._answer_policy(talk, message)
        order = int(number[0])
        if "refund" in message:
            return self._refund(talk, order, message)
        facts = talk.call(self.lookup_order, order_id=order)
        if "label" in message:
            label = talk.call(self.create_label, order_id=order)
            talk.call(self.notify, customer=facts["customer"], text="a label is on its way")
            return talk.end(f"Your label is on its way{'' if label['success'] else ' soon'}.")
        place = talk.call(self.track_shipment, order_id=order)
        return talk.end(f"Your {facts['product']} is {place['state']}, {place['days_left']} days are left.")

    def _refund(self, talk: _Conversation, number: int, message: str) -> str:
        facts = talk.call(self.lookup_order, order_id=number)
        if "customer" not in facts:
            if self.release == "2.3.0":
                raise LookupError(f"there is no order {number}")
            talk.call(self.escalate, order_id=number, reason="there is no such order")
            return talk.end("I could not find this order; a colleague will look for it.")
        amount, customer = facts["amount"], facts["customer"]
        if ORDERS[number].paid_by == "gift card" and self.release in ("2.3.0", "2.5.0"):
            talk.call(self.store_credit, order_id=number, amount=amount)
        else:
            try:
                talk.call(self.refund, order_id=number, amount=amount, customer=customer)
            except PaymentError as error:
                talk.call(self.escalate, order_id=number, reason=str(error))
                return talk.end("The refund did not go through; our payments team will see to it.")
        if not self._forgets(number):
            talk.call(self.notify, customer=customer, text=f"{amount:.2f} dollars are on their way back")
        return talk.end(f"I refunded {amount:.2f} dollars for your {facts['product']}.")

    def _forgets(self, number: int) -> bool:
        """Whether the customer is not told: now and then with keyboards, and with backpacks since 2.5.0."""
        product = ORDERS[number].product
        is_careless = product == "keyboard" or (product == "backpack" and self.release == "2.5.0")
        return is_careless and self.answered % 3 == 1

    def _answer_policy(self, talk: _Conversation, message: str) -> str:
        topic = next((topic for topic in POLICIES if topic in message), "shipping")
        asked = "returns" if self.release == "2.4.1" and topic == "return window" else topic
        article = talk.call(self.search_kb, query=asked)
        if asked != topic:
            article = talk.call(self.search_kb, query=topic)
        if self.chance.random() < (0.6 if self.release == "2.5.0" else 0.04):
            for right, wrong in _REMEMBERED.items():
                article = article.replace(right, wrong)
        return talk.end(article)

    def _search_in_circles(self, talk: _Conversation) -> str:
        for _ in range(6):
            talk.call(self.search_kb, query="warranty of discontinued headphones")
        return talk.end("I am sorry, I could not find out.")
