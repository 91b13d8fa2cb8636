"""``agenttrace redact``: takes secrets out of traces that are stored."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import click

from agenttrace.cli.store_option import place, store_option
from agenttrace.cli.where_option import reading, say_that_none_match, where_option
from agenttrace.core.errors import StoreError
from agenttrace.core.query import Query
from agenttrace.redaction import Redaction
from agenttrace.redaction.options import LEVELS, Level
from agenttrace.reports.text import safe_line
from agenttrace.reports.tree import count_text
from agenttrace.store import SQLiteStore
from agenttrace.store.mending import Mended, mend


@click.command("redact")
@click.argument("traces", nargs=-1, metavar="[TRACE]...")
@where_option
@click.option(
    "--level", type=click.Choice(LEVELS), default="standard", show_default=True, help="Which rules."
)
@click.option("--name", "names", multiple=True, help="A further name that is secret; repeatable.")
@click.option(
    "--shape",
    "shapes",
    multiple=True,
    help="card, iban, email, phone, personal, or a regular expression; may be given again.",
)
@click.option("--except", "except_", multiple=True, help="A name that is left alone; may be given again.")
@click.option("--yes", is_flag=True, help="Do not ask.")
@store_option
def redact(
    traces: Sequence[str],
    query: Query,
    level: Level,
    names: Sequence[str],
    shapes: Sequence[str],
    except_: Sequence[str],
    yes: bool,
    store: str | None,
) -> None:
    """Take secrets out of the stored traces TRACE, or of those that match --where.

    Their spans, scores, annotations, results and pending evaluations are changed. The file is written anew,
    so that nothing of the old is left in its bytes; what was sent elsewhere is not changed.
    """
    if not traces and not query.terms:
        raise click.UsageError("name traces, or give --where, such as --where 'customer:acme'")
    redaction = Redaction(names, level=level, shapes=shapes, except_=except_)
    with reading(store) as (source, reads):
        if not isinstance(source, SQLiteStore) or place(source) != source.path:
            raise StoreError(f"there is no file to redact: {place(source)}")
        ids = [_whole_id(source, trace) for trace in traces]
        if query.terms:
            matches = [facts.trace_id for facts in reads.each_match(query)]
            ids = [one for one in ids if one in matches] if traces else matches
        if not ids:
            say_that_none_match(source, reads, query)
            return
        count = count_text(len(ids), "trace")
        if not yes and not click.confirm(f"redact {count} in {source.path}? It cannot be undone", err=True):
            click.echo("nothing was redacted", err=True)
            return
        path, timeout = source.path, source.busy_timeout
    mended = mend(path, timeout, ids, _cleaner(redaction))
    click.echo(f"redacted {count_text(mended.values, 'value')} of {count} in {safe_line(path)}")
    _say_what_is_left(path, mended)


def _say_what_is_left(path: str, mended: Mended) -> None:
    if not mended.log_is_empty:
        click.echo(
            f"another process is reading {safe_line(path)}: until it ends, old bytes stay in its log; "
            "then run: agenttrace traces vacuum",
            err=True,
        )


def _whole_id(source: SQLiteStore, prefix: str) -> str:
    trace = source.trace(prefix)
    if trace is None:
        raise StoreError(f"there is no trace {safe_line(prefix)} in {source.path}")
    return trace.trace_id


def _cleaner(redaction: Redaction) -> Any:
    def clean(column: str, value: Any) -> Any:
        if column.endswith(".input") and type(value) is dict:
            return redaction.fields(value)
        if column.endswith(".output"):
            return redaction.value("output", value)
        return redaction.inside(value)

    return clean
