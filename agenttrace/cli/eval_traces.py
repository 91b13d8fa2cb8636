"""``agenttrace eval traces``: score stored traces, in place."""

from __future__ import annotations

import shlex
import sys
import time
from collections.abc import Callable
from typing import Any

import click

from agenttrace.cli.fitted_table import Column, show_table
from agenttrace.cli.json_output import echo_json
from agenttrace.cli.loading import load_scorer
from agenttrace.cli.main import own_command
from agenttrace.cli.store_option import store_option
from agenttrace.cli.where_option import reading, say_that_none_match, where_option
from agenttrace.core.query import Query
from agenttrace.core.text import error_line
from agenttrace.evaluation.run import TIMEOUT
from agenttrace.evaluation.stored_traces import Scored, score_traces
from agenttrace.reports.terminal import number
from agenttrace.reports.text import safe_line
from agenttrace.store.kept import check_kept

_EVERY = 1.0
"""Seconds between two words of progress on a terminal."""


@click.command("traces")
@click.option(
    "--scorer",
    "scorer_names",
    metavar="NAME[:OPT=VAL,…]",
    multiple=True,
    required=True,
    help="Such as Loop, or pkg.mod:name of your own; repeat for more.",
)
@where_option
@store_option
@click.option("--model", help="The model that judges ask.")
@click.option("--limit", metavar="N", type=click.IntRange(1), help="The newest N of the traces that match.")
@click.option(
    "--processes", metavar="N", type=click.IntRange(1), help="Processes that score. [default: one a core]"
)
@click.option(
    "--concurrency",
    default=1,
    show_default=True,
    type=click.IntRange(1),
    help="Traces scored at a time in each process: more for judges, which wait.",
)
@click.option("--timeout", default=TIMEOUT, show_default=True, type=float, help="Seconds for a scorer.")
@click.option("--again", is_flag=True, help="Score anew what has such a score, which the new one replaces.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object a scorer, and one for all.")
@click.option("-q", "--quiet", is_flag=True, help="No progress on stderr.")
def eval_traces(
    scorer_names: tuple[str, ...],
    query: Query,
    store: str | None,
    as_json: bool,
    quiet: bool,
    **options: Any,
) -> int:
    """Score the traces that match; the scores stand beside their spans.

    Exit with 0 where all that was scored passed, 1 where some did not, 2 where a score is errored or no
    trace matches.
    """
    scorers = [load_scorer(name) for name in scorer_names]
    with reading(store) as (source, reads):
        scored = score_traces(source, scorers, query, progress=_progress(quiet), **options)
        check_kept(source)
        if not scored.traces:
            say_that_none_match(source, reads, query)
    _say_other_options(scored)
    if scored.traces or as_json:
        _show(scored, as_json, store)
    return 2 if not scored.traces or scored.count("errored") else 1 if scored.count("failed") else 0


def _progress(quiet: bool) -> Callable[[Scored], None]:
    began = shown = time.monotonic()

    def say(scored: Scored) -> None:
        nonlocal shown
        now = time.monotonic()
        if not quiet and sys.stderr.isatty() and now - shown >= _EVERY:
            shown = now
            rate = scored.traces / (now - began)
            click.echo(f"\r{scored.traces:,} traces, {rate:,.0f}/s", err=True, nl=False)

    return say


def _say_other_options(scored: Scored) -> None:
    for name, changes in scored.other_options.items():
        difference = safe_line("; ".join(changes), 400)
        click.echo(
            f"{safe_line(name)}: the store has scores of this name with other options ({difference}); lists "
            "and means count them together. A name of its own keeps them apart: --scorer "
            "'NAME:OPT=VAL,name=…'",
            err=True,
        )


def _show(scored: Scored, as_json: bool, store: str | None) -> None:
    outcomes = ("passed", "failed", "skipped", "errored")
    names = list(scored.outcomes)
    counts = {name: {word: scored.outcomes[name][word] for word in outcomes} for name in names}
    if as_json:
        for name in names:
            trace_id, why = scored.errors.get(name, ("", ""))
            error = {"error": {"trace_id": trace_id, "reason": error_line(why)}} if trace_id else {}
            echo_json({"scorer": name, **counts[name], "mean": scored.mean(name), **error})
        echo_json({"traces": scored.traces, "unchanged": scored.unchanged})
        return
    columns: list[Column] = [("SCORER", names)]
    columns += [(word.upper(), [str(counts[name][word]) for name in names]) for word in outcomes]
    means = [scored.mean(name) for name in names]
    columns.append(("MEAN", ["-" if mean is None else number(mean) for mean in means]))
    if names:
        show_table(columns)
    _show_errors(scored, store)
    line = f"{scored.traces:,} traces"
    click.echo(f"{line}, {scored.unchanged:,} of them had these scores" if scored.unchanged else line)


def _show_errors(scored: Scored, store: str | None) -> None:
    """Why scores are errored: of each scorer the first reason, and what to do."""
    for name, (trace_id, why) in scored.errors.items():
        others = scored.outcomes[name]["errored"] - 1
        more = f", and {others:,} more" if others else ""
        click.echo(
            f"{safe_line(name)} errored: {safe_line(error_line(why), 400)} (trace {trace_id[:12]}{more})"
        )
    if scored.errors:
        trace_id = next(iter(scored.errors.values()))[0]
        where = "" if store is None else f" --store {shlex.quote(store)}"
        click.echo(
            "mend that and run the same again: what is errored is scored anew; the first one is shown by: "
            f"{own_command()} traces show {trace_id[:12]}{where}"
        )
