"""The page of a session: its traces in order, each with its calls, its verdict and what was said."""

from __future__ import annotations

from itertools import islice
from typing import NamedTuple

from agenttrace.core.jsonable import clean_text
from agenttrace.core.query import Labelled, Query
from agenttrace.core.trace_facts import TraceFacts
from agenttrace.core.trace_reads import Sort
from agenttrace.store.light_traces import LightTrace
from agenttrace.viewer.reads import Asked, Reads
from agenttrace.viewer.render import render
from agenttrace.viewer.trace_list import Row, row_of
from agenttrace.viewer.values import ValueView, view_of

TURNS = 50
_ROOM = 400


class Turn(NamedTuple):
    """A trace of the session: what came in, what went out."""

    row: Row
    input: ValueView | None
    output: ValueView | None


def session_page(reads: Reads, asked: Asked) -> tuple[int, str]:
    """The traces of ``session``, the first one first, from ``after`` on."""
    session = clean_text(asked["session"])
    query = Query((Labelled("session", (session,)),))
    all_facts: list[TraceFacts] = list(islice(reads.traces.each_match(query), 10_000))
    start = int(asked["from"]) if asked.get("from", "").isdecimal() and len(asked["from"]) < 9 else 0
    page = reads.traces.search(query, sort=Sort("time", descending=False), limit=min(start + TURNS, 10_000))
    shown = page.traces[start:]
    costs = [facts.cost for facts in all_facts if facts.cost is not None]
    return 200 if all_facts else 404, render(
        "session_page.html",
        reads,
        session=session,
        query=str(query),
        turns=[_turn(reads, facts) for facts in shown],
        start=start,
        count=len(all_facts),
        cost=sum(costs) if costs else None,
        failed=sum(facts.verdict in ("failed", "errored") or facts.status == "error" for facts in all_facts),
        after=start + TURNS if start + TURNS < len(all_facts) else None,
    )


def _turn(reads: Reads, facts: TraceFacts) -> Turn:
    light = LightTrace.of(reads.store, facts.trace_id)
    root = None
    if light is not None and light.trace.root is not None:
        (root,) = light.with_values([light.trace.root])
    arguments = None if root is None or root.input is None else dict(root.input)
    if arguments is not None and len(arguments) == 1:
        arguments = next(iter(arguments.values()))
    return Turn(
        row_of(facts, None, _ROOM),
        None if arguments is None else view_of(arguments),
        None if root is None or root.output is None else view_of(root.output),
    )
