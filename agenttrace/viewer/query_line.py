"""The search line: a query as it was typed, what was read from it, what is wrong with it."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import NamedTuple

from agenttrace.core.errors import QueryError
from agenttrace.core.jsonable import clean_text
from agenttrace.core.query import Query, Term
from agenttrace.core.query_parsing import parse
from agenttrace.core.trace_reads import NEWEST_FIRST, Cursor, Sort
from agenttrace.viewer.reads import Asked, Reads


class Chip(NamedTuple):
    """A term of the query, and the query without it."""

    text: str
    rest: str


@dataclass(frozen=True)
class QueryLine:
    """A query as it was typed.

    With an `error` nothing of it is used; `around` is the text before the term that has the trouble, that
    term, and the text after it.
    """

    text: str
    query: Query
    sort: Sort = NEWEST_FIRST
    after: Cursor | None = None
    before: Cursor | None = None
    error: str = ""
    around: tuple[str, str, str] = ("", "", "")

    @classmethod
    def of(cls, reads: Reads, asked: Asked) -> QueryLine:
        """Read what a page is asked: ``q``, ``sort``, ``after``, ``before``."""
        text = clean_text(asked.get("q", ""))
        now = datetime.fromtimestamp(reads.now_ns / 1e9, UTC).astimezone()
        try:
            return cls(
                text=text,
                query=parse(text, now),
                sort=Sort.of(asked["sort"]) if asked.get("sort") else NEWEST_FIRST,
                after=Cursor.of(asked["after"]) if asked.get("after") else None,
                before=Cursor.of(asked["before"]) if asked.get("before") else None,
            )
        except QueryError as error:
            place = len(text) if error.position is None else error.position
            return cls(text, Query(), error=str(error), around=_parted(text, place))

    @property
    def chips(self) -> list[Chip]:
        """The terms, each to be taken away."""
        terms = self.query.terms
        return [Chip(str(term), str(Query((*terms[:n], *terms[n + 1 :])))) for n, term in enumerate(terms)]

    @property
    def sort_text(self) -> str:
        """The sort as an address has it; empty for the usual one."""
        return "" if self.sort == NEWEST_FIRST else str(self.sort)

    def with_term(self, term: Term) -> str:
        """The query with a further term."""
        return str(self.query.and_(term))

    def flipped(self, key: str) -> str:
        """The sort for a column's head: the largest first, or the other way round where it is so already."""
        is_descending = self.sort.key == key and self.sort.descending
        return key if is_descending else f"-{key}"


def _parted(text: str, place: int) -> tuple[str, str, str]:
    """A text in three parts, of which the second is the term at a place."""
    end = next((at for at in range(place + 1, len(text)) if text[at].isspace()), len(text))
    return text[:place], text[place:end], text[end:]
