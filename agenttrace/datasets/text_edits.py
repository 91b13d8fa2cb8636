"""`changes`: what is to be replaced in a YAML or JSON text so that one value in it becomes another.

Only what differs is touched: a number in a call, an item of a list, a key of a mapping. Comments, the order
of keys, quotes, indentation, anchors and line ends around it stay. A new value is written in the style of
its place.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, Protocol

import yaml

from agenttrace.core.errors import DatasetError
from agenttrace.core.jsonable import readable_json
from agenttrace.datasets.text_nodes import Node
from agenttrace.datasets.yaml_format import FileDumper

WIDTH = 100
"""Characters up to which a new YAML value is written on one line."""


class Inline(Protocol):
    """Writes a value on one line."""

    def __call__(self, value: Any, style: str = "") -> str:
        """The text; a text value is written in the quotes `style`, where there are any."""
        ...


class Splice(NamedTuple):
    """A part of a text, and what comes in its place."""

    start: int
    end: int
    text: str


def spliced(text: str, splices: Sequence[Splice]) -> str:
    """The text with every splice applied; those at one place in their order."""
    parts: list[str] = []
    at = 0
    for splice in sorted(splices, key=lambda one: (one.start, one.end)):
        if splice.start < at:
            raise DatasetError("two changes of the text overlap")
        parts += [text[at : splice.start], splice.text]
        at = splice.end
    return "".join([*parts, text[at:]])


def same(one: Any, other: Any) -> bool:
    """Whether two JSON values are the same, ``1``, ``1.0`` and ``true`` being three."""
    if type(one) is not type(other):
        return False
    if isinstance(one, dict):
        return one.keys() == other.keys() and all(same(value, other[key]) for key, value in one.items())
    if isinstance(one, list):
        return len(one) == len(other) and all(map(same, one, other))
    return bool(one == other)


def json_inline(value: Any, style: str = "") -> str:
    """A value as JSON on one line. All texts have the same quotes there, whatever `style` says."""
    del style
    return readable_json(value)


def yaml_inline(value: Any, style: str = "") -> str:
    """A value as YAML on one line, lists and mappings with brackets; `style` are the quotes of a text."""
    text: str = yaml.dump(
        [_Quoted(value, style) if style else _one_line(value)], Dumper=FileDumper, allow_unicode=True,
        sort_keys=False, width=float("inf"), default_flow_style=True,
    )  # fmt: skip
    return text.rstrip("\n").removeprefix("[").removesuffix("]")  # in brackets, so that commas are quoted


class _Quoted(str):
    """A text that is to be written in quotes, without line breaks."""

    __slots__ = ("style",)
    style: str

    def __new__(cls, text: str, style: str) -> _Quoted:
        self = super().__new__(cls, text)
        self.style = style if text.isprintable() else '"'
        return self


def _one_line(value: Any) -> Any:
    if isinstance(value, str):
        return _Quoted(value, '"') if "\n" in value else value
    if isinstance(value, Mapping):
        return {_one_line(key): _one_line(item) for key, item in value.items()}
    return [_one_line(item) for item in value] if isinstance(value, list) else value


def _represent_quoted(dumper: yaml.SafeDumper, text: _Quoted) -> yaml.ScalarNode:
    return dumper.represent_scalar("tag:yaml.org,2002:str", str(text), style=text.style)


FileDumper.add_representer(_Quoted, _represent_quoted)


def changes(text: str, node: Node, new: Any, inline: Inline) -> list[Splice]:
    """The splices that make a node's value `new`.

    Raises:
        DatasetError: another place refers to the value by an anchor, or its layout cannot be edited safely.
    """
    return _Editor(text, inline).changed(node, new)


class _Editor:
    def __init__(self, text: str, inline: Inline) -> None:
        self.text = text
        self.inline = inline
        self.newline = "\r\n" if "\r\n" in text else "\n"

    def changed(self, node: Node, new: Any) -> list[Splice]:
        if same(node.value, new):
            return []
        if node.anchor is not None and node.anchored:
            raise DatasetError(f"other places refer to it by the anchor &{node.anchor}; change it by hand")
        if node.kind == "mapping" and isinstance(new, dict) and node.value.keys() & new.keys():
            return self._mapping(node, new)
        if node.kind == "list" and isinstance(new, list) and node.items and new:
            return self._list(node, new)
        return [self._replaced(node, new)]

    def _replaced(self, node: Node, new: Any) -> Splice:
        if node.anchored:
            raise DatasetError("other places refer to a part of it by an anchor; change it by hand")
        if node.flow:
            quote = self.text[node.start : node.start + 1]
            quoted = node.kind == "scalar" and isinstance(new, str) and quote in ("'", '"')
            written = self.inline(new, quote) if quoted else self.inline(new)
            space = " " if node.start == node.end and self.text[node.start - 1 : node.start] in ":-" else ""
            return Splice(node.start, node.end, space + written)
        written = self._block(new, self._column(node.start))
        if node.kind == "list" and not written.startswith("- "):
            written = "  " + self.inline(new)  # a list may stand right below its key, nothing else may
        return Splice(node.start, node.end, written)

    def _column(self, at: int) -> int:
        return at - self._line_start(at)

    def _line_start(self, at: int) -> int:
        return self.text.rfind("\n", 0, at) + 1

    def _line_end(self, at: int) -> int:
        end = self.text.find("\n", at)
        end = len(self.text) if end < 0 else end
        return end - 1 if self.text[end - 1 : end] == "\r" and end > at else end

    def _block(self, value: Any, column: int) -> str:
        """A value in block style; all lines but the first are indented by `column`."""
        line = self.inline(value)
        indent = self.newline + " " * column
        if isinstance(value, dict) and value:
            entries = [self.inline(key) + self._after_key(item, column) for key, item in value.items()]
            return indent.join(entries)
        if isinstance(value, list) and value and column + len(line) > WIDTH:
            return indent.join(f"- {self._block(item, column + 2)}" for item in value)
        return line

    def _after_key(self, value: Any, column: int) -> str:
        line = self.inline(value)
        if not isinstance(value, dict | list) or not value or column + len(line) <= WIDTH:
            return f": {line}"
        return f":{self.newline}{' ' * (column + 2)}{self._block(value, column + 2)}"

    # Mappings

    def _mapping(self, node: Node, new: dict[str, Any]) -> list[Splice]:
        splices = [
            splice
            for (key, _), item in zip(node.keys, node.items, strict=True)
            if key in new
            for splice in self.changed(item, new[key])
        ]
        gone = [at for at, (key, _) in enumerate(node.keys) if key not in new]
        starts = [start for _, start in node.keys]
        splices += self._without(node, starts, gone)
        added = {key: value for key, value in new.items() if key not in node.value}
        last = max(at for at in range(len(node.keys)) if at not in gone)
        for key, value in added.items():
            entry = (
                f"{self.inline(key)}: {self.inline(value)}"
                if node.flow
                else self.inline(key) + self._after_key(value, self._column(starts[0]))
            )
            splices.append(self._inserted_after(node, starts, last, entry, ""))
        return splices

    # Lists

    def _list(self, node: Node, new: list[Any]) -> list[Splice]:
        dash = "" if node.flow else "- "
        starts = (
            [item.start for item in node.items] if node.flow else [self._dash(item) for item in node.items]
        )
        splices: list[Splice] = []
        last = -1  # the last item of those before that stays
        for at, value in aligned(node.value, new):
            if at is None:
                column = self._column(starts[0]) + 2
                entry = self.inline(value[0]) if node.flow else self._block(value[0], column)
                if last >= 0:
                    splices.append(self._inserted_after(node, starts, last, entry, dash))
                else:
                    splices.append(self._inserted_first(node, starts, entry, dash))
            elif value:
                splices += self.changed(node.items[at], value[0])
                last = at
        stays = {at for at, value in aligned(node.value, new) if at is not None and value}
        if not stays:
            return [self._replaced(node, new)]
        gone = [at for at in range(len(node.items)) if at not in stays]
        if any(node.items[at].anchored for at in gone):
            raise DatasetError("other places refer to a part of it by an anchor; change it by hand")
        return splices + self._without(node, starts, gone)

    def _dash(self, item: Node) -> int:
        """Where the dash of a block list's item stands."""
        before = self.text[: item.start].rstrip(" \t\r\n")
        if not before.endswith("-"):
            raise DatasetError("a comment stands between a dash and its item; change it by hand")
        return len(before) - 1

    # Entries of either

    def _inserted_after(self, node: Node, starts: list[int], at: int, entry: str, dash: str) -> Splice:
        end = node.items[at].end
        if node.flow:
            return Splice(end, end, self._separator(node, starts) + entry)
        line_end = self._line_end(end)
        return Splice(line_end, line_end, f"{self.newline}{' ' * self._column(starts[0])}{dash}{entry}")

    def _inserted_first(self, node: Node, starts: list[int], entry: str, dash: str) -> Splice:
        at = starts[0]
        if node.flow:
            return Splice(at, at, entry + self._separator(node, starts))
        return Splice(at, at, f"{dash}{entry}{self.newline}{' ' * self._column(at)}")

    def _separator(self, node: Node, starts: list[int]) -> str:
        """What stands between two entries in brackets: as between the first two, or at the beginning."""
        if len(starts) > 1:
            between = self.text[node.items[0].end : starts[1]]
            if between.strip() == ",":
                return between
        space = self.text[node.start + 1 : starts[0]]
        return "," + (space if "\n" in space and not space.strip() else " ")

    def _without(self, node: Node, starts: list[int], gone: Sequence[int]) -> list[Splice]:
        """Without some entries, though not all; of those in brackets also without their commas."""
        leading = next((n for n, at in enumerate(gone) if n != at), len(gone))
        first = starts[0]
        if leading and (node.flow or self.text[self._line_start(first) : first].strip()):
            return [Splice(first, starts[leading], ""), *self._without_lines(node, starts, gone[leading:])]
        return self._without_lines(node, starts, gone)

    def _without_lines(self, node: Node, starts: list[int], gone: Sequence[int]) -> list[Splice]:
        splices = []
        for at in gone:
            end = node.items[at].end
            if node.flow:
                splices.append(Splice(node.items[at - 1].end, end, ""))
            else:
                line_start = self._line_start(starts[at])
                if self.text[line_start : starts[at]].strip():
                    raise DatasetError("its layout cannot be edited; change it by hand")
                splices.append(Splice(self._line_end(line_start - 1), self._line_end(end), ""))
        return splices


