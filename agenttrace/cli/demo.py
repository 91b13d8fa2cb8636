"""``agenttrace demo``: a small agent, recorded and tested, then shown from the store."""

from __future__ import annotations

import os
import re
import shlex
import time
from collections.abc import Callable

import click

from agenttrace.cli.main import own_command
from agenttrace.core.errors import ConfigError, StoreError
from agenttrace.core.example import Example
from agenttrace.core.report import EvaluationReport
from agenttrace.evaluation.evaluate import run_evaluation
from agenttrace.reports.terminal import report_lines
from agenttrace.reports.text import show, terminal_width
from agenttrace.reports.tree import trace_lines
from agenttrace.scorers import ToolOrderScorer
from agenttrace.store import SQLiteStore, open_store
from agenttrace.tracer import Tracer

DEFAULT_PATH = "./.agenttrace/demo.db"
"""A file of its own: what is planted must not lie among what somebody has recorded."""

_ASK = (
    ("which example got worse?", "runs compare {before} {after}"),
    ("where did it loop?", "traces list --where looped:6"),
    ("whose refunds fail?", "traces list --where failed:refund"),
    ("what goes wrong?", "failures"),
)


@click.command("demo")
@click.option(
    "--store",
    metavar="PATH",
    default=DEFAULT_PATH,
    show_default=True,
    help="The file to plant, or one that was planted before.",
)
def demo(store: str) -> None:
    """Record a small agent, test it while it works and while it does not, show what is stored.

    Beside it lie two weeks of a support desk, to be looked at: a release that made an example worse, a flaky
    one, a loop, a customer whose refunds fail, a score that falls, verdicts of a judge. No key, no network:
    agents, tools and the judge are a few lines of Python.
    """
    if not Tracer(project_name="demo", store="memory").enabled:
        raise click.ClickException("AGENTTRACE_ENABLED=0 switches recording off; unset it to see the demo")
    path = _planted(store)
    tracer = Tracer(project_name="demo", store=path)
    _small_agent(tracer, store)
    tracer.shutdown()
    argument = f"--store {shlex.quote(store)}"
    click.echo("\n4. Two weeks of a support desk are in the same file. Ask it:\n")
    runs = [run.run_id[:8] for run in SQLiteStore(path).runs(limit=100) if run.name == "refunds"]
    for question, command in _ASK:
        command = command.format(after=runs[0], before=runs[1])
        click.echo(f"{question:<26}{own_command()} {command} {argument}")
    click.echo(f"\nIn the browser: {own_command()} view {argument}")


def _planted(store: str) -> str:
    """The path of a demo store, which is planted where nothing is yet.

    Raises:
        ConfigError: the option names no file.
        StoreError: there is something else.
    """
    from agenttrace.cli.demo_history import plant, planted  # it needs the judges

    source = open_store(store)
    if not isinstance(source, SQLiteStore):
        raise ConfigError("the demo is planted in a file, to be looked at afterwards; give --store a path")
    path = source.path
    if not os.path.lexists(path):
        plant(path, time.time_ns())
        return path
    try:
        state = planted(source)
    finally:
        source.close()
    if state == "no":
        raise StoreError(
            f"{path} is no demo store, and the demo writes into no other; give --store a path with no file"
        )
    if state == "partly":
        raise StoreError(f"planting {path} was interrupted; delete that file and try again")
    return path


def _small_agent(tracer: Tracer, path: str) -> None:
    """Three steps that are shown as they are done: it works, it does not, what was recorded."""
    click.echo("An agent refunds an order with three tools: lookup_order, refund, notify.")
    click.echo("\n1. It does what two examples expect:\n")
    good = refund_agent(tracer)
    show(report_lines(_evaluated(EXAMPLES, good, tracer), terminal_width()))

    click.echo("\n2. A careless one refunds a round sum and forgets to tell the customer:\n")
    careless = refund_agent(tracer, careless=True)
    failing = _evaluated(EXAMPLES[:1], careless, tracer)
    show(report_lines(failing, terminal_width()))

    click.echo("\n3. Every call of that run was recorded; this is read back from the store:\n")
    tracer.flush(timeout=5.0)
    trace = tracer.store.trace(str(failing[0].trace_id))
    if trace is None:
        raise click.ClickException("the run did not reach the store; the warning above says why")
    show(trace_lines(trace, tracer.store.scores(trace.trace_id)))
    click.echo(
        f"\nSee it again: {own_command()} traces show {trace.trace_id[:8]} --store {shlex.quote(path)}"
        f"\nAll runs:     {own_command()} traces list --store {shlex.quote(path)}"
    )


def _evaluated(examples: list[Example], agent: Callable[[str], str], tracer: Tracer) -> EvaluationReport:
    return run_evaluation(
        examples, [ToolOrderScorer()], function=agent, tracer=tracer, eval_run_name="small agent"
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
