"""``agenttrace work``: do the evaluations that wait in a store."""

from __future__ import annotations

import asyncio
import signal
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import click

from agenttrace.cli.json_output import echo_json
from agenttrace.cli.loading import load_scorer
from agenttrace.cli.store_option import place, store_option, store_to_read
from agenttrace.core.errors import StoreError
from agenttrace.core.pending import QueuesWork
from agenttrace.core.protocols import Scorer, Store, optional
from agenttrace.reports.text import safe
from agenttrace.work.rules import Rule, read_rules, usable_scorers
from agenttrace.work.worker import CONCURRENCY, LEASE_SECONDS, Worker

_ON_CHANGE_SECONDS = 10.0
_ALWAYS_SECONDS = 60.0


@click.command("work")
@store_option
@click.option("--rules", "rules_file", metavar="FILE", help="The rules whose evaluations it does.")
@click.option(
    "--scorer",
    "scorer_names",
    metavar="NAME[:OPT=VAL,…]",
    multiple=True,
    help="A scorer of async_evaluate, or pkg.mod:name: what processes left undone is resumed. Repeat it.",
)
@click.option("--model", help="The model that judges ask where a rule names none.")
@click.option(
    "--project", "projects", multiple=True, help="Resume what was left in this one alone. Repeat it."
)
@click.option("--concurrency", default=CONCURRENCY, show_default=True, type=click.IntRange(1, 1_000))
@click.option(
    "--lease",
    default=LEASE_SECONDS,
    show_default=True,
    type=click.FloatRange(1.0, 86_400.0),
    help="Seconds without a sign of life after which others take an evaluation.",
)
@click.option("--once", is_flag=True, help="End when nothing is due.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object a line.")
def work(
    store: str | None,
    rules_file: str | None,
    scorer_names: tuple[str, ...],
    model: str | None,
    projects: tuple[str, ...],
    as_json: bool,
    once: bool,
    **options: Any,
) -> int:
    """Do the evaluations that wait in a store, until SIGTERM or Control-C.

    Any number of workers, on any number of machines, may share a store: each evaluation is scored once. What
    a worker that is told to end has begun, it gives back. With --once, exit with 1 where something could not
    be evaluated, and with 2 where the store cannot be used.
    """
    rules = [] if rules_file is None else read_rules(rules_file, model=model)
    scorers: list[Scorer] = [load_scorer(name) for name in scorer_names]
    scorers = list(usable_scorers(scorers, model)) if scorers else []
    if not rules and not scorers:
        raise click.UsageError("give --rules FILE, --scorer NAME, or both: they say what it can do")
    source = store_to_read(store)
    say = _Saying(source, as_json=as_json)
    try:
        worker = Worker(source, rules, scorers, projects=projects, say=say.text, **options)
        with _ending(worker):
            say.start(worker, rules, scorers, options)
            asyncio.run(_run(worker, say, once=once))
        say.end(worker)
    finally:
        source.close()
    return 1 if once and worker.counts.failed else 0


async def _run(worker: Worker, say: _Saying, *, once: bool) -> None:
    saying = asyncio.get_running_loop().create_task(say.now_and_then(worker))
    try:
        await worker.run(once=once)
    finally:
        saying.cancel()


@contextmanager
def _ending(worker: Worker) -> Iterator[None]:
    """Let the signals that end a process stop the worker instead."""
    numbers = (signal.SIGTERM, signal.SIGINT)
    before = [signal.signal(number, lambda *_: worker.stop()) for number in numbers]
    try:
        yield
    finally:
        for number, handler in zip(numbers, before, strict=True):
            signal.signal(number, handler)


class _Saying:
    """Says what the worker does: as lines of text, or of JSON."""

    def __init__(self, store: Store, *, as_json: bool) -> None:
        self._store = store
        self._as_json = as_json
        self._last: tuple[float, dict[str, int]] = (time.monotonic(), {})
        self._last_text = ""

    def _line(self, event: str, text: str, **fields: Any) -> None:
        if self._as_json:
            echo_json({"event": event, **fields} if fields else {"event": event, "text": text})
        else:
            click.echo(safe(text))

    def text(self, text: str) -> None:
        """What the worker has to say; the same twice in a row is said once."""
        if text != self._last_text:
            self._last_text = text
            self._line("trouble", text)

    def start(
        self, worker: Worker, rules: Sequence[Rule], scorers: Sequence[Scorer], options: dict[str, Any]
    ) -> None:
        """Say what it is going to do."""
        names = [f"{rule.name} ({', '.join(one.name for one in rule.scorers)})" for rule in rules]
        what = [f"rules: {'; '.join(names)}"] if rules else []
        if scorers:
            what.append(f"what processes left undone, by {', '.join(one.name for one in scorers)}")
        self._line(
            "start",
            f"works on {place(self._store)}, {options['concurrency']} at a time, leases of "
            f"{options['lease']:g} s; {'; '.join(what)}",
            store=place(self._store),
            owner=worker.owner,
            rules={rule.name: [one.name for one in rule.scorers] for rule in rules},
            scorers=[one.name for one in scorers],
            **options,
        )

    async def now_and_then(self, worker: Worker) -> None:
        """Say what was done, once a minute, or ten seconds after it has changed."""
        while True:
            await asyncio.sleep(1)
            last_at, last_counts = self._last
            now, counts = time.monotonic(), worker.counts.to_dict()
            pause = _ALWAYS_SECONDS if counts == last_counts else _ON_CHANGE_SECONDS
            if now - last_at >= pause:
                self._last = (now, counts)
                await asyncio.get_running_loop().run_in_executor(None, self._status, "status", counts)

    def end(self, worker: Worker) -> None:
        """Say what was done in all."""
        self._status("end", worker.counts.to_dict())

    def _status(self, event: str, counts: dict[str, int]) -> None:
        queueing = optional(self._store, QueuesWork)
        try:
            by_project = {} if queueing is None else queueing.work_queue().counts()
        except StoreError:
            by_project = {}
        due = sum(one.due for one in by_project.values())
        resting = sum(one.resting for one in by_project.values())
        shown = ", ".join(f"{name} {number}" for name, number in counts.items() if number or name == "done")
        self._line(event, f"{shown}; {due} are due, {resting} rest", **counts, due=due, resting=resting)
