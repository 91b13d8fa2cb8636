"""``agenttrace dataset from-run``: the examples of an evaluation run become a file, with what they did."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import Any

import click

from agenttrace.cli.main import own_command
from agenttrace.cli.run_option import HELP, stored_run
from agenttrace.cli.store_option import store_option, store_to_read
from agenttrace.core.errors import DatasetError, StoreError
from agenttrace.core.protocols import Store
from agenttrace.core.report import EvaluationReport, ScoringResult
from agenttrace.datasets.dataset import EvalDataset, save_to
from agenttrace.reports.tree import count_text


@click.command("from-run", epilog=HELP)
@click.argument("run", default="last")
@click.option("--to", "target", required=True, metavar="FILE", help="A .yaml, .json, .jsonl or .csv file.")
@click.option("--passed", is_flag=True, help="Only examples that passed, by their first trial that did.")
@click.option("--limit", metavar="N", type=click.IntRange(1), help="At most so many examples.")
@click.option(
    "--expect",
    default="calls",
    show_default=True,
    type=click.Choice(["calls", "names", "own", "nothing"]),
    help="What later runs are to do; own: what the example says.",
)
@click.option("--outputs", is_flag=True, help="Keep what the tools returned, too.")
@click.option("--replace", "replaces", is_flag=True, help="Replace FILE if it is there.")
@store_option
def dataset_from_run(
    run: str,
    target: str,
    passed: bool,
    limit: int | None,
    expect: Any,
    outputs: bool,
    replaces: bool,
    store: str | None,
) -> None:
    """Make examples of those of RUN (the newest without it); what they called is what is expected."""
    if Path(target).exists() and not replaces:
        raise DatasetError("the file is there already; give another name, or --replace", path=target)
    source = store_to_read(store)
    try:
        report = EvaluationReport.from_dict(stored_run(source, run))
        results = list(islice(_results(report, passed, source), limit))
    finally:
        source.close()
    if not results:
        raise StoreError(
            f"no example of the run {report.name!r} passed; see: {own_command()} runs show {run}"
        )
    dataset = EvalDataset.from_results(results, expect=expect, outputs=outputs)
    save_to(dataset, Path(target))
    click.echo(f"{target}: {count_text(len(dataset), 'example')}")


def _results(report: EvaluationReport, passed: bool, store: Store) -> Iterator[ScoringResult]:
    """The first result of each example, of those that passed on request, with its trace."""
    seen: set[int] = set()
    for result in report.results:
        if result.position not in seen and (result.success or not passed):
            seen.add(result.position)
            yield replace(result, trace=store.trace(result.trace_id) if result.trace_id else None)
