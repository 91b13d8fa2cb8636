"""The option ``--where``: the traces that a command is about, and what it says where there are none."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, TypeVar

import click

from agenttrace.cli.main import own_command
from agenttrace.cli.store_option import place, store_to_read
from agenttrace.core.protocols import Store
from agenttrace.core.query import Labelled, Query
from agenttrace.core.query_parsing import parse
from agenttrace.core.trace_reads import IndexState, TraceReads
from agenttrace.reports.text import safe
from agenttrace.store.index_reads import IndexReads
from agenttrace.store.searched import reads_of

F = TypeVar("F", bound=Callable[..., Any])

_QUIET_SECONDS = 1.0


def where_option(command: F) -> F:
    """Add the option ``--where`` to a command, which gets a `Query`."""
    return click.option(
        "--where",
        "query",
        metavar="QUERY",
        default="",
        callback=lambda _context, _parameter, text: parse(text),
        help="Only traces that match, such as 'failed:refund customer:acme since:2d'; see docs/queries.md.",
    )(command)


def narrowed(query: Query, **labels: str | None) -> Query:
    """The query with the labels that other options ask for."""
    return query.and_(*(Labelled(key, (value,)) for key, value in labels.items() if value is not None))


@contextmanager
def reading(path: str | None) -> Iterator[tuple[Store, TraceReads]]:
    """The store that ``--store`` names, with what answers queries; an index that takes long says so."""
    store = store_to_read(path)
    try:
        reads = reads_of(store)
        if isinstance(reads, IndexReads):
            _bring_up_to_date(reads)
        yield store, reads
    finally:
        store.close()


def _bring_up_to_date(reads: IndexReads) -> None:
    began = time.monotonic()

    def progress(state: IndexState) -> None:
        if sys.stderr.isatty() and time.monotonic() - began > _QUIET_SECONDS:
            click.echo(f"\rindexing, once: {state.done:,} of {state.total:,} traces", err=True, nl=False)

    reads.refresh(progress=progress)
    if sys.stderr.isatty() and time.monotonic() - began > _QUIET_SECONDS:
        click.echo("", err=True)


def say_that_none_match(store: Store, reads: TraceReads, query: Query) -> None:
    """Say on stderr that no trace matches, and because of which term."""
    if not query.terms or not reads.count_matches(Query(), most=1).number:
        click.echo(
            f"no traces found in {place(store)}; decorate an agent with @tracer.observe and run it, "
            f"or try: {own_command()} demo",
            err=True,
        )
        return
    click.echo(safe(f"no traces found in {place(store)}; {_why_none(reads, query)}"), err=True)


def _why_none(reads: TraceReads, query: Query) -> str:
    for term in query:
        if not reads.count_matches(Query((term,)), most=1).number:
            return f"none matches {term}"
    for count in range(1, len(query)):
        if not reads.count_matches(Query(query.terms[: count + 1]), most=1).number:
            return f"none that matches {Query(query.terms[:count])} matches {query.terms[count]} as well"
    return "none matches"
