"""``agenttrace dataset from-traces``: recorded runs become a file of examples."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from agenttrace.cli.main import own_command
from agenttrace.cli.store_option import place, store_option, store_to_read, trace_named
from agenttrace.core.errors import DatasetError, StoreError
from agenttrace.datasets.dataset import EvalDataset, save_to
from agenttrace.reports.tree import count_text
from agenttrace.store.trace_stream import iter_traces


@click.command("from-traces")
@click.argument("trace_ids", metavar="[ID]…", nargs=-1)
@click.option("--to", "target", required=True, metavar="FILE", help="A .yaml, .json, .jsonl or .csv file.")
@click.option("--project", help="Without ids: only traces of this project.")
@click.option(
    "--limit",
    default=50,
    show_default=True,
    type=click.IntRange(1, 100_000),
    help="Without ids: at most so many.",
)
@click.option(
    "--expect",
    default="calls",
    show_default=True,
    type=click.Choice(["calls", "names", "nothing"]),
    help="What later runs are to do.",
)
@click.option("--outputs", is_flag=True, help="Keep what the tools returned, too.")
@click.option("--replace", is_flag=True, help="Replace FILE if it is there.")
@store_option
def dataset_from_traces(
    trace_ids: tuple[str, ...],
    target: str,
    project: str | None,
    limit: int,
    expect: Any,
    outputs: bool,
    replace: bool,
    store: str | None,
) -> None:
    """Make examples of the traces with these ids, or of the newest; their calls are the expected ones."""
    if Path(target).exists() and not replace:
        raise DatasetError("the file is there already; give another name, or --replace", path=target)
    source = store_to_read(store)
    try:
        if trace_ids:
            traces = [trace_named(source, trace_id) for trace_id in trace_ids]
        else:
            traces = list(iter_traces(source, project=project, limit=limit))
        where = place(source)
    finally:
        source.close()
    if not traces:
        raise StoreError(f"there are no such traces in {where}; see: {own_command()} traces list")
    dataset = EvalDataset.from_traces(traces, expect=expect, outputs=outputs)
    save_to(dataset, Path(target))
    click.echo(f"{target}: {count_text(len(dataset), 'example')}")
