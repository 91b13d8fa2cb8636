"""Agents that worker processes import by their names."""

import os
import threading
import time

from agenttrace import Tracer

tracer = Tracer("pools", store="memory")


class CannotBePickled(Exception):
    """Holds what no process can send."""

    def __init__(self, first, second):
        super().__init__(first)
        self.lock = threading.Lock()


@tracer.observe(span_type="tool")
def search(q, password="hunter2"):
    return {"hits": [q, b"\x00", 2**70], "process": "any"}


@tracer.observe(span_type="agent")
def agent(q):
    """Does what its input says; most often it searches, and answers in capitals."""
    tracer.set_session_id(f"session of {q}")
    tracer.score_current_span("Confidence", 0.5)
    if q == "raise":
        raise CannotBePickled("nothing found", 2)
    if q == "die":
        os._exit(3)
    if q == "hang":
        time.sleep(20)
    if q == "interrupt":
        raise KeyboardInterrupt
    if q == "huge":
        return "x" * 3_000_000
    search(q)
    return q.upper()


async def async_agent(q):
    search(q)
    return q.upper()


def where(q):
    return os.getpid()


def keeps_orders(order):
    """An agent whose state is in its own process, and is said there."""
    orders = []
    tracer.state("orders", lambda: orders)
    orders.append(order)
    return order
