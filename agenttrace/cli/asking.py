"""`agreed`: ask before what cannot be undone, and say so where there is nobody to ask."""

from __future__ import annotations

import sys

import click


def agreed(question: str) -> bool:
    """Ask on stderr. Returns whether the answer is yes.

    Raises:
        click.UsageError: nobody is there, and no answer came: ``--yes`` stands for one.
        click.Abort: Control-C at the question.
    """
    try:
        return click.confirm(question, err=True)
    except click.Abort:
        if sys.stdin is not None and sys.stdin.isatty():
            raise
        raise click.UsageError("there is nobody to ask; give --yes") from None
