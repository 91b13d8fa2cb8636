"""``agenttrace redact``: takes secrets out of traces that are stored."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from itertools import islice
from typing import Any

import click

from agenttrace.cli.asking import agreed
from agenttrace.cli.run_option import stored_run
from agenttrace.cli.store_option import place, store_option, trace_named
from agenttrace.cli.where_option import reading, say_that_none_match, where_option
from agenttrace.core import semconv
from agenttrace.core.errors import StoreError
from agenttrace.core.protocols import Store
from agenttrace.core.query import Query
from agenttrace.redaction import Redaction
from agenttrace.redaction.fields import is_labelled_secret
from agenttrace.redaction.options import LEVELS, Level
from agenttrace.redaction.repeated import (
    IDS,
    secret_texts,
    taken_out_of,
    without_repeated,
    without_repeated_in,
)
from agenttrace.redaction.spans import without_given
from agenttrace.reports.text import safe_line
from agenttrace.reports.tree import count_text
from agenttrace.store import SQLiteStore
from agenttrace.store.mending import Clean, Mended, Row, Which, mend


@click.command("redact")
@click.argument("traces", nargs=-1, metavar="[TRACE]...")
@where_option
@click.option("--run", "runs", multiple=True, help="A run: its results, scores and traces; repeatable.")
@click.option("--dataset", "datasets", multiple=True, help="A pushed dataset, in all versions; repeatable.")
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
    runs: Sequence[str],
    datasets: Sequence[str],
    level: Level,
    names: Sequence[str],
    shapes: Sequence[str],
    except_: Sequence[str],
    yes: bool,
    store: str | None,
) -> None:
    """Take secrets out of the stored traces TRACE, or of those that match --where, of runs and of datasets.

    Spans, scores, annotations, results and pending evaluations of the traces are changed, the names and
    metadata of their runs, and what all traces share: functions that were called in them, and the tools of
    their projects. Results of a function that recorded no call have no trace: --run reaches them. The file,
    or the tables on the server, are written anew, so that nothing of the old is left in their bytes; what was
    sent elsewhere is not changed.
    """
    if not (traces or query.terms or runs or datasets):
        raise click.UsageError(
            "name traces, or give --where, such as --where 'customer:acme', --run or --dataset"
        )
    redaction = Redaction(names, level=level, shapes=shapes, except_=except_)
    with reading(store) as (source, reads):
        mending = _mending(source)
        ids = [trace_named(source, prefix).trace_id for prefix in traces]
        if query.terms:
            matches = [facts.trace_id for facts in reads.each_match(query)]
            ids = [one for one in ids if one in matches] if traces else matches
        if not (ids or runs or datasets):
            say_that_none_match(source, reads, query)
            return
        which = _with_runs(source, ids, runs, datasets)
        count = _count(traces=len(ids), runs=len(which.runs), datasets=len(datasets))
        where = place(source)
        if not yes and not agreed(f"redact {count} in {where}? It cannot be undone"):
            click.echo("nothing was redacted", err=True)
            return
    try:
        mended = mending(which, _cleaner(redaction))
    finally:
        source.close()
    click.echo(f"redacted {count_text(mended.values, 'value')} of {count} in {safe_line(where)}")
    if isinstance(source, SQLiteStore):
        _say_what_is_left(where, mended)
    elif mended.values:
        old = "old bytes stay in the server's log until it is recycled, and in its replicas and backups"
        rest = "" if mended.log_is_empty else "; this user may not ask for a checkpoint"
        click.echo(f"{old}{rest}", err=True)


def _with_runs(source: Store, traces: Sequence[str], runs: Sequence[str], datasets: Sequence[str]) -> Which:
    """The traces, with all of some runs, and some datasets.

    Raises:
        StoreError: there is no such run or dataset.
    """
    stored = [stored_run(source, run) for run in runs]
    of_runs = (result["trace_id"] for run in stored for result in run["results"] if result["trace_id"])
    pushed = {alias for _, alias, _ in source.datasets()}
    for dataset in datasets:
        if dataset not in pushed:
            raise StoreError(f"there is no dataset {safe_line(dataset)} in {place(source)}")
    return Which(list(dict.fromkeys((*traces, *of_runs))), [run["run_id"] for run in stored], datasets)


def _count(*, traces: int, runs: int, datasets: int) -> str:
    """``2 traces and 1 run``: those of a run are not counted on their own."""
    kinds = ((traces, "trace"), (runs, "run"), (datasets, "dataset"))
    counts = [count_text(number, kind) for number, kind in kinds if number]
    return " and ".join((", ".join(counts[:-1]), counts[-1])) if counts[1:] else counts[0]


def _mending(source: Store) -> Callable[[Which, Clean], Mended]:
    """What redacts in a store.

    Raises:
        StoreError: nothing does in such a one.
    """
    from agenttrace.store.postgres import PostgresStore

    if isinstance(source, PostgresStore):
        return source.mend
    if not isinstance(source, SQLiteStore) or place(source) != source.path:
        raise StoreError(f"there is no file to redact: {place(source)}; run it where its store is")
    return partial(mend, source.path, source.busy_timeout)


def _say_what_is_left(path: str, mended: Mended) -> None:
    if mended.requests:
        requests = count_text(mended.requests, "request")
        click.echo(f"removed {requests} about them that a version before 0.2 had kept to be sent", err=True)
    if not mended.log_is_empty:
        click.echo(
            f"another process is reading {safe_line(path)}: until it ends, old bytes stay in its log; "
            "then run: agenttrace traces vacuum",
            err=True,
        )


_MOST_KNOWN = 1_000
"""Secrets of spans that are looked for in what is stored beside them."""


def _cleaner(redaction: Redaction) -> Clean:
    known: set[str] = set()  # of the spans, which come before their scores and what else is said of them

    def clean(_: str, rows: list[Row]) -> list[Row]:
        joined = [_with_stream_joined(redaction, row) for row in rows]
        cleaned = [{name: _clean(redaction, name, value) for name, value in row.items()} for row in joined]
        secrets = _secrets([row.get("input") for row in rows], redaction)
        for row, old in zip(cleaned, rows, strict=True):
            if "input" in row and "output" in row:  # of a span
                arguments = row["input"] if type(row["input"]) is dict else None
                row["output"] = without_given("", arguments, row["output"], redaction)
                secrets |= taken_out_of(old["output"], row["output"])
            _hide_labelled(row, old, redaction)
        secrets.difference_update(_ids(rows))
        known.update(islice(secrets, max(_MOST_KNOWN - len(known), 0)))
        repeated = secrets or known
        cleaned = [
            {name: without_repeated_in(value, repeated) for name, value in row.items()} for row in cleaned
        ]
        for row, old in zip(cleaned, rows, strict=True):
            rest, example = row.get("rest"), old.get("example")
            if type(rest) is dict and type(error := rest.get("error")) is dict:  # of a span
                row["rest"] = {**rest, "error": {**error, "message": _without(error.get("message"), secrets)}}
            if type(example) is dict:  # of a result
                row["error"] = _without(row.get("error"), _secrets([example.get("input")], redaction))
        return cleaned

    return clean


def _hide_labelled(row: Row, old: Row, redaction: Redaction) -> None:
    """Take the note of an annotation out, or the reason of a score, where its label says it is a secret."""
    for label, text in (("label", "note"), ("name", "reason")):
        words = old.get(text)
        may_be_secret = type(words) is str and (text == "note" or " " not in words)
        if may_be_secret and is_labelled_secret(old.get(label), words, redaction):
            row[text] = str(redaction.taken_out(words))


def _ids(rows: Iterable[Row]) -> Iterator[Any]:
    """The ids by which the traces of some spans are found."""
    for row in rows:
        rest = row.get("rest")
        attributes = rest.get("attributes") if type(rest) is dict else None
        yield from (attributes[key] for key in IDS if key in attributes) if type(attributes) is dict else ()


def _with_stream_joined(redaction: Redaction, row: Row) -> Row:
    """The row of a span without secrets that are split over what its generator yielded."""
    rest, output = row.get("rest"), row.get("output")
    if (
        type(rest) is not dict
        or semconv.ITEMS not in (rest.get("attributes") or ())
        or type(output) is not list
    ):
        return row
    return {**row, "output": redaction.stream(output)}


def _secrets(inputs: Iterable[Any], redaction: Redaction) -> set[str]:
    """What messages may repeat: the secrets among what the calls of a trace, or one example, were given."""
    named = (values.items() for values in inputs if type(values) is dict)
    return set().union(*(secret_texts(pairs, redaction) for pairs in named))


def _without(message: Any, secrets: set[str]) -> Any:
    return without_repeated(message, secrets) if type(message) is str else message


def _clean(redaction: Redaction, column: str, value: Any) -> Any:
    """What a column holds, without secrets: each value by its name, as when it was recorded."""
    if column in ("input", "metadata") and type(value) is dict:
        return redaction.fields(value)
    if column == "output":
        return redaction.value("output", value)
    if column == "definition" and type(value) is dict:
        parameters = value.get("parameters")
        listed = parameters if type(parameters) is list else []
        return {**redaction.inside(value), "parameters": [_parameter(redaction, one) for one in listed]}
    return redaction.inside(value)


def _parameter(redaction: Redaction, entry: Any) -> Any:
    if type(entry) is dict and type(entry.get("name")) is str and "default" in entry:
        return {**redaction.inside(entry), "default": redaction.value(entry["name"], entry["default"])}
    return redaction.inside(entry)
