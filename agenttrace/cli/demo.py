"""``agenttrace demo``: a small agent, recorded and tested, then shown from the store."""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable

import click

from agenttrace.cli.main import own_command
from agenttrace.cli.store_option import store_option
from agenttrace.core.example import Example
from agenttrace.evaluation.evaluate import run_evaluation
from agenttrace.reports.terminal import report_lines
from agenttrace.reports.text import show, terminal_width
from agenttrace.reports.tree import trace_lines
from agenttrace.scorers import ToolOrderScorer
from agenttrace.tracer import Tracer


@click.command("demo")
@store_option
def demo(store: str | None) -> None:
    """Record a small agent, test it while it works and while it does not, show what is stored.

    No key, no network: the agent is a few lines of Python, its three tools too.
    """
    tracer = Tracer(project_name="demo", store=store)
    if not tracer.enabled:
        raise click.ClickException("AGENTTRACE_ENABLED=0 switches recording off; unset it to see the demo")
    scorers = [ToolOrderScorer()]
    click.echo("An agent refunds an order with three tools: lookup_order, refund, notify.")
    click.echo("\n1. It does what two examples expect:\n")
    good = refund_agent(tracer)
    show(report_lines(run_evaluation(EXAMPLES, scorers, function=good, tracer=tracer), terminal_width()))

    click.echo("\n2. A careless one refunds a round sum and forgets to tell the customer:\n")
    careless = refund_agent(tracer, careless=True)
    failing = run_evaluation(EXAMPLES[:1], scorers, function=careless, tracer=tracer)
    show(report_lines(failing, terminal_width()))

    click.echo("\n3. Every call of that run was recorded; this is read back from the store:\n")
    tracer.flush(timeout=5.0)
    trace = tracer.store.trace(str(failing[0].trace_id))
    if trace is None:
        raise click.ClickException("the run did not reach the store; the warning above says why")
    show(trace_lines(trace, tracer.store.scores(trace.trace_id)))
    store_argument = "" if store is None else f" --store {shlex.quote(store)}"
    click.echo(
        f"\nSee it again: {own_command()} traces show {trace.trace_id[:8]}{store_argument}"
        f"\nAll runs:     {own_command()} traces list{store_argument}"
    )


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
        """Do nothing: a real tool would send a message."""

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
