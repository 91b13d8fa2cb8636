"""A shop's agent with a database in memory, tested by what it says, calls and leaves behind.

``python examples/database_agent.py``: the second customer's refund goes to the wrong order.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from typing import Any

from agenttrace import Conversation, Example, StateScorer, Tracer, TurnsScorer, run_evaluation

tracer = Tracer("database_agent", store="memory")

ORDERS = [(7, "Ada", "open", 12.5), (8, "Bo", "open", 3.0), (9, "Bo", "open", 5.0)]


class Shop:
    """One customer's talk with the shop; each has a database of its own."""

    def __init__(self) -> None:
        self.db = sqlite3.connect(":memory:")
        self.db.execute(
            "create table orders (id integer primary key, customer text, status text, amount real)"
        )
        self.db.executemany("insert into orders values (?, ?, ?, ?)", ORDERS)
        self.order = 0
        tracer.state("orders", self.orders)

    def orders(self) -> dict[int, dict[str, Any]]:
        """Every order by its number: what is compared at the end with the start."""
        rows = self.db.execute("select id, customer, status, amount from orders")
        return {
            number: {"customer": who, "status": status, "amount": paid} for number, who, status, paid in rows
        }

    @tracer.observe(span_type="tool")
    def find(self, customer: str) -> list[int]:
        """The numbers of a customer's orders."""
        rows = self.db.execute("select id from orders where customer = ? order by id", [customer])
        return [number for (number,) in rows]

    @tracer.observe(span_type="tool")
    def refund(self, order: int) -> str:
        """Give an order's money back."""
        self.db.execute("update orders set status = 'refunded' where id = ?", [order])
        return "done"

    def __call__(self, message: str) -> str:
        """Answer one message: a customer's name, or which order to refund."""
        if message.isalpha():
            numbers = self.find(message)
            self.order = numbers[0]  # the mistake: a customer may mean another one
            return f"Your orders: {numbers}. Which one?"
        self.refund(self.order)
        return "Refunded."


def example(customer: str, order: int) -> Example:
    """A refund of one order, and of nothing else."""
    return Example(
        name=f"{customer} {order}",
        input={"messages": [customer, f"number {order}"]},
        turns=[{"expected_tools": [{"find": {"customer": customer}}]}, {"expected_tools": ["refund"]}],
        expected_state={"orders": {"changed": {f"{order}.status": "refunded"}, "only": True}},
    )


EXAMPLES = [example("Ada", 7), example("Bo", 9)]


def main(show: Callable[[str], Any] = print) -> None:
    """Evaluate both customers, and print what each left behind."""
    talk = Conversation(make_agent=Shop, tracer=tracer)
    report = run_evaluation(EXAMPLES, [TurnsScorer(), StateScorer()], function=talk, tracer=tracer)
    for result in report:
        for score in result.scores:
            show(f"{result.example.name}  {score}")
            if score.diff and not score.passed:
                show(score.diff)


if __name__ == "__main__":
    main()
