"""``agenttrace dataset convert``: a file of examples in another format."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import click

from agenttrace.cli.column_option import column_option
from agenttrace.core.errors import DatasetError
from agenttrace.datasets.dataset import EvalDataset, save_to
from agenttrace.reports.tree import count_text


@click.command("convert")
@click.argument("file", type=click.Path(exists=True, dir_okay=False))
@click.argument("target", type=click.Path(dir_okay=False))
@column_option
@click.option("--replace", is_flag=True, help="Replace TARGET if it is there.")
def dataset_convert(file: str, target: str, replace: bool, columns: Mapping[str, str | None]) -> None:
    """Write the examples of FILE to TARGET; the suffixes say the formats: .yaml, .json, .jsonl, .csv."""
    if Path(target).exists() and not replace:
        raise DatasetError("the file is there already; give another name, or --replace", path=target)
    dataset = EvalDataset.from_file(file, columns=columns)
    save_to(dataset, Path(target))
    click.echo(f"{target}: {count_text(len(dataset), 'example')}")
