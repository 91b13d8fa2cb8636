"""Datasets as YAML, the format for writing by hand: plain data only, within limits on size.

Only the event stream of PyYAML is used: no tag is ever resolved, no object made. Scalars are typed as in JSON
(with YAML 1.2's other spellings of null, true and false): a date, ``no``, ``1:30``, ``012`` and ``1_000`` are
texts. Keys are texts. Errors are: merge keys, unknown tags, a key twice in one mapping, several documents, an
alias inside its own anchor. Sizes are counted with aliases expanded, before anything is built from them.
"""

from __future__ import annotations

import math
import re
from bisect import bisect_left
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import yaml

from agenttrace.core.errors import DatasetError
from agenttrace.core.example import Example
from agenttrace.core.json_reader import MAX_DIGITS
from agenttrace.datasets.document import Columns, Document, FileContents, Place, columns_of, load_examples
from agenttrace.datasets.files import read_text


def read_yaml(path: Path, errors: list[DatasetError] | None = None, columns: Columns = ()) -> FileContents:
    """Read a mapping with ``examples``; see `load_examples` for `errors`, `Document` for `columns`.

    Raises:
        DatasetError: the file holds something else, or exceeds the limits.
    """
    document = parse_yaml(read_text(path, MAX_BYTES), path)
    document.columns = columns_of(columns)
    return load_examples(document, errors=errors)


def get_examples_from_yaml(path: str | Path) -> list[Example]:
    """The examples of a YAML file, each knowing its line (`Example.source`).

    Raises:
        DatasetError: the file is missing, empty, not YAML, or holds something other than examples; it names
            path, line and field.
    """
    return read_yaml(Path(path)).examples


def write_yaml(rows: Sequence[Mapping[str, Any]], platform_fields: Mapping[str, Any]) -> str:
    """The text of a YAML file, read back once to make sure that nothing is lost.

    Raises:
        DatasetError: YAML cannot hold this data, or the file would exceed the limits for reading.
    """
    data = {**platform_fields, "examples": list(rows)}
    text: str = yaml.dump(
        data,
        Dumper=FileDumper,
        allow_unicode=True,
        sort_keys=False,
        width=float("inf"),
        default_flow_style=False,
    )
    if len(text.encode(errors="surrogatepass")) > MAX_BYTES:
        raise DatasetError(f"more than {MAX_BYTES / 1e6:.0f} MB cannot be read back as YAML; save as jsonl")
    try:
        same = parse_yaml(text, Path("yaml")).data == data
    except DatasetError as error:
        raise DatasetError(f"cannot be kept in YAML ({error}); save as json or jsonl") from None
    if not same:
        raise DatasetError("cannot be kept in YAML without a change; save as json or jsonl")
    return text


class FileDumper(yaml.SafeDumper):
    """Block style, no aliases, long texts as blocks, quotes around texts that look like another type."""

    def ignore_aliases(self, data: Any) -> bool:
        """Yes: every value is written out."""
        del data
        return True


def _represent_text(dumper: yaml.SafeDumper, text: str) -> yaml.ScalarNode:
    style = None
    if not text.replace("\n", "").isprintable() or _looks_typed(text):
        style = '"'
    elif "\n" in text:
        style = "|"
    return dumper.represent_scalar("tag:yaml.org,2002:str", text, style=style)


def _looks_typed(text: str) -> bool:
    try:
        return plain_scalar(text) is not text
    except ValueError:
        return True


FileDumper.add_representer(str, _represent_text)


MAX_BYTES = 5_000_000
MAX_NODES = 200_000
MAX_DEPTH = 64
MAX_ALIASES = 100
MAX_CHARACTERS = 4 * MAX_BYTES
_LINES_DEPTH = 6

