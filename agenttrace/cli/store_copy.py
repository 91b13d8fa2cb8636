"""``agenttrace store copy``: everything in one store, or a part of it, into another."""

from __future__ import annotations

import os
import sys
import time

import click

from agenttrace.cli.fitted_table import show_table
from agenttrace.cli.json_output import echo_json
from agenttrace.cli.store_option import place, shared_store
from agenttrace.cli.tables import json_option
from agenttrace.cli.where_option import where_option
from agenttrace.core.errors import StoreError
from agenttrace.core.query import Query
from agenttrace.store import SQLiteStore
from agenttrace.store.copying import CopiedKinds, copy_store

MISSING = 1
"""The exit code where something was copied, and is not there as it is."""

_EVERY_SECONDS = {True: 0.5, False: 30.0}
"""Seconds between two words on progress, on a terminal and elsewhere."""


@click.command("copy")
@click.argument("source", metavar="FROM")
@click.argument("target", metavar="TO")
@where_option
@json_option
def store_copy(source: str, target: str, query: Query, as_json: bool) -> int:
    """Copy the store FROM, a file or an address, to the store TO, and compare what is there then.

    What TO has already is not written again: a copy that was interrupted goes on when it is called again, and
    nothing is there twice. With --where only traces that match, with their scores and annotations.
    """
    old = shared_store(source)
    if isinstance(old, SQLiteStore) and not os.path.lexists(old.path):
        raise StoreError(f"there is no store at {old.path} to copy from")
    new = shared_store(target)
    if isinstance(new, SQLiteStore):
        _make_file(new.path)
    progress = _Progress()
    try:
        where_to = new.path if isinstance(new, SQLiteStore) else place(new)
        copied = copy_store(old, new, query, progress=progress)
        where_from = place(old)
    finally:
        progress.end()
        new.close()
        old.close()
    _show(copied, as_json)
    if copied.missing:
        kinds = ", ".join(f"{number:,} {kind}" for kind, number in copied.missing.items())
        click.echo(f"Error: {where_to} has not, or has otherwise: {kinds}", err=True)
        return MISSING
    click.echo(f"{where_to} has everything that was copied from {where_from}", err=True)
    return 0


def _make_file(path: str) -> None:
    """Make the file, which the copy would wait for a minute for where it cannot be made.

    Raises:
        StoreError: it cannot be made or written.
    """
    try:
        os.makedirs(os.path.dirname(os.path.abspath(path)), exist_ok=True)
        os.close(os.open(path, os.O_RDWR | os.O_CREAT, 0o600))
    except OSError as error:
        raise StoreError(f"{path} cannot be written: {error.strerror}") from error


def _show(copied: CopiedKinds, as_json: bool) -> None:
    kinds = [(kind, counts) for kind, counts in copied.by_kind.items() if counts.looked_at]
    if as_json:
        for kind, counts in kinds:
            echo_json({"kind": kind, "from": counts.looked_at, "written": counts.written, "to": counts.there})
        return
    if not kinds:
        click.echo("nothing to copy")
        return
    show_table(
        [
            ("KIND", [kind for kind, _ in kinds]),
            ("FROM", [f"{counts.looked_at:,}" for _, counts in kinds]),
            ("WRITTEN", [f"{counts.written:,}" for _, counts in kinds]),
            ("TO", [f"{counts.there:,}" for _, counts in kinds]),
        ]
    )


class _Progress:
    """Says on stderr how far a copy is: on a terminal in one line, elsewhere every half minute."""

    def __init__(self) -> None:
        self._is_terminal = sys.stderr.isatty()
        self._last = time.monotonic()
        self._has_line = False

    def __call__(self, kind: str, number: int) -> None:
        now = time.monotonic()
        if now - self._last < _EVERY_SECONDS[self._is_terminal]:
            return
        self._last = now
        self._has_line = self._is_terminal
        click.echo(
            f"\r\x1b[K{kind}: {number:,}" if self._is_terminal else f"{kind}: {number:,}",
            err=True,
            nl=not self._is_terminal,
        )

    def end(self) -> None:
        """Leave the line."""
        if self._has_line:
            click.echo("", err=True)
