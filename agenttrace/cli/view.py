"""``agenttrace view``: the store in the browser, until Control-C."""

from __future__ import annotations

import os
import webbrowser
from urllib.parse import urlsplit

import click

from agenttrace.cli.annotate import user_name
from agenttrace.cli.main import own_command
from agenttrace.cli.store_option import shared_store, store_option
from agenttrace.core.errors import StoreError
from agenttrace.core.protocols import Store
from agenttrace.core.query_parsing import parse
from agenttrace.store import SQLiteStore
from agenttrace.store.viewer_note import Running, remove_note, running_viewer, write_note
from agenttrace.viewer.reads import Reads
from agenttrace.viewer.serving import cookie_name, guard_of, listen, serve
from agenttrace.viewer.stand_in import entry_code
from agenttrace.viewer.token_file import own_token

_HOST = "127.0.0.1"


@click.command("view")
@click.argument("what", required=False, metavar="[ID|last|failed]")
@store_option
@click.option("--port", type=click.IntRange(1, 65_535), help="Listen here. [default: 7717, or the next free]")
@click.option("--no-open", is_flag=True, help="Print the address, open no browser.")
@click.option("--no-token", is_flag=True, help="Let every user of this machine look.")
@click.option("--read-only", is_flag=True, help="Take nothing that is said of what is shown.")
def view(
    what: str | None, store: str | None, port: int | None, no_open: bool, no_token: bool, read_only: bool
) -> None:
    """Look at the store in the browser: traces, runs, comparisons, scores.

    ID is the beginning of a trace's or a run's id (four digits or more); last is the newest trace, failed
    the newest one that failed.
    """
    source = shared_store(store)
    path = _page_of(source, what)
    token = None if no_token else own_token()
    file = source.path if isinstance(source, SQLiteStore) else None
    running = None if port is not None or no_token or read_only or not file else running_viewer(file)
    if running is not None:
        click.echo(f"{running.url} shows this store already")
        _open(f"{running.url.rstrip('/')}{path}", token, no_open=no_open)
        return
    listener = listen(_HOST, port)
    number = listener.getsockname()[1]
    url = f"http://{_HOST}:{number}/"
    try:
        if no_token:
            click.echo("without a token: every user of this machine can read what is recorded", err=True)
        elif file is not None:  # first: who reads the line below may ask for this viewer at once
            write_note(file, Running(url, os.getpid()))
        click.echo(f"{_address(url.rstrip('/') + path, token if no_open else None)} (Ctrl-C ends)")
        _open(url.rstrip("/") + path, token, no_open=no_open)
        guard = guard_of(_HOST, number, token, read_only=read_only)
        serve(source, listener, guard, reader=user_name() or "")
    finally:
        if file is not None:
            remove_note(file, os.getpid())
        listener.close()
        source.close()


def _page_of(source: Store, what: str | None) -> str:
    """The path of the page that an argument means."""
    if what is None:
        return "/traces"
    if what in ("last", "failed"):
        reads = Reads.of(source).traces
        queries = ("",) if what == "last" else ("verdict:failed,errored", "status:error")
        newest = [facts for text in queries for facts in reads.search(parse(text), limit=1).traces]
        if not newest:
            raise StoreError(
                f"there is no trace that {'failed' if what == 'failed' else 'could be shown'} yet"
            )
        return f"/t/{max(newest, key=lambda facts: facts.start_ns).trace_id}"
    trace = source.trace(what)
    if trace is not None:
        return f"/t/{trace.trace_id}"
    run = source.run(what)
    if run is not None:
        return f"/r/{run['run_id']}"
    raise StoreError(f"no trace and no run begins with {what!r}; see: {own_command()} traces list")


def _address(url: str, token: str | None) -> str:
    return url if token is None else f"{url}?token={token}"


def _open(url: str, token: str | None, *, no_open: bool) -> None:
    """Open the browser: its command line has a code for once, since all users of the machine can read it."""
    if no_open:
        return
    if token is not None:
        url += f"?enter={entry_code(token, cookie_name(urlsplit(url).port or 0))}"
    webbrowser.open(url)