_WORDS = {
    **dict.fromkeys(("", "~", "null", "Null", "NULL"), None),
    **dict.fromkeys(("true", "True", "TRUE"), True),
    **dict.fromkeys(("false", "False", "FALSE"), False),
}
_NUMBER = re.compile(r"-?(?:0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?")
_PLAIN_TAGS = frozenset(
    {None, "!", "tag:yaml.org,2002:str", "tag:yaml.org,2002:seq", "tag:yaml.org,2002:map"}
)
_TAB = re.compile(r" *\t")
_BRACKETS = {"while parsing a flow sequence": "[", "while parsing a flow mapping": "{"}
_FURTHER_BREAKS = "\x85\u2028\u2029"
_LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


def plain_scalar(text: str) -> Any:
    """The value of an unquoted scalar.

    Raises:
        ValueError: a number too large for a double, or of more than 4,300 digits.
    """
    if text in _WORDS:
        return _WORDS[text]
    number = _NUMBER.fullmatch(text)
    if number is None:
        return text
    if number[1] is None and number[2] is None:
        if len(text) > MAX_DIGITS:
            raise ValueError(f"an integer of {len(text)} digits; put it in quotes")
        return int(text)
    value = float(text)
    if math.isinf(value):
        raise ValueError(f"the number {text} is too large; put it in quotes")
    return value


def parse_yaml(text: str, path: Path) -> Document:
    """Read one YAML document; its data is None for an empty one.

    Raises:
        DatasetError: the text is not YAML, not plain data, or exceeds the limits; it names path and line.
    """
    document = Document(path, None)
    try:
        _Builder(yaml.parse(text, Loader=_LOADER), document, _line_of(text)).read()
    except yaml.MarkedYAMLError as error:
        problem, line = _problem_of(error, text)
        raise DatasetError(f"this is not YAML: {problem}", path=path, line=line) from None
    except yaml.YAMLError as error:
        raise DatasetError(f"this is not YAML: {' '.join(str(error).split())}", path=path) from None
    return document


def _problem_of(error: Any, text: str) -> tuple[str, int | None]:
    """What is wrong with a text, and in which line; frequent mistakes in other words than the parser's."""
    mark = error.problem_mark or error.context_mark
    line = mark.line + 1 if mark else None
    lines = text.splitlines()[: line or 0]
    tab = next((number for number, one in enumerate(lines, 1) if _TAB.match(one)), None)
    if tab is not None:
        return "the line begins with a tab; YAML is indented with spaces", tab
    opened = error.context_mark
    bracket = _BRACKETS.get(error.context)
    if bracket is not None and opened is not None:
        before = f" before line {line}" if line and line > opened.line + 1 else ""
        return f"the {bracket} that opens here is not closed{before}, or a comma is missing", opened.line + 1
    return " ".join(part for part in (error.context, error.problem) if part), line


def _line_of(text: str) -> Callable[[Any], int]:
    """Gives the line, from 1, of a mark as editors count: only line feeds begin one. YAML's own count has
    further line breaks, some of which may stand within a text."""
    if not any(mark in text for mark in _FURTHER_BREAKS):
        return lambda mark: int(mark.line) + 1
    feeds = [at for at, character in enumerate(text) if character == "\n"]
    return lambda mark: bisect_left(feeds, mark.index) + 1


