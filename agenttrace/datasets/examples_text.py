"""`ExamplesText`: the text of a file of examples, in which their expected tools can be changed in place."""

from __future__ import annotations

import difflib
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from agenttrace.core.errors import DatasetError
from agenttrace.core.json_reader import InvalidJSON, strict_json
from agenttrace.datasets.files import FileContent, read_content, write_content
from agenttrace.datasets.json_format import without_comments
from agenttrace.datasets.text_edits import changes, json_inline, same, spliced, yaml_inline
from agenttrace.datasets.text_nodes import Node, json_node, yaml_nodes
from agenttrace.datasets.yaml_format import parse_yaml

MAX_BYTES = 64_000_000
_KINDS = {".yaml": "yaml", ".yml": "yaml", ".json": "json", ".jsonl": "jsonl"}
_CONTEXT = 2
_LINE_END = re.compile(r"\r?\n")
"""Lines around a change in a diff."""


@dataclass(frozen=True, slots=True)
class ExamplesText:
    """A file of examples as it was read. Lines are counted from 1, as in `Example.source`."""

    path: Path
    kind: str
    content: FileContent
    nodes: Mapping[int, Node]

    @classmethod
    def read(cls, path: Path) -> ExamplesText:
        """Read a YAML, JSON or JSON Lines file.

        Raises:
            DatasetError: another format, or a file that cannot be read as examples.
        """
        kind = _KINDS.get(path.suffix.lower())
        if kind is None:
            raise DatasetError(
                "expectations are updated in YAML, JSON and JSON Lines files; make one with "
                "agenttrace dataset convert",
                path=path,
            )
        content = read_content(path, MAX_BYTES)
        return cls(path, kind, content, _nodes(content.text, kind, path))

    @property
    def text(self) -> str:
        """The text."""
        return self.content.text

    def expected_tools_at(self, line: int) -> Node | None:
        """Where the expected tools of the example at a line are; None where there are none."""
        node = self.nodes.get(line)
        return None if node is None else node.entry("expected_tools")

    def with_expected_tools(self, new: Mapping[int, Any]) -> str:
        """The text with the expected tools of the examples at these lines changed, and nothing else.

        Raises:
            DatasetError: there are none at a line, others refer to them, or their layout cannot be edited.
        """
        inline = yaml_inline if self.kind == "yaml" else json_inline
        splices = []
        for line, value in new.items():
            node = self.expected_tools_at(line)
            if node is None:
                raise DatasetError("there are no expected tools", path=self.path, line=line)
            splices += changes(self.text, node, value, inline)
        text = spliced(self.text, splices)
        if splices:
            self._check(text, new)
        return text

    def _check(self, text: str, new: Mapping[int, Any]) -> None:
        """Make sure that the new text reads back as the examples with these changes."""
        try:
            after = [node.value for node in _nodes(text, self.kind, self.path).values()]
        except DatasetError as error:
            raise DatasetError(f"its layout cannot be edited, change it by hand ({error})") from None
        wanted = [
            {**node.value, "expected_tools": new[line]} if line in new else node.value
            for line, node in self.nodes.items()
        ]
        if not same(after, wanted):
            raise DatasetError("its layout cannot be edited, change it by hand")

    def diff(self, text: str, line: int | None = None) -> str:
        """The unified diff to a new text; empty without a change. `line`: one example was changed."""
        old, new, offset = _LINE_END.split(self.text), _LINE_END.split(text), 0
        if line is not None:  # comparing all of a large file for each example would take long
            later = [other for other in self.nodes if other > line]
            offset = line - 1
            tail = len(old) - (min(later) - 1) if later else 0
            old, new = old[offset : len(old) - tail], new[offset : len(new) - tail]
        lines = difflib.unified_diff(old, new, str(self.path), str(self.path), n=_CONTEXT, lineterm="")
        return "\n".join(_moved(one, offset) if one.startswith("@@") else one for one in lines)

    def write(self, text: str) -> None:
        """Replace the file by this text, in its encoding, in one step.

        Raises:
            DatasetError: it is read-only, cannot be written, or changed since it was read.
        """
        write_content(self.path, self.content, text)


def _moved(header: str, offset: int) -> str:
    return re.sub(r"(?<=[-+])\d+", lambda match: str(int(match[0]) + offset), header)


def _nodes(text: str, kind: str, path: Path) -> dict[int, Node]:
    """The nodes of the examples by the lines that they begin in.

    Raises:
        DatasetError: the text cannot be read as examples, or two of them begin in one line.
    """
    if kind == "jsonl":
        items = list(_json_lines(text, path))
    else:
        if kind == "yaml":
            root = _yaml_root(text, path)
        else:
            blank = without_comments(text)
            try:
                strict_json(blank)
            except InvalidJSON as error:
                raise DatasetError(str(error), path=path) from None
            root = json_node(blank, 0)
        examples = None if root is None else root.entry("examples")
        items = [] if examples is None else examples.items
    nodes: dict[int, Node] = {}
    at = line = 0
    for item in items:
        line += text.count("\n", at, item.start)
        at = item.start
        if line + 1 in nodes:
            raise DatasetError("two examples begin in this line; give each its own", path=path, line=line + 1)
        nodes[line + 1] = item
    return nodes


def _yaml_root(text: str, path: Path) -> Node | None:
    if not isinstance(parse_yaml(text, path).data, dict):
        return None
    try:
        return yaml_nodes(text)
    except yaml.MarkedYAMLError as error:  # libyaml reads more than Python's own reader, such as some tabs
        mark = error.problem_mark
        line = None if mark is None else mark.line + 1
        raise DatasetError(f"its layout cannot be edited: {error.problem}", path=path, line=line) from None


def _json_lines(text: str, path: Path) -> list[Node]:
    nodes, at = [], 0
    for number, line in enumerate(text.split("\n"), 1):
        if line.strip():
            try:
                strict_json(line)
            except InvalidJSON as error:
                raise DatasetError(str(error), path=path, line=number) from None
            nodes.append(json_node(text, at + len(line) - len(line.lstrip())))
        at += len(line) + 1
    return nodes
