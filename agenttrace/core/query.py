"""A query for traces as a value: its terms, each of which writes itself as it is typed.

`core.query_parsing` reads the text, `core.query_matching` says which traces match. All terms must hold; a
negated one must not.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal, TypeAlias

Operator = Literal["<", "<=", ">", ">=", "="]
Measure = Literal["dur", "cost", "spans", "tokens", "calls", "errors", "looped"]
Side = Literal["input", "output"]

METADATA = "metadata."
"""What the key of a label that `tracer.update_metadata` set begins with."""

LABELS = (
    *("tool", "failed", "tag", "name", "project", "status", "verdict", "customer", "session", "run"),
    *("example", "model", "scorer", "errored"),
)
"""The keys of the labels that a trace has of itself."""

MEASURES: tuple[Measure, ...] = ("dur", "cost", "spans", "tokens", "calls", "errors", "looped")

OTHER_KEYS = ("id", "is", "since", "until", "score", "looped", "calls")
"""Keys with a meaning of their own."""

SIDES: tuple[Side, ...] = ("input", "output")

JOINERS = ("AND", "OR", "NOT")
"""Words that join terms in other query languages; here they are words only in quotes."""

LONGEST_FIELD = 64
"""Characters of the name, and of the value, of an argument or output that can be looked for."""

_BARE_VALUE = re.compile(r'[^\s",*\\][^\s",\\]*')
_BARE_KEY = re.compile(r"[^\W\d][\w./@-]*")


@dataclass(frozen=True, slots=True, kw_only=True)
class _Term:
    negated: bool = False

    def __str__(self) -> str:
        return f"-{self._text()}" if self.negated else self._text()

    def _text(self) -> str:
        raise AssertionError("each kind of term writes itself")


@dataclass(frozen=True, slots=True)
class Words(_Term):
    """Words in a row in the root's input, output or error; the last may be the beginning of a word."""

    text: str

    def _text(self) -> str:
        is_bare = re.fullmatch(r"\w+", self.text) and self.text not in JOINERS
        return self.text if is_bare else quoted(self.text)


@dataclass(frozen=True, slots=True)
class Labelled(_Term):
    """The trace has a label of this key with one of these values."""

    key: str
    values: tuple[str, ...]

    def _text(self) -> str:
        return f"{_key_text(self.key)}:{','.join(map(_value_text, self.values))}"


@dataclass(frozen=True, slots=True)
class Present(_Term):
    """The trace has any label of this key: ``customer:*``."""

    key: str

    def _text(self) -> str:
        return f"{_key_text(self.key)}:*"


@dataclass(frozen=True, slots=True)
class Identified(_Term):
    """The trace's id begins with these digits."""

    prefix: str

    def _text(self) -> str:
        return f"id:{self.prefix}"


@dataclass(frozen=True, slots=True)
class Compared(_Term):
    """A number of the trace compares so with `number`, which is in its base unit (ns, US dollars, 1).

    A trace that does not tell the number does not compare in any way. `amount` is the number as it was
    written, with its unit.
    """

    measure: Measure
    operator: Operator
    amount: str
    number: float

    def _text(self) -> str:
        return f"{self.measure}{self.operator}{self.amount}"


@dataclass(frozen=True, slots=True)
class Scored(_Term):
    """Some score, of the scorer of this name or of any, has a value that compares so."""

    name: str | None
    operator: Operator
    amount: str
    number: float

    def _text(self) -> str:
        name = "" if self.name is None else f":{quoted(self.name)}"
        return f"score{name}{self.operator}{self.amount}"


@dataclass(frozen=True, slots=True)
class Called(_Term):
    """These tools were called in this order, perhaps with other calls in between."""

    names: tuple[str, ...]

    def _text(self) -> str:
        return f"calls:{quoted(' > '.join(self.names))}"


@dataclass(frozen=True, slots=True)
class Holds(_Term):
    """The input or output of a tool, or of the root, has a top-level field with one of these values."""

    side: Side
    name: str
    values: tuple[str, ...]

    def _text(self) -> str:
        return f"{self.side}.{_segment_text(self.name)}:{','.join(map(_value_text, self.values))}"


@dataclass(frozen=True, slots=True)
class Started(_Term):
    """The trace started at or after a moment (*since*), or before it (*until*); `text` was written."""

    key: Literal["since", "until"]
    text: str
    moment_ns: int

    def _text(self) -> str:
        return f"{self.key}:{_value_text(self.text)}"


Term: TypeAlias = Words | Labelled | Present | Identified | Compared | Scored | Called | Holds | Started


@dataclass(frozen=True, slots=True)
class Query:
    """Terms that must all hold; without any, every trace matches. Its text reads back as an equal query."""

    terms: tuple[Term, ...] = ()

    def __str__(self) -> str:
        return " ".join(map(str, self.terms))

    def __iter__(self) -> Iterator[Term]:
        return iter(self.terms)

    def __len__(self) -> int:
        return len(self.terms)

    def without(self, key: str) -> Query:
        """The query without its terms on the labels of a key."""
        return Query(tuple(t for t in self.terms if not (isinstance(t, Labelled | Present) and t.key == key)))

    def and_(self, *terms: Term) -> Query:
        """The query with further terms."""
        return Query((*self.terms, *terms))


EVERYTHING = Query()
"""The query that every trace matches."""


def quoted(text: str) -> str:
    """A text in quotes, as a query has it."""
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


def _value_text(value: str) -> str:
    return value if _BARE_VALUE.fullmatch(value) else quoted(value)


def _segment_text(name: str) -> str:
    return name if _BARE_KEY.fullmatch(name) else quoted(name)


def _key_text(key: str) -> str:
    if not key.startswith(METADATA):
        return key
    name = key.removeprefix(METADATA)
    return name if _BARE_KEY.fullmatch(name) and stands_alone(name) else f"{METADATA}{_segment_text(name)}"


def stands_alone(key: str) -> bool:
    """Whether a key means the metadata of that name also without ``metadata.`` before it."""
    return nearest_key(key) is None and not key.startswith((METADATA, *(f"{side}." for side in SIDES)))


def nearest_key(key: str) -> str | None:
    """The key of the query language that this is, or seems to misspell; None for a name of its own."""
    import difflib  # only a query that is typed or read needs it

    close = difflib.get_close_matches(key.lower(), KEYS, n=1, cutoff=0.8)
    return close[0] if close else None


KEYS = tuple(dict.fromkeys((*LABELS, *MEASURES, *OTHER_KEYS, "metadata")))
"""Every key that has a meaning of its own."""