class _Builder:
    """One pass over the events. Aliases share the value of their anchor, but count its size again."""

    def __init__(self, events: Iterator[Any], document: Document, line_of: Callable[[Any], int]) -> None:
        self.events = events
        self.line_of = line_of
        self.document = document
        self.lines = document.lines
        self.nodes = 0
        self.characters = 0
        self.aliases = 0
        self.anchors: dict[str, tuple[Any, int, int]] = {}

    def read(self) -> None:
        next(self.events)  # the start of the stream
        event = next(self.events)
        if isinstance(event, yaml.StreamEndEvent):
            return
        event = next(self.events)
        self.lines[()] = self.line_of(event.start_mark)
        self.document.data = self._node(event, (), 0)
        next(self.events)  # the end of the document
        event = next(self.events)
        if not isinstance(event, yaml.StreamEndEvent):
            raise self._error("a second document begins here; a file holds one", event)

    def _node(self, event: Any, place: Place, depth: int) -> Any:
        if isinstance(event, yaml.AliasEvent):
            return self._alias(event)
        nodes, characters = self.nodes, self.characters
        self._count(event, 1, 0)
        if event.tag not in _PLAIN_TAGS:
            raise self._error(f"the tag {event.tag!r:.80} is not read; a file holds data, not objects", event)
        if isinstance(event, yaml.ScalarEvent):
            value = self._scalar(event)
        elif depth >= MAX_DEPTH:
            raise self._error(f"nested more than {MAX_DEPTH} levels deep", event)
        elif isinstance(event, yaml.SequenceStartEvent):
            value = self._sequence(place, depth)
        else:
            value = self._mapping(place, depth)
        if event.anchor is not None:
            self.anchors[event.anchor] = (value, self.nodes - nodes, self.characters - characters)
        return value

    def _scalar(self, event: Any) -> Any:
        self._count(event, 0, len(event.value))
        if event.style or event.tag is not None:
            return event.value
        try:
            return plain_scalar(event.value)
        except ValueError as error:
            raise self._error(str(error), event) from None

    def _sequence(self, place: Place, depth: int) -> list[Any]:
        items: list[Any] = []
        while not isinstance(event := next(self.events), yaml.SequenceEndEvent):
            inner = (*place, len(items))
            self._note(inner, event)
            items.append(self._node(event, inner, depth + 1))
        return items

    def _mapping(self, place: Place, depth: int) -> dict[str, Any]:
        entries: dict[str, Any] = {}
        while not isinstance(event := next(self.events), yaml.MappingEndEvent):
            key = self._key(event)
            if key in entries:
                raise self._error(f"the key {key!r} stands twice in one mapping", event)
            inner = (*place, key)
            self._note(inner, event)
            entries[key] = self._node(next(self.events), inner, depth + 1)
        return entries

    def _key(self, event: Any) -> str:
        if not isinstance(event, yaml.ScalarEvent):
            raise self._error("a key is a text, not a list, a mapping or an alias", event)
        if event.tag not in _PLAIN_TAGS:
            raise self._error(f"the tag {event.tag!r:.80} is not read; a file holds data, not objects", event)
        self._count(event, 1, len(event.value))
        if event.value == "<<" and not event.style:
            raise self._error("merge keys (<<) are not read; write the keys out", event)
        if event.value == "" and not event.style:
            raise self._error("a key is missing before ':'", event)
        return str(event.value)

    def _alias(self, event: Any) -> Any:
        self.aliases += 1
        if self.aliases > MAX_ALIASES:
            raise self._error(f"more than {MAX_ALIASES} aliases", event)
        if event.anchor not in self.anchors:
            raise self._error(
                f"the alias *{event.anchor} stands for nothing that is finished above it", event
            )
        value, nodes, characters = self.anchors[event.anchor]
        self._count(event, nodes, characters)
        return value

    def _count(self, event: Any, nodes: int, characters: int) -> None:
        self.nodes += nodes
        self.characters += characters
        if self.nodes > MAX_NODES:
            way = ", aliases expanded" if self.aliases else "; save as jsonl"
            raise self._error(f"more than {MAX_NODES:,} values{way}", event)
        if self.characters > MAX_CHARACTERS:
            raise self._error(f"more than {MAX_CHARACTERS:,} characters, aliases expanded", event)

    def _note(self, place: Place, event: Any) -> None:
        if len(place) <= _LINES_DEPTH:
            self.lines[place] = self.line_of(event.start_mark)

    def _error(self, message: str, event: Any) -> DatasetError:
        return DatasetError(message, path=self.document.path, line=self.line_of(event.start_mark))