def aligned(old: Sequence[Any], new: Sequence[Any]) -> list[tuple[int | None, tuple[Any, ...]]]:
    """Which old item becomes which new one: pairs of an old item's number and its new value.

    The number is None for a new item, the value empty for an item that goes. The alignment with the greatest
    likeness; among equals the one with the earliest pairs.
    """
    rows, columns = len(old), len(new)
    best = [[0.0] * (columns + 1) for _ in range(rows + 1)]
    for i in range(rows - 1, -1, -1):
        for j in range(columns - 1, -1, -1):
            best[i][j] = max(best[i + 1][j], best[i][j + 1], best[i + 1][j + 1] + likeness(old[i], new[j]))
    steps: list[tuple[int | None, tuple[Any, ...]]] = []
    i = j = 0
    while i < rows or j < columns:
        if i < rows and j < columns:
            like = likeness(old[i], new[j])
            if like and best[i][j] == best[i + 1][j + 1] + like:
                steps.append((i, (new[j],)))
                i, j = i + 1, j + 1
                continue
        if j == columns or (i < rows and best[i][j] == best[i + 1][j]):
            steps.append((i, ()))
            i += 1
        else:
            steps.append((None, (new[j],)))
            j += 1
    return steps


def likeness(old: Any, new: Any) -> float:
    """How alike two items are, 0 to 1: 1 where they are the same, 0 where one cannot become the other."""
    if same(old, new):
        return 1.0
    if isinstance(old, dict) and isinstance(new, dict):
        common = old.keys() & new.keys()
        return (0.1 * len(common) + 0.4 * sum(same(old[key], new[key]) for key in common)) / len(old | new)
    if isinstance(old, list) and isinstance(new, list):
        return 0.1
    return 0.05 if not isinstance(old, dict | list) and not isinstance(new, dict | list) else 0.0
