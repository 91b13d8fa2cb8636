"""``--only``, ``--tag``, ``--limit``: which examples of a file are run."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import wraps
from typing import Any

import click

from agenttrace.core.example import Example
from agenttrace.datasets.selection import selected


@dataclass(frozen=True, slots=True)
class SelectionOptions:
    """The names, or globs of names, and the tags of the examples that are run, and how many at most."""

    only: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    limit: int | None = None

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
    @wraps(command)
    def with_selection(
        *args: Any, only: tuple[str, ...], tags: tuple[str, ...], limit: int | None, **kwargs: Any
    ) -> Any:
        return command(*args, selection=SelectionOptions(only, tags, limit), **kwargs)

    return with_selection
