"""A trace as rows of a tree: what is unfolded, what is folded into one row, and how deep each row is.

All spans are never shown at once. Levels are unfolded whole while there is room; the way to the chosen span
and to those that failed is always open; of many siblings the first and the last are shown, and those that
failed; equal neighbours are one row.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import groupby
from typing import Literal

from agenttrace.core.identity import span_id_text
from agenttrace.core.span import Span
from agenttrace.core.trace import Trace

ROOM = 160
"""Rows up to which levels are unfolded."""
MOST_ROWS = 180
MANY = 40
FIRST, FAILED, LAST, WINDOW = 20, 10, 5, 80
EQUAL = 4
"""Equal neighbours from which on they are one row, in a trace of more than `SMALL` spans."""
SMALL = 30
DEEPEST = 16
"""Levels that are indented; deeper rows say their level."""
SHORT_KEY = 5
"""Digits at the end of a span's id by which addresses name it; within a trace they are rarely alike."""
LONG_WAY = 60
"""Levels of the way to the chosen span from which on its middle is left out."""
_ENDS = 30, 20
_FORCED = 12

RowKind = Literal["span", "equal", "more", "missing", "gap"]


@dataclass(slots=True)
class Node:
    """A span with its place in the tree; without a span, a parent that is not stored."""

    span: Span | None
    key: str
    depth: int
    parent: int | None
    children: list[int] = field(default_factory=list)
    below: int = 0
    failed_below: int = 0
    in_loop: bool = False


@dataclass(frozen=True, slots=True)
class TreeRow:
    """A row: a span; several equal ones (*equal*); siblings that are left out (*more*); a parent that is not
    stored (*missing*); levels that are left out (*gap*).

    `start` is, of siblings that are left out, the place of the first among its siblings.
    """

    kind: RowKind
    key: str
    depth: int
    nodes: Sequence[Node]
    is_open: bool | None = None
    start: int = 0
    words: str = ""

    @property
    def span(self) -> Span | None:
        """The row's first span."""
        return self.nodes[0].span if self.nodes else None

    @property
    def indent(self) -> int:
        """The level to which the row is indented."""
        return min(self.depth, DEEPEST)


@dataclass(frozen=True)
class Unfolding:
    """What the reader has unfolded: spans by id, one `whole` with all below it, windows of siblings."""

    opened: Collection[str] = ()
    shut: Collection[str] = ()
    whole: str | None = None
    windows: Mapping[str, int] = field(default_factory=dict)
    selected: str | None = None


class TraceTree:
    """The spans of a trace with their places, and the rows that are shown of them.

    Foreign data may have parents that are not stored (spans below them stand together), and parents in a
    loop (those spans stand alone, at the end).
    """

    def __init__(self, trace: Trace) -> None:
        self.nodes: list[Node] = []
        self.top: list[int] = []
        self.by_key: dict[str, int] = {}
        self._build(trace)
        self._count()

    def _build(self, trace: Trace) -> None:
        visited: set[int] = set()
        absent: dict[int, int] = {}
        stack: list[tuple[Span, int | None]] = [(root, None) for root in reversed(trace.roots)]
        children = trace.children
        while stack:
            span, parent = stack.pop()
            if id(span) in visited:
                continue
            visited.add(id(span))
            if parent is None and span.parent_key is not None:
                if span.parent_key not in absent:
                    absent[span.parent_key] = self._add(None, span_id_text(span.parent_key), None)
                parent = absent[span.parent_key]
            number = self._add(span, span.span_id, parent)
            below = children.get(span.span_key)
            if below is not None:
                stack += [(child, number) for child in reversed(below)]
        for span in trace.spans:
            if id(span) not in visited:
                self.nodes[self._add(span, span.span_id, None)].in_loop = True

    def _add(self, span: Span | None, key: str, parent: int | None) -> int:
        number = len(self.nodes)
        depth = 0 if parent is None else self.nodes[parent].depth + 1
        self.nodes.append(Node(span, key, depth, parent))
        self.by_key.setdefault(key, number)
        (self.top if parent is None else self.nodes[parent].children).append(number)
        return number

    def _count(self) -> None:
        for node in reversed(self.nodes):
            if node.parent is not None:
                parent = self.nodes[node.parent]
                parent.below += node.below + 1
                parent.failed_below += node.failed_below + has_failed(node)

    @cached_property
    def failures(self) -> list[Node]:
        """The spans that failed, in the order of the tree."""
        return [node for node in self.nodes if has_failed(node)]

    @property
    def deepest_failure(self) -> Node | None:
        """The span that failed deepest down: where the trouble began."""
        return max(self.failures, key=lambda node: node.depth, default=None)

    def way_to(self, key: str | None) -> list[int]:
        """The numbers of a span's ancestors and its own, from the top."""
        number = self.by_key.get(key or "")
        way: list[int] = []
        while number is not None:
            way.append(number)
            number = self.nodes[number].parent
        return way[::-1]

    def numbers(self, keys: Collection[str]) -> set[int]:
        """The numbers of spans, by their ids or the last digits of these."""
        wanted = {key[-SHORT_KEY:] for key in keys}
        if not wanted:
            return set()
        return {number for number, node in enumerate(self.nodes) if node.key[-SHORT_KEY:] in wanted}

    def rows(self, unfolding: Unfolding) -> list[TreeRow]:
        """The rows that are shown."""
        return list(_Rows(self, unfolding).rows())

    def search(self, text: str, whole: Mapping[int, Span], most: int = 50) -> list[Node]:
        """The spans that have a text in their name, arguments, output or error, as many as are shown.

        `whole` has the spans with their values.
        """
        wanted = text.casefold()
        matches: list[Node] = []
        for node in self.nodes:
            if node.span is not None and _holds(whole.get(node.span.span_key, node.span), wanted):
                matches.append(node)
                if len(matches) == most:
                    break
        return matches


