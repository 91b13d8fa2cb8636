"""`Node`: where each value of a YAML or JSON text stands, so that single ones can be replaced."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Literal

import yaml

from agenttrace.core.json_reader import decode_at, skip_space
from agenttrace.datasets.yaml_format import plain_scalar

Kind = Literal["scalar", "list", "mapping", "alias"]


@dataclass(slots=True)
class Node:
    """A value in a text, from `start` to `end`.

    Of a list, `items` are its items; of a mapping they are its values, and `keys` the keys with their places.
    `flow` says that it is written with brackets. An alias has the value of its anchor and no items.
    `anchored` says that another place of the text refers to it, or to a part of it.
    """

    kind: Kind
    start: int
    end: int
    value: Any
    flow: bool = False
    items: list[Node] = field(default_factory=list)
    keys: list[tuple[str, int]] = field(default_factory=list)
    anchor: str | None = None
    anchored: bool = False

    def entry(self, key: str) -> Node | None:
        """The value of a mapping's key."""
        return next(
            (item for (name, _), item in zip(self.keys, self.items, strict=True) if name == key), None
        )


def yaml_nodes(text: str) -> Node:
    """The node of the one document of a YAML text that `parse_yaml` has read."""
    builder = _YamlNodes(yaml.parse(text, Loader=yaml.SafeLoader), text)
    for event in builder.events:
        if isinstance(event, yaml.DocumentStartEvent):
            break
    root = builder.node(next(builder.events))
    builder.mark(root)
    return root


class _YamlNodes:
    """Reads the events of a text that was checked before, so that every event is as expected."""

    def __init__(self, events: Iterator[Any], text: str) -> None:
        self.events = events
        self.text = text
        self.anchors: dict[str, Node] = {}
        self.referred: set[str] = set()

    def node(self, event: Any) -> Node:
        """The node that begins with an event."""
        start: int = event.start_mark.index
        if isinstance(event, yaml.AliasEvent):
            anchor: str = str(event.anchor)
            self.referred.add(anchor)
            end: int = self.text.index(anchor, start) + len(anchor)
            return Node("alias", start, end, self.anchors[anchor].value, flow=True)
        if isinstance(event, yaml.ScalarEvent):
            node = self._scalar(event)
        elif isinstance(event, yaml.SequenceStartEvent):
            node = Node("list", start, start, [], flow=bool(event.flow_style))
            while not isinstance(event := next(self.events), yaml.SequenceEndEvent):
                node.items.append(self.node(event))
                node.value.append(node.items[-1].value)
            self._close(node, event)
        else:
            node = Node("mapping", start, start, {}, flow=bool(event.flow_style))
            while not isinstance(event := next(self.events), yaml.MappingEndEvent):
                node.keys.append((event.value, event.start_mark.index))
                node.items.append(self.node(next(self.events)))
                node.value[event.value] = node.items[-1].value
            self._close(node, event)
        return node

    def _scalar(self, event: Any) -> Node:
        start, end = event.start_mark.index, event.end_mark.index
        typed = not event.style and event.tag is None
        if event.style in ("|", ">"):
            end = start + len(self.text[start:end].rstrip())
        value = plain_scalar(event.value) if typed else event.value
        node = Node("scalar", start, end, value, flow=True, anchor=event.anchor)
        self._note(node, event.anchor)
        return node

    def _close(self, node: Node, event: Any) -> None:
        """A block ends where its last item does: its event stands before whatever comes next."""
        node.end = event.end_mark.index if node.flow else node.items[-1].end
        start = self.text[node.start : node.end]
        if start.startswith("&"):
            node.anchor = start[1:].split(None, 1)[0]
        self._note(node, node.anchor)

    def _note(self, node: Node, anchor: str | None) -> None:
        if anchor is not None:
            self.anchors[anchor] = node

    def mark(self, node: Node) -> bool:
        """Mark what others refer to, wholly or in part."""
        inner = [self.mark(item) for item in node.items]
        node.anchored = node.anchor in self.referred or any(inner)
        return node.anchored


def json_node(text: str, pos: int) -> Node:
    """The node of the JSON value that begins at a position of a text without comments."""
    pos = skip_space(text, pos)
    opening = text[pos]
    if opening not in "[{":
        value, end = decode_at(text, pos)
        return Node("scalar", pos, end, value, flow=True)
    node = (
        Node("list", pos, pos, [], flow=True) if opening == "[" else Node("mapping", pos, pos, {}, flow=True)
    )
    at = skip_space(text, pos + 1)
    while text[at] not in "]}":
        if opening == "{":
            key, end = decode_at(text, at)
            node.keys.append((key, at))
            at = skip_space(text, end) + 1
        item = json_node(text, at)
        node.items.append(item)
        if opening == "{":
            node.value[node.keys[-1][0]] = item.value
        else:
            node.value.append(item.value)
        at = skip_space(text, item.end)
        if text[at] == ",":
            at = skip_space(text, at + 1)
    node.end = at + 1
    return node
