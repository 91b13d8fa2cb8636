"""What a reader may have meant whose query matches nothing: an id without ``id:``, a misspelt value."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from difflib import get_close_matches
from typing import NamedTuple

from agenttrace.core.query import EVERYTHING, Identified, Labelled, Query, Scored, Term, Words
from agenttrace.viewer.links import Links
from agenttrace.viewer.reads import Reads

_ID = re.compile(r"[0-9a-f]{6,32}")
_RUNS = 1_000
_MOST_TERMS = 8


class Instead(NamedTuple):
    """Something else to look at: why, the address, and its words."""

    why: str
    link: str | None
    text: str


def instead_of(reads: Reads, query: Query) -> list[Instead]:
    """What to look at instead of a query that matches nothing; empty where nothing is near it."""
    return [*_by_id(reads, query), *_by_value(reads, query)]


def _by_id(reads: Reads, query: Query) -> Iterator[Instead]:
    """The traces and runs whose id begins with the only word of a query."""
    word = query.terms[0] if len(query) == 1 else None
    prefix = word.text.lower() if isinstance(word, Words) and not word.negated else ""
    if not _ID.fullmatch(prefix):
        return
    links, wanted = Links(reads.root), Query((Identified(prefix),))
    traces = reads.traces.search(wanted, limit=2).traces
    if len(traces) == 1:
        (facts,) = traces
        yield Instead(
            "The trace with this id:", links.trace(facts.trace_id), f"{facts.name} {facts.trace_id[:8]}"
        )
    elif traces:
        yield Instead("Traces whose id begins so:", links.traces(wanted), str(wanted))
    runs = [run for run in reads.store.runs(limit=_RUNS) if run.run_id.startswith(prefix)]
    for run in runs[:1]:
        yield Instead("The run with this id:", links.run(run.run_id), f"{run.name} {run.run_id[:8]}")


def _by_value(reads: Reads, query: Query) -> Iterator[Instead]:
    """The query with a value that traces have, for each value that none has."""
    for place, term in enumerate(query.terms[:_MOST_TERMS]):
        key, values = _values_of(term)
        if not values:
            continue
        known = [value for value, _ in reads.traces.facets(EVERYTHING, [key])[key].values]
        for value in values:
            near = [] if value in known else get_close_matches(value, known, n=1)
            for meant in near:
                nearer = _with_value(term, value, meant)
                whole = Query((*query.terms[:place], nearer, *query.terms[place + 1 :]))
                yield Instead(
                    f"No trace has {term}. Did you mean", Links(reads.root).traces(whole), str(nearer)
                )


def _values_of(term: Term) -> tuple[str, tuple[str, ...]]:
    """The label that a term asks for, and its values; no values where it asks for none."""
    if isinstance(term, Labelled) and not term.negated:
        return term.key, term.values
    if isinstance(term, Scored) and not term.negated and term.name is not None:
        return "scorer", (term.name,)
    return "", ()


def _with_value(term: Term, value: str, meant: str) -> Term:
    if isinstance(term, Scored):
        return replace(term, name=meant)
    assert isinstance(term, Labelled), "only such terms have values"
    return replace(
        term, values=tuple(dict.fromkeys(meant if each == value else each for each in term.values))
    )