def _holds(span: Span, wanted: str) -> bool:
    if wanted in span.name.casefold() or (span.error is not None and wanted in str(span.error).casefold()):
        return True
    return any(wanted in text.casefold() for value in (span.input, span.output) for text in _texts(value))


def _texts(value: object) -> Iterator[str]:
    """The texts in a value, keys included."""
    stack = [value]
    while stack:
        part = stack.pop()
        if isinstance(part, str):
            yield part
        elif isinstance(part, Mapping):
            stack.extend(part.values())
            yield from (key for key in part if isinstance(key, str))
        elif isinstance(part, list | tuple):
            stack.extend(part)
        elif part is not None:
            yield str(part)


class _Rows:
    def __init__(self, tree: TraceTree, unfolding: Unfolding) -> None:
        self._tree = tree
        self._nodes = tree.nodes
        self._asked = unfolding
        self._way = tree.way_to(unfolding.selected)
        self._on_way = set(self._way)
        self._left_out = set(self._way[_ENDS[0] : -_ENDS[1]]) if len(self._way) > LONG_WAY else set()
        self._folds = len(tree.nodes) > SMALL
        self._unfolded = tree.numbers(unfolding.opened)
        self._opened = self._choose()
        self._count = 0

    def _choose(self) -> set[int]:
        by_key = self._tree.by_key
        opened = self._tree.numbers(self._asked.opened) | set(self._way[:-1])
        for node in self._tree.failures[:_FORCED]:
            way = self._tree.way_to(node.key)
            if len(way) <= LONG_WAY:
                opened.update(way[:-1])
        opened |= self._levels(self._tree.top, ROOM)
        whole = by_key.get(self._asked.whole or "")
        if whole is not None:
            opened |= self._levels([whole], MOST_ROWS, at_least_one=True)
        return opened - self._tree.numbers(self._asked.shut)

    def _levels(self, numbers: Sequence[int], room: int, *, at_least_one: bool = False) -> set[int]:
        """What is unfolded below some nodes: level by level, as long as a whole one has room."""
        opened: set[int] = set()
        level = list(numbers)
        room -= min(len(level), FIRST + FAILED + LAST + 1)
        while level:
            below = [number for number in level if self._nodes[number].children]
            needed = sum(self._rows_of(self._nodes[number].children) for number in below)
            if needed > room and not (at_least_one and not opened):
                break
            room -= needed
            opened.update(below)
            level = [child for number in below for child in self._nodes[number].children]
        return opened

    def _rows_of(self, children: Sequence[int]) -> int:
        return len(children) if len(children) <= MANY else FIRST + LAST + 1

    def rows(self) -> Iterator[TreeRow]:
        stack: list[Iterator[TreeRow]] = [self._level("", self._tree.top, 0)]
        while stack:
            row = next(stack[-1], None)
            if row is None:
                stack.pop()
                continue
            number = self._tree.by_key.get(row.key) if row.kind in ("span", "missing") else None
            if number is not None and number in self._left_out:
                stack.pop()  # the others of this level are on the way down, too
                last = self._way[-_ENDS[1]]
                yield self._gap(row, last)
                stack.append(self._level(self._nodes[last].key, [last], self._nodes[last].depth))
                self._left_out = set()
                continue
            self._count += 1
            if self._count > MOST_ROWS and number not in self._on_way:
                continue
            yield row
            if number is not None and row.is_open:
                node = self._nodes[number]
                stack.append(self._level(node.key, node.children, node.depth + 1))

    def _gap(self, row: TreeRow, last: int) -> TreeRow:
        levels = self._nodes[last].depth - row.depth
        middle = self._way[len(self._way) // 2]
        return TreeRow("gap", self._nodes[middle].key, row.depth, (), words=f"{levels:,} levels between")

    def _level(self, parent: str, children: Sequence[int], depth: int) -> Iterator[TreeRow]:
        """The rows of the children of one parent."""
        shown = self._shown(parent, children)
        for is_shown, group in groupby(range(len(children)), key=shown.__contains__):
            places = list(group)
            nodes = [self._nodes[children[place]] for place in places]
            if is_shown:
                yield from self._neighbours([children[place] for place in places])
            else:
                yield TreeRow("more", parent, depth, nodes, start=places[0], words=_names(nodes))

    def _shown(self, parent: str, children: Sequence[int]) -> set[int]:
        """The places of the children that are shown."""
        count = len(children)
        if count <= MANY:
            return set(range(count))
        shown = {*range(FIRST), *range(count - LAST, count)}
        start = self._asked.windows.get(parent)
        if start is not None:
            shown = {*range(5), *range(start, min(start + WINDOW, count)), count - 1}
        failed = [place for place, number in enumerate(children) if self._has_trouble(number)]
        shown.update(failed[:FAILED])
        shown.update(place for place, number in enumerate(children) if number in self._on_way)
        return shown

    def _has_trouble(self, number: int) -> bool:
        return has_failed(self._nodes[number]) or self._nodes[number].failed_below > 0

    def _neighbours(self, numbers: Sequence[int]) -> Iterator[TreeRow]:
        """Rows of siblings that stand next to each other; equal ones are one row, unless it is unfolded."""
        for _, group in groupby(numbers, key=self._likeness):
            alike = list(group)
            first = self._nodes[alike[0]]
            is_one = len(alike) >= EQUAL and self._folds and alike[0] not in self._unfolded
            if is_one and self._on_way.isdisjoint(alike):
                nodes = [self._nodes[number] for number in alike]
                yield TreeRow("equal", first.key, first.depth, nodes, is_open=False)
            else:
                for number in alike:
                    yield self._row(number)

    def _likeness(self, number: int) -> object:
        node = self._nodes[number]
        if node.span is None or node.children or has_failed(node):
            return number
        return node.span.name, node.span.span_type

    def _row(self, number: int) -> TreeRow:
        node = self._nodes[number]
        is_open = number in self._opened if node.children else None
        words = "" if is_open is not False else self._below(node)
        kind: RowKind = "missing" if node.span is None else "span"
        return TreeRow(kind, node.key, node.depth, (node,), is_open, words=words)

    def _below(self, node: Node) -> str:
        names = Counter(
            child.span.name for number in node.children if (child := self._nodes[number]).span is not None
        )
        parts = [f"{name} ×{times}" if times > 1 else name for name, times in names.most_common(3)]
        return f"{node.below:,} below: {', '.join(parts)}{' …' if len(names) > 3 else ''}"


def _names(nodes: Sequence[Node]) -> str:
    names = dict.fromkeys(node.span.name for node in nodes if node.span is not None)
    first = list(names)[:4]
    return f"{len(nodes):,} more: {', '.join(first)}{' …' if len(names) > 4 else ''}"


def has_failed(node: Node) -> bool:
    """Whether a span ended with an error."""
    return node.span is not None and node.span.status == "error"
