"""``agenttrace traces delete``: deletes the traces that match a query."""

from __future__ import annotations

import click

from agenttrace.cli.asking import agreed
from agenttrace.cli.store_option import place, store_option
from agenttrace.cli.where_option import reading, say_that_none_match, where_option
from agenttrace.core.query import Query
from agenttrace.reports.tree import count_text


@click.command("delete")
@store_option
@where_option
@click.option("--yes", is_flag=True, help="Do not ask.")
def traces_delete(store: str | None, query: Query, yes: bool) -> None:
    """Delete the traces that match --where, with their scores; those of evaluation runs stay.

    It says how many they are, and asks. New traces have room in the file then; `traces vacuum` gives it back
    to the disk.
    """
    if not query.terms:
        raise click.UsageError("give --where, such as --where 'customer:acme'")
    with reading(store) as (source, reads):
        ids = [facts.trace_id for facts in reads.each_match(query)]
        if not ids:
            say_that_none_match(source, reads, query)
            return
        traces = count_text(len(ids), "trace")
        if not yes and not agreed(f"delete {traces} from {place(source)}?"):
            click.echo("nothing was deleted", err=True)
            return
        deleted = sum(source.delete_trace(trace_id) for trace_id in ids)
        click.echo(f"deleted {count_text(deleted, 'trace')} from {place(source)}")
