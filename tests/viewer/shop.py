"""A store that real agents fill: failures, a loop, trials, two runs of which the second is worse, judges."""

from __future__ import annotations

from pathlib import Path

from agenttrace.core.example import Example
from agenttrace.core.trace import Trace
from agenttrace.evaluation.evaluate import run_evaluation
from agenttrace.judges import FaithfulnessScorer, FakeChatModel
from agenttrace.scorers import ContainsScorer, ToolOrderScorer
from agenttrace.store import SQLiteStore
from agenttrace.tracer import Tracer

CUSTOMERS = ("acme", "globex", "initech")


class PaymentError(Exception):
    """The bank said no."""


def agent_of(tracer: Tracer, *, careless: bool = False, fails_for: str = "", loops: int = 1):
    @tracer.observe(span_type="tool")
    def lookup_order(order_id: int) -> dict[str, object]:
        return {"customer": CUSTOMERS[order_id % 3], "amount": 12.5 + order_id, "success": order_id % 2}

    @tracer.observe(span_type="tool")
    def search_kb(query: str) -> str:
        return "Refunds take five days."

    @tracer.observe(span_type="tool")
    def refund(order_id: int, amount: float, customer: str) -> str:
        if customer == fails_for:
            raise PaymentError("card declined: issuer unavailable")
        return f"refunded {amount:.2f}"

    @tracer.observe(span_type="tool")
    def notify(customer: str, text: str) -> None:
        return None

    @tracer.observe(span_type="llm")
    def decide(model: str, messages: list[dict[str, str]]) -> str:
        return "refund"

    @tracer.observe(span_type="agent")
    def handle_ticket(message: str, order_id: int) -> str:
        customer = CUSTOMERS[order_id % 3]
        tracer.set_customer_id(customer)
        tracer.set_session_id(f"s-{order_id % 4}")
        tracer.set_tags(["prod", "mail" if order_id % 2 else "chat"])
        tracer.update_metadata({"release": "2.5.0" if careless else "2.4.0"})
        decide("gpt-5", [{"role": "system", "content": "Be kind."}, {"role": "user", "content": message}])
        order = lookup_order(order_id)
        for _ in range(loops):
            search_kb("refund policy")
        amount = float(order["amount"])
        receipt = refund(order_id, float(int(amount)) if careless else amount, customer)
        if not careless:
            notify(customer, receipt)
        return receipt

    return handle_ticket


def examples(count: int = 6) -> list[Example]:
    return [
        Example(
            name=f"refund-{number}",
            input={"message": f"Please refund my order {number}.", "order_id": number},
            expected_output="refunded",
            expected_tools=[
                {"tool_name": "lookup_order", "parameters": {"order_id": number}},
                {
                    "tool_name": "refund",
                    "parameters": {
                        "order_id": number,
                        "amount": 12.5 + number,
                        "customer": CUSTOMERS[number % 3],
                    },
                },
                {"tool_name": "notify"},
            ],
        )
        for number in range(count)
    ]


def fill(path: Path | str) -> SQLiteStore:
    """Two runs, an evaluation by a judge, a few traces of production; returns the store, flushed."""
    tracer = Tracer(project_name="shop", store=str(path))
    scorers = [ToolOrderScorer(), ContainsScorer(["refunded"])]
    good = agent_of(tracer)
    run_evaluation(examples(), scorers, function=good, tracer=tracer, eval_run_name="refunds", trials=2)
    worse = agent_of(tracer, careless=True, fails_for="acme", loops=6)
    run_evaluation(examples(), scorers, function=worse, tracer=tracer, eval_run_name="refunds", trials=2)
    judged(tracer)
    production = agent_of(tracer, fails_for="acme")
    for number in range(24):
        try:
            production(f"Where is my parcel {number}?", number)
        except PaymentError:
            pass
    assert tracer.flush(timeout=60)
    store = tracer.store
    assert isinstance(store, SQLiteStore)
    tracer.shutdown()
    return SQLiteStore(store.path)


def judged(tracer: Tracer) -> None:
    def reply(request):
        if "items" in request.fields:
            return {"items": ["Returns are free.", "They take a week."]}
        words = [("cost five", "no"), ("as stated", "yes")]
        return {"verdicts": [{"reason": reason, "verdict": verdict} for reason, verdict in words]}

    @tracer.observe(span_type="agent")
    def answer(question: str) -> str:
        return "Returns are free. They take a week."

    example = Example(
        name="returns",
        input={"question": "Are returns free?"},
        retrieval_context=["Returns cost 5 and take a week."],
    )
    scorer = FaithfulnessScorer(model=FakeChatModel(reply, cost=0.002), threshold=0.8)
    run_evaluation([example], [scorer], function=answer, tracer=tracer, eval_run_name="answers")


def trace_of(store: SQLiteStore, name: str = "handle_ticket") -> Trace:
    trace = store.trace(next(line.trace_id for line in store.traces(limit=1_000) if line.name == name))
    assert trace is not None
    return trace
