"""``agenttrace serve``: the pages of a store for a team, and the door for the spans of its agents."""

from __future__ import annotations

import click

from agenttrace.cli.store_option import place, shared_store, store_option
from agenttrace.core.errors import ConfigError, StoreError
from agenttrace.core.protocols import OnlyRead, optional
from agenttrace.service import Service, Tokens
from agenttrace.service.keeping import keeping_processes
from agenttrace.service.tokens import OneToken
from agenttrace.viewer.serving import PORT, guard_of, is_loopback, listen
from agenttrace.viewer.token_file import own_token, read_token
from agenttrace.work import Observing, read_rules


@click.command("serve")
@store_option
@click.option("--host", default="127.0.0.1", show_default=True, help="The address to listen on.")
@click.option(
    "--port", type=click.IntRange(0, 65_535), default=PORT, show_default=True, help="The port; 0 is any."
)
@click.option(
    "--token-file",
    metavar="FILE",
    help="Who knows the token in it may look. [default on loopback: your own token, as with view]",
)
@click.option("--no-token", is_flag=True, help="On loopback: let every user of this machine look, and send.")
@click.option(
    "--tokens",
    metavar="FILE",
    help="Who may send spans: lines of a token and a project. [default: the token of the pages]",
)
@click.option(
    "--rules", metavar="FILE", help="Have what arrives scored by `agenttrace work` as these rules say."
)
@click.option(
    "--processes",
    type=click.IntRange(0, 64),
    default=0,
    show_default=True,
    help="Processes that store what arrives, beside the one that answers; 0: that one does.",
)
@click.option("--read-only", is_flag=True, help="Take spans, and nothing else: not what people say.")
@click.option("--root-path", default="", metavar="/PATH", help="What addresses begin with, behind a proxy.")
@click.option(
    "--trusted-host", multiple=True, metavar="NAME", help="A name by which browsers reach it; repeat it."
)
def serve(
    store: str | None,
    host: str,
    port: int,
    token_file: str | None,
    no_token: bool,
    tokens: str | None,
    rules: str | None,
    processes: int,
    read_only: bool,
    root_path: str,
    trusted_host: tuple[str, ...],
) -> None:
    """Serve the pages of a store, such as a team's, and take spans for it, until Control-C.

    Beyond this machine only with a token: browsers enter with /?token=…, programs send it as a bearer. Spans
    come by OpenTelemetry: POST /v1/traces and /v1/logs. /healthz says whether the store can be used.
    """
    if not is_loopback(host) and token_file is None:
        raise ConfigError(
            f"{host} can be reached from other machines, so a token is needed: give --token-file FILE; make "
            "one with: python3 -c 'import secrets; print(secrets.token_urlsafe(32))' > FILE; chmod 600 FILE"
        )
    if no_token and token_file is not None:
        raise ConfigError("give either --token-file or --no-token")
    if root_path and (not root_path.startswith("/") or root_path.startswith("//") or root_path.endswith("/")):
        raise ConfigError(f"--root-path begins with one slash and ends without, got {root_path!r}")
    source = shared_store(store)
    token = None if no_token else own_token() if token_file is None else read_token(token_file)
    admits = OneToken(token) if tokens is None else Tokens(tokens)
    stored = None if rules is None else Observing(source, read_rules(rules)).arrived
    listener = listen(host, port)
    number = listener.getsockname()[1]
    shown = f"[{host}]" if ":" in host else host
    click.echo(f"http://{shown}:{number}{root_path}/ serves {place(source)} (Ctrl-C ends)")
    if optional(source, OnlyRead) is None:
        click.echo(f"spans are taken at http://{shown}:{number}/v1/traces", err=True)
    if token is None:
        click.echo("without a token: every user of this machine can read what is recorded", err=True)
    try:
        guard = guard_of(host, number, token, trusted_host, read_only=read_only)
        keepers = keeping_processes(processes, store, rules)
        service = Service(source, guard, admits, root=root_path, stored=stored, keepers=keepers)
        is_done = service.run(listener)
    finally:
        listener.close()
        source.close()
    if not is_done:
        raise StoreError(f"{place(source)} could not be written at the end; clients send again what they can")
