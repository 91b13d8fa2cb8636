"""The page of groups: what the traces with each value of a label come to, such as each release."""

from __future__ import annotations

from typing import NamedTuple

from agenttrace.core.errors import QueryError
from agenttrace.core.query import METADATA, Labelled
from agenttrace.core.query_parsing import parse
from agenttrace.core.trace_figures import GroupFigures
from agenttrace.core.trace_reads import COUNTED_IN_FIGURES, Count
from agenttrace.viewer.query_line import QueryLine
from agenttrace.viewer.reads import Asked, Reads
from agenttrace.viewer.render import render
from agenttrace.viewer.words import column_unit

SHOWN = 150


class Group(NamedTuple):
    """A row: the figures of a value, the query for its traces, and for those that passed."""

    figures: GroupFigures
    query: str
    passed: str


def label_key(name: str) -> str:
    """The key of a label by the name that a query has for it: ``release`` is a key of metadata.

    Raises:
        QueryError: it names no label.
    """
    try:
        terms = parse(f"{name}:x").terms
    except QueryError:
        terms = ()
    if len(terms) == 1 and isinstance(terms[0], Labelled) and terms[0].values == ("x",):
        return terms[0].key
    raise QueryError(f"got {name[:40]!r} to group by, wanted a label, for example release, customer or tag")


def is_label(name: str) -> bool:
    """Whether a page of groups can be had by this name: of a label that a query can name."""
    try:
        label_key(name)
    except QueryError:
        return False
    return True


def group_page(reads: Reads, asked: Asked) -> tuple[int, str]:
    """The values of the label ``by`` over matches of ``q``; the worst first with ``order=worst``."""
    line = QueryLine.of(reads, asked)
    figures: list[GroupFigures] = []
    count, trouble = Count(0, False), ""
    try:
        key = label_key(asked["by"])
        if not line.error:
            figures, count = reads.traces.group_figures(line.query, key)
    except QueryError as error:
        key, trouble = asked["by"], str(error)
    is_worst_first = asked.get("order") == "worst"
    if is_worst_first:
        figures = sorted(figures, key=lambda group: group.passed / group.judged if group.judged else 2.0)
    rows = [_row(line, key, group) for group in figures[:SHOWN]]
    return 400 if line.error or trouble else 200, render(
        "group_page.html",
        reads,
        line=line,
        by=asked["by"],
        title=key.removeprefix(METADATA),
        trouble=trouble,
        rows=rows,
        is_worst_first=is_worst_first,
        left_out=len(figures) - len(rows),
        traces=count.number,
        is_capped=count.is_capped,
        most=COUNTED_IN_FIGURES,
        unit=column_unit(group.figures.middle for group in rows),
    )


def _row(line: QueryLine, key: str, group: GroupFigures) -> Group:
    term = Labelled(key, (group.value,))
    passed = line.query.and_(term, Labelled("verdict", ("passed",)))
    return Group(group, line.with_term(term), str(passed))
