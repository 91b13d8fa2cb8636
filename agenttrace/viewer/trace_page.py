"""The page of a trace: its head, its scores, all spans at a glance, the tree, the chosen span."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from agenttrace.core import semconv
from agenttrace.core.query import METADATA, Labelled, Query
from agenttrace.core.trace_facts import TraceFacts
from agenttrace.core.trace_search import cursor_of
from agenttrace.store.light_traces import LightTrace
from agenttrace.store.viewer_note import store_words
from agenttrace.viewer.example_text import short_yaml_of
from agenttrace.viewer.loop import LEAST, loop_of
from agenttrace.viewer.missing_page import no_trace
from agenttrace.viewer.people import labels_of, words_on_trace
from agenttrace.viewer.query_line import QueryLine
from agenttrace.viewer.reads import Asked, Reads
from agenttrace.viewer.render import render
from agenttrace.viewer.scores import ScoreView, score_views
from agenttrace.viewer.span_page import KINDS, kind_of, span_context
from agenttrace.viewer.tree import SHORT_KEY, Node, TraceTree, TreeRow, Unfolding
from agenttrace.viewer.values import summary_of
from agenttrace.viewer.waterfall import Axis, Bar, critical_path, overview
from agenttrace.viewer.words import column_unit

OVERVIEW_FROM = 30
"""Spans from which on the overview is drawn."""
_POSITIONS = 200
_MOST_OTHERS = 8
_MOST_READ_WHOLE = 500
"""Spans up to which a trace is read whole, for the example that it would make and what its loop has cost."""
_LONGEST_ABOUT = 160
_ABOUT_OF_ALL_ROWS = 9_000
"""Characters that rows say of inputs, one and all together: a page is to stay below 100 KB."""
_MOST_FOLDS = 16
"""Rows of which an address says that they are folded or unfolded."""


class RowView(NamedTuple):
    """A row of the tree with its bar; `opened` and `shut` are what the other state of the row is asked by."""

    row: TreeRow
    bar: Bar | None
    about: str
    kind: str
    is_critical: bool
    opened: str
    shut: str


class Neighbours(NamedTuple):
    """The trace before and after this one in the list that the reader came from."""

    before: str | None
    after: str | None
    position: int | None
    total: str


def trace_page(reads: Reads, asked: Asked) -> tuple[int, str]:
    """The trace ``id``; ``s`` is the chosen span, ``q`` and ``sort`` the list that the reader came from.

    ``open``, ``shut`` (ends of ids, dots between them), ``all`` (an id), ``more`` (id-start) unfold the tree,
    ``zoom`` is the span whose time fills the axis, ``find`` a text in spans.
    """
    light = LightTrace.of(reads.store, asked["id"])
    if light is None:
        return no_trace(reads, asked["id"])
    trace = light.trace
    asked = {**asked, **{name: ".".join(_ids(asked[name])) for name in ("open", "shut") if name in asked}}
    tree = TraceTree(trace)
    scores = reads.store.scores(trace.trace_id)
    facts = reads.facts(trace.trace_id)
    views = score_views(scores, light)
    selected = _selected(tree, asked.get("s"), views)
    is_short = len(trace.spans) <= _MOST_READ_WHOLE
    return 200, render(
        "trace_page.html",
        reads,
        trace=trace,
        facts=facts,
        scores=views,
        labels=labels_of_trace(facts),
        words=words_on_trace(reads, trace),
        may_be_about=labels_of([view.score.name for view in views]),
        loop=loop_of(light.whole) if is_short and facts is not None and facts.looped >= LEAST else None,
        others=_others(reads, facts),
        from_store="" if reads.path is None else store_words(reads.path),
        example=short_yaml_of(light.whole) if is_short else None,
        neighbours=_neighbours(reads, asked, facts),
        line=QueryLine.of(reads, asked),
        asked=asked,
        **tree_context(light, tree, asked, selected),
        detail=None
        if selected is None or selected.span is None
        else span_context(light, selected.span, scores, tree),
    )


def tree_context(light: LightTrace, tree: TraceTree, asked: Asked, selected: Node | None) -> dict[str, Any]:
    """What the tree's part of a page needs. Of the values of spans, only what rows say of inputs is read."""
    trace = light.trace
    zoom = tree.by_key.get(asked.get("zoom", ""))
    zoomed = None if zoom is None else tree.nodes[zoom].span
    axis = Axis.of(trace.spans if zoomed is None else [zoomed])
    path = critical_path(tree.nodes, tree.top) if len(trace.spans) > 1 else set()
    text = asked.get("find", "").strip()
    unfolding = Unfolding(
        opened=_ids(asked.get("open")),
        shut=_ids(asked.get("shut")),
        whole=asked.get("all"),
        windows=_windows(asked.get("more", "")),
        selected=None if selected is None else selected.key,
    )
    if text:
        matches = tree.search(text, light.whole.by_key)
        rows = [TreeRow("span", node.key, node.depth, (node,)) for node in matches]
    else:
        rows = tree.rows(unfolding)
    failures = tree.failures
    about = min(_LONGEST_ABOUT, max(_ABOUT_OF_ALL_ROWS // max(len(rows), 1), 40))
    shown = [row.nodes[0].span for row in rows if row.nodes and row.nodes[0].span is not None]
    inputs = light.inputs(shown)
    answers = light.outputs([span for span in shown if span.span_type == "llm"])
    return {
        "rows": [_row_view(row, axis, path, asked, inputs, answers, about) for row in rows],
        "axis": axis,
        "unit": column_unit(
            row.span.duration_ns for row in rows if row.kind == "span" and row.span is not None
        ),
        "find": text,
        "selected": selected,
        "levels": overview(tree.nodes, Axis.of(trace.spans), KINDS)
        if len(trace.spans) >= OVERVIEW_FROM
        else (),
        "failures": failures,
        "next_failure": _beside(tree, failures, selected, 1),
        "previous_failure": _beside(tree, failures, selected, -1),
        "zoomed": zoomed,
        "is_so_far": any(
            node.span is None or semconv.UNFINISHED in node.span.attributes for node in tree.nodes
        ),
    }


def _ids(text: str | None) -> list[str]:
    return [part[-SHORT_KEY:] for part in (text or "").split(".") if part][-_MOST_FOLDS:]


def _windows(text: str) -> Mapping[str, int]:
    windows = {}
    for part in text.split(".")[:50]:
        key, _, start = part.partition("-")
        if start.isdecimal() and len(start) < 10:
            windows[key] = int(start)
    return windows


def _row_view(
    row: TreeRow,
    axis: Axis,
    path: set[str],
    asked: Asked,
    inputs: Mapping[int, Mapping[str, Any]],
    answers: Mapping[int, Any],
    longest: int,
) -> RowView:
    span = row.span
    about = row.words
    kind = "other"
    if span is not None:
        kind = kind_of(span)
        about = about or summary_of(
            span.span_type, inputs.get(span.span_key), answers.get(span.span_key), longest
        )
    opened, shut = (_ids(asked.get(name)) for name in ("open", "shut"))
    short = row.key[-SHORT_KEY:]
    (shut if row.is_open else opened).append(short)
    other = [key for key in (opened if row.is_open else shut) if key != short]
    return RowView(
        row=row,
        bar=axis.bar_of(row.nodes),
        about=about,
        kind=kind,
        is_critical=row.kind == "span" and row.key in path,
        opened=".".join((other if row.is_open else opened)[-_MOST_FOLDS:]),
        shut=".".join((shut if row.is_open else other)[-_MOST_FOLDS:]),
    )


def _selected(tree: TraceTree, key: str | None, views: Sequence[ScoreView]) -> Node | None:
    """The chosen span; else where the trouble began; else the first unexpected one; else the first."""
    number = tree.by_key.get(key or "")
    if number is not None:
        return tree.nodes[number]
    failure = tree.deepest_failure
    if failure is not None:
        return failure
    rows = [row for view in views if view.is_open for row in view.rows]
    for kinds in (("differs", "forbidden"), ("extra",)):
        unexpected = next((row.span_id for row in rows if row.kind in kinds and row.span_id), "")
        if unexpected in tree.by_key:
            return tree.nodes[tree.by_key[unexpected]]
    return next((node for node in tree.nodes if node.span is not None), None)


def _beside(tree: TraceTree, failures: Sequence[Node], selected: Node | None, step: int) -> Node | None:
    """The next span that failed, or the one before; of the last one the first."""
    if not failures:
        return None
    places = {node.key: place for place, node in enumerate(tree.nodes)}
    at = -1 if selected is None else places.get(selected.key, -1)
    if step > 0:
        return next((node for node in failures if places[node.key] > at), failures[0])
    return next((node for node in reversed(failures) if places[node.key] < at), failures[-1])


class Label(NamedTuple):
    """A label of the trace, with the query for others that have it."""

    text: str
    query: str


def labels_of_trace(facts: TraceFacts | None) -> list[Label]:
    """What the head of a page says of a trace: customer, session, project, tags, models, metadata."""
    if facts is None:
        return []
    keys = ("customer", "session", "project", "tag", "model")
    own = [key for key in facts.labels if key.startswith(METADATA)]
    return [
        Label(f"{key.removeprefix(METADATA)}:{value}", str(Labelled(key, (value,))))
        for key in (*keys, *own)
        for value in facts.labels.get(key, ())[:6]
        if value
    ][:24]


def _others(reads: Reads, facts: TraceFacts | None) -> list[TraceFacts]:
    """Traces to compare with: the newest others of the same example, else of the same name."""
    key = next((key for key in ("example", "name") if facts is not None and facts.label(key)), None)
    if facts is None or key is None:
        return []
    page = reads.traces.search(Query((Labelled(key, (facts.label(key) or "",)),)), limit=_MOST_OTHERS + 1)
    return [other for other in page.traces if other.trace_id != facts.trace_id][:_MOST_OTHERS]


def _neighbours(reads: Reads, asked: Asked, facts: TraceFacts | None) -> Neighbours | None:
    line = QueryLine.of(reads, asked)
    if "q" not in asked or line.error or facts is None:
        return None
    place = cursor_of(facts, line.sort)
    before = reads.traces.search(line.query, sort=line.sort, limit=_POSITIONS, before=place)
    after = reads.traces.search(line.query, sort=line.sort, limit=1, after=place)
    count = reads.traces.count_matches(line.query)
    return Neighbours(
        before=before.traces[-1].trace_id if before.traces else None,
        after=after.traces[0].trace_id if after.traces else None,
        position=None if before.before is not None else len(before.traces) + 1,
        total=f"{count.number:,}{'+' if count.is_capped else ''}",
    )
