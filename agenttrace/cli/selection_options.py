"""``--column``, ``--only``, ``--tag``, ``--limit``: which examples of a file are read and run."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import wraps
from typing import Any

import click

from agenttrace.cli.column_option import column_option
from agenttrace.core.example import Example
from agenttrace.datasets.dataset import EvalDataset
from agenttrace.datasets.selection import check_names, selected
from agenttrace.evaluation.assertion import examples_in
from agenttrace.scoring.example_scorers import check_example_scorers


@dataclass(frozen=True, slots=True)
class SelectionOptions:
    """The names, or globs of names, and the tags of the examples that are run, and how many at most.

    `columns` are those of the file that are no fields.
    """

    only: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    limit: int | None = None
    columns: Mapping[str, str | None] = field(default_factory=dict)

    def read(self, file: str) -> EvalDataset:
        """The examples of a file, before any is chosen. Raises as `examples_in`."""
        if not self.columns:
            return examples_in(file)
        dataset = EvalDataset.from_file(file, columns=self.columns)
        check_names(dataset)
        check_example_scorers(dataset)
        return dataset

    def of(self, examples: Sequence[Example]) -> list[Example]:
        """The examples that are run. Raises as `selected`."""
        return selected(examples, only=self.only, tags=self.tags, limit=self.limit)


def selection_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options to a command, which gets them as `selection`."""

    @click.option(
        "--only", metavar="NAME", multiple=True, help="Examples of this name or glob; repeat for more."
    )
    @click.option(
        "--tag", "tags", metavar="TAG", multiple=True, help="Examples with this tag; repeat for more."
    )
    @click.option("--limit", metavar="N", type=click.IntRange(1), help="At most so many of them.")
    @column_option
    @wraps(command)
    def with_selection(
        *args: Any,
        only: tuple[str, ...],
        tags: tuple[str, ...],
        limit: int | None,
        columns: Mapping[str, str | None],
        **kwargs: Any,
    ) -> Any:
        return command(*args, selection=SelectionOptions(only, tags, limit, columns), **kwargs)

    return with_selection
