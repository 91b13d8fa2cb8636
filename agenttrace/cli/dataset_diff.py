"""``agenttrace dataset diff``: which examples two files do not have in common."""

from __future__ import annotations

import click

from agenttrace.core.example import Example
from agenttrace.datasets.dataset import EvalDataset
from agenttrace.datasets.differences import compared
from agenttrace.reports.text import safe

DIFFERENT = 1


@click.command("diff")
@click.argument("before", type=click.Path(exists=True, dir_okay=False))
@click.argument("after", type=click.Path(exists=True, dir_okay=False))
def dataset_diff(before: str, after: str) -> int:
    """Show the examples that were added (+), removed (-) and changed (~); exit with 1 if there are any."""
    result = compared(EvalDataset.from_file(before), EvalDataset.from_file(after))
    for example in result.removed:
        click.echo(safe(f"- {_title(example)}"))
    for example in result.added:
        click.echo(safe(f"+ {_title(example)}"))
    for change in result.changed:
        click.echo(safe(f"~ {_title(change.after)}: {', '.join(change.fields)}"))
    click.echo(
        f"{len(result.added)} added, {len(result.removed)} removed, {len(result.changed)} changed, "
        f"{result.same} the same"
    )
    return 0 if result.is_empty else DIFFERENT


def _title(example: Example) -> str:
    return f"{example.source or ''} {example.name or ''}".strip()
