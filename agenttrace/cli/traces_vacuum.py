"""``agenttrace traces vacuum``: gives the room of deleted traces back to the disk."""

from __future__ import annotations

import click

from agenttrace.cli.store_option import place, store_option, store_to_read
from agenttrace.core.errors import StoreError
from agenttrace.store import SQLiteStore
from agenttrace.store.vacuum import vacuum


@click.command("vacuum")
@store_option
def traces_vacuum(store: str | None) -> None:
    """Give back to the disk what deleted traces took; says how many bytes that was.

    The file is written anew: recording processes wait meanwhile, and the disk needs room for a copy.
    """
    source = store_to_read(store)
    try:
        if not isinstance(source, SQLiteStore) or place(source) != source.path:
            raise StoreError(f"there is no file to vacuum: {place(source)}")
        path = source.path
        size = vacuum(path, source.busy_timeout)
    finally:
        source.close()
    gone = max(size.before - size.after, 0)
    click.echo(f"{path}: {size.before:,} bytes before, {size.after:,} after; {gone:,} given back")
