"""The options ``--only``, ``--tag``, ``--limit``: which examples of a file are run."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import click

F = TypeVar("F", bound=Callable[..., Any])


def selection_options(command: F) -> F:
    """Add the options to a command: `only`, `tags` and `limit` for `selected`."""
    for option in (
        click.option("--limit", metavar="N", type=click.IntRange(1), help="At most so many of them."),
        click.option(
            "--tag", "tags", metavar="TAG", multiple=True, help="Examples with this tag; repeat for more."
        ),
        click.option(
            "--only", metavar="NAME", multiple=True, help="Examples of this name or glob; repeat for more."
        ),
    ):
        command = option(command)
    return command
