"""Reads the text of a query into its terms; what cannot be read is an error that names the place.

::

    refund "two words"          words of the root's input, output or error
    customer:acme -tag:canary   a label; several values are joined by commas, * is any
    dur>2s cost>0.05 spans>100  numbers; also tokens, calls, errors, looped
    score<0.5 score:"Name"<0.7  values of scores
    calls:"lookup > refund"     tools called in this order
    input.order_id:7            a field of a tool's arguments or output
    since:2d until:2025-06-01   when the trace started; a date is that whole day
"""

from __future__ import annotations

import re
from datetime import UTC, date, datetime, time, timedelta
from fractions import Fraction
from typing import Literal, cast

from agenttrace.core.errors import QueryError, did_you_mean
from agenttrace.core.query import (
    JOINERS,
    LABELS,
    LONGEST_FIELD,
    MEASURES,
    METADATA,
    Called,
    Compared,
    Holds,
    Identified,
    Labelled,
    Measure,
    Operator,
    Present,
    Query,
    Scored,
    Side,
    Started,
    Term,
    Words,
    nearest_key,
)
from agenttrace.core.text import shorten
from agenttrace.core.words import words_of

MOST_CHARACTERS = 1_000
MOST_TERMS = 20

CHOICES = {
    "status": ("ok", "error", "cancelled", "abandoned", "open"),
    "verdict": ("passed", "failed", "errored", "skipped", "none"),
}
"""The values that a trace's status and verdict can have."""

_IS: dict[str, tuple[str, str]] = {
    "open": ("status", "open"),
    "failed": ("verdict", "failed"),
    "passed": ("verdict", "passed"),
    "errored": ("verdict", "errored"),
    "scored": ("scorer", "*"),
    "example": ("run", "*"),
}
_ALIASES: dict[str, Measure] = {"duration": "dur"}
_NANOSECONDS = {
    "ns": 1, "us": 1_000, "µs": 1_000, "μs": 1_000, "ms": 10**6, "s": 10**9, "": 10**9,
    "m": 60 * 10**9, "min": 60 * 10**9, "h": 3_600 * 10**9,
}  # fmt: skip
_AGO = {"s": 1, "m": 60, "min": 60, "h": 3_600, "d": 86_400, "w": 7 * 86_400}
_HEAD = re.compile(r'[^\s":<>=]+')
_OPERATOR = re.compile(r"<=|>=|<|>|=")
_BARE = re.compile(r'[^\s",]+')
_BARE_NAME = re.compile(r'[^\s",<>=]+')
_AMOUNT = re.compile(r"((?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d{1,3})?)([a-zµμ]*)", re.ASCII)
_RELATIVE = re.compile(r"(\d{1,6})(s|m|min|h|d|w)")
_TIME = re.compile(r"\d\d:\d\d(:\d\d)?")


def parse(text: str, now: datetime | None = None) -> Query:
    """Read a query. Relative times are counted back from `now`, in whose zone dates are meant.

    `now` is aware of its zone; by default it is the present moment, in the system's zone.

    Raises:
        QueryError: a term cannot be read, or there are more than 20 of them, or more than 1,000 characters.
    """
    if len(text) > MOST_CHARACTERS:
        raise QueryError(
            f"the query has {len(text):,} characters, at most {MOST_CHARACTERS:,} are read; leave some out",
            position=MOST_CHARACTERS,
        )
    reader = _Reader(text, now)
    terms: list[Term] = []
    while reader.skip_blanks():
        if len(terms) == MOST_TERMS:
            raise QueryError(
                f"the query has more than {MOST_TERMS} terms; leave some out", position=reader.at
            )
        terms.append(reader.term())
    return Query(tuple(terms))


class _Reader:
    def __init__(self, text: str, now: datetime | None) -> None:
        self.text = text
        self.at = 0
        self.start = 0
        self._zone = None if now is None else now.tzinfo
        self._now = datetime.now(UTC) if now is None else now

    def skip_blanks(self) -> bool:
        """Go to the next term; False where there is none."""
        while self._next().isspace():
            self.at += 1
        return self.at < len(self.text)

    def _next(self) -> str:
        return self.text[self.at : self.at + 1]

    def _error(self, wanted: str, at: int | None = None) -> QueryError:
        end = max(self.at, self.start + 1)
        while end < len(self.text) and not self.text[end].isspace():
            end += 1
        got = shorten(self.text[self.start : end], 60)
        place = self.start if at is None else at
        return QueryError(f"cannot read {got!r} (character {place + 1}): {wanted}", position=place)

    def term(self) -> Term:
        self.start = self.at
        negated = self._next() == "-"
        if negated:
            self.at += 1
            if not self._next().strip():
                raise self._error("after a minus stands the term that is not to hold")
        term = self._plain_term(negated)
        if self._next().strip():
            raise self._error(
                "after a term stands a blank; put texts with blanks or quotes in quotes", self.at
            )
        return term

    def _plain_term(self, negated: bool) -> Term:
        if self._next() == '"':
            return self._words(self._quoted(), negated)
        head = self._match(_HEAD)
        if head is None:
            raise self._error('wanted a word, "two words", key:value or a comparison such as dur>2s')
        if self._next() == '"':
            head += self._quoted_segment(head)
        if self._next() == ":":
            self.at += 1
            return self._keyed(head, negated)
        if head in JOINERS:
            raise self._error(_NO_JOINERS)
        operator = self._operator()
        return self._words(head, negated) if operator is None else self._compared(head, operator, negated)

    def _match(self, pattern: re.Pattern[str]) -> str | None:
        match = pattern.match(self.text, self.at)
        if match is None:
            return None
        self.at = match.end()
        return match[0]

    def _operator(self) -> Operator | None:
        return cast("Operator | None", self._match(_OPERATOR))

    def _quoted(self) -> str:
        opening, characters = self.at, []
        self.at += 1
        while (character := self._next()) != '"':
            if not character:
                raise self._error("the quote is not closed", opening)
            following = self.text[self.at + 1 : self.at + 2]
            if character == "\\" and following and following in '"\\':
                character = following
                self.at += 1
            characters.append(character)
            self.at += 1
        self.at += 1
        return "".join(characters)

    def _quoted_segment(self, head: str) -> str:
        """The quoted end of a key: ``metadata."of mine":1``."""
        if head not in (METADATA, "input.", "output."):
            raise self._error("a quote stands at the beginning of a word or of a value", self.at)
        name = self._quoted()
        if self._next() != ":":
            raise self._error("after the name stands a colon and a value", self.at)
        return name

    def _words(self, text: str, negated: bool) -> Words:
        if not words_of(text):
            raise self._error("a word to look for has letters or digits")
        return Words(text, negated=negated)

    def _values(self, key: str) -> list[tuple[str, bool]]:
        """The values after a colon, each with whether it stood in quotes."""
        values = []
        while True:
            in_quotes = self._next() == '"'
            value = self._quoted() if in_quotes else self._match(_BARE)
            if value is None:
                raise self._error(f"wanted a value after {key}:, such as {key}:{_example_of(key)}", self.at)
            values.append((value, in_quotes))
            if self._next() != ",":
                return values
            self.at += 1

    def _one_value(self, key: str) -> str:
        values = self._values(key)
        if len(values) > 1:
            raise self._error(f"{key}: takes one value")
        return values[0][0]

    def _keyed(self, key: str, negated: bool) -> Term:
        if key == "score":
            return self._score(negated)
        if key in _SPECIAL:
            return cast(Term, _SPECIAL[key](self, negated))
        side, dot, name = key.partition(".")
        if dot and name and side in ("input", "output"):
            return self._holds(cast(Side, side), name, negated)
        if key in MEASURES or key in _ALIASES:
            raise self._error(f"{key} is a number; wanted a comparison such as {key}>{_example_of(key)}")
        return self._labelled(key, negated)

    def _labelled(self, key: str, negated: bool) -> Labelled | Present:
        label = self._label_key(key)
        values = self._values(key)
        if ("*", False) in values:
            if len(values) > 1:
                raise self._error(f"{key}:* is any {key}; other values beside it say nothing")
            return Present(label, negated=negated)
        choices = CHOICES.get(label)
        for value, _ in values:
            if choices is not None and value not in choices:
                raise self._error(f"{key} is one of {', '.join(choices)}{did_you_mean(value, choices)}")
        return Labelled(label, tuple(dict.fromkeys(value for value, _ in values)), negated=negated)

    def _label_key(self, key: str) -> str:
        if key in LABELS or (key.startswith(METADATA) and key != METADATA):
            return key
        near = nearest_key(key)
        if near is None:
            return METADATA + key
        raise self._error(
            f"there is no key {key!r}; did you mean {near!r}? A metadata key of that name is written "
            f"{METADATA}{key}:"
        )

    def _is(self, negated: bool) -> Labelled | Present:
        word = self._one_value("is")
        if word not in _IS:
            raise self._error(f"is: takes one of {', '.join(_IS)}{did_you_mean(word, _IS)}")
        key, value = _IS[word]
        return Present(key, negated=negated) if value == "*" else Labelled(key, (value,), negated=negated)

    def _id(self, negated: bool) -> Identified:
        digits = self._one_value("id").lower()
        if not re.fullmatch(r"[0-9a-f]{4,32}", digits):
            raise self._error("id: takes the first digits of a trace's id, 4 to 32 of 0-9 and a-f")
        return Identified(digits, negated=negated)

    def _calls(self, negated: bool) -> Called:
        names = tuple(name.strip() for name in self._one_value("calls").split(">"))
        if not all(names):
            raise self._error('calls: takes the names of tools in order, such as calls:"lookup > refund"')
        return Called(names, negated=negated)

    def _holds(self, side: Side, name: str, negated: bool) -> Holds:
        values = [value for value, _ in self._values(f"{side}.{name}")]
        if max(map(len, (name, *values))) > LONGEST_FIELD:
            raise self._error(
                f"names and values of at most {LONGEST_FIELD} characters can be looked for; use its words"
            )
        return Holds(side, name, tuple(dict.fromkeys(values)), negated=negated)

    def _looped(self, negated: bool) -> Compared:
        return self._amount_of("looped", ">=", self._one_value("looped"), negated)

    def _since(self, negated: bool) -> Started:
        return self._started("since", negated)

    def _until(self, negated: bool) -> Started:
        return self._started("until", negated)

    def _started(self, key: Literal["since", "until"], negated: bool) -> Started:
        text = self._one_value(key)
        try:
            moment = self._moment(text, timedelta(days=key == "until"))
            ns = (moment - _EPOCH) // timedelta(microseconds=1) * 1_000
        except (ValueError, OverflowError):
            raise self._error(
                f"{key}: takes a time ago (2d, 12h, 30m), a date (2025-06-01, today, yesterday), "
                "a time (14:30) or both (2025-06-01T14:30)"
            ) from None
        return Started(key, text, ns, negated=negated)

    def _moment(self, text: str, whole_day: timedelta) -> datetime:
        relative = _RELATIVE.fullmatch(text)
        if relative:
            return self._now - timedelta(seconds=int(relative[1]) * _AGO[relative[2]])
        today = self._now.astimezone(self._zone).date()
        if text in ("today", "yesterday"):
            return self._at(today - timedelta(days=text == "yesterday") + whole_day, time())
        if _TIME.fullmatch(text):
            return self._at(today, time.fromisoformat(text))
        if len(text) == len("2025-06-01"):
            return self._at(date.fromisoformat(text) + whole_day, time())
        moment = datetime.fromisoformat(text)
        return self._at(moment.date(), moment.time()) if moment.tzinfo is None else moment

    def _at(self, day: date, clock: time) -> datetime:
        moment = datetime.combine(day, clock)
        return moment.astimezone() if self._zone is None else moment.replace(tzinfo=self._zone)

    def _score(self, negated: bool) -> Scored | Labelled:
        name = self._quoted() if self._next() == '"' else self._match(_BARE_NAME)
        if not name:
            raise self._error('wanted a scorer and its value, such as score:"Tool Order"<0.7', self.at)
        operator = self._operator()
        if operator is None:
            return Labelled("scorer", (name,), negated=negated)
        return self._score_amount(name, operator, negated)

    def _score_amount(self, name: str | None, operator: Operator, negated: bool) -> Scored:
        amount = self._match(_BARE) or ""
        number = self._number(amount, {"": 1}, "a number from 0 to 1, such as 0.7")
        if number > 1:
            raise self._error(f"the value of a score is a number from 0 to 1, got {amount}")
        return Scored(name, operator, amount, number, negated=negated)

    def _compared(self, head: str, operator: Operator, negated: bool) -> Term:
        if head == "score":
            return self._score_amount(None, operator, negated)
        measure = _ALIASES.get(head, head)
        for known in MEASURES:
            if measure == known:
                return self._amount_of(known, operator, self._match(_BARE) or "", negated)
        near = nearest_key(head)
        if near in LABELS:
            raise self._error(f"{near} is compared with no number; write {near}:{_example_of(near)}")
        raise self._error(
            f"there is no number {head!r}{did_you_mean(head, MEASURES)}; "
            "a word with such a sign stands in quotes"
        )

    def _amount_of(self, measure: Measure, operator: Operator, amount: str, negated: bool) -> Compared:
        units = _NANOSECONDS if measure == "dur" else {"": 1}
        wanted = f"a number{' with a unit (µs, ms, s, m, h)' if measure == 'dur' else ''}"
        number = self._number(amount, units, f"{wanted}, such as {measure}{operator}{_example_of(measure)}")
        return Compared(measure, operator, amount, number, negated=negated)

    def _number(self, amount: str, units: dict[str, int], wanted: str) -> float:
        match = _AMOUNT.fullmatch(amount)
        if match is None or match[2] not in units:
            raise self._error(f"wanted {wanted}, got {amount!r}")
        number = Fraction(match[1]) * units[match[2]] if len(match[1]) < _MOST_DIGITS else _LARGEST
        if number >= _LARGEST:
            raise self._error(f"{amount} is too large")
        return float(number)


_NO_JOINERS = (
    "terms are not joined by words: all terms must hold, tool:refund,notify is one of several values, "
    '-term excludes; the word itself stands in quotes, as in "OR"'
)
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MOST_DIGITS = 40
_LARGEST = 1e30
_SPECIAL = {
    "is": _Reader._is,
    "id": _Reader._id,
    "calls": _Reader._calls,
    "looped": _Reader._looped,
    "since": _Reader._since,
    "until": _Reader._until,
}


def _example_of(key: str) -> str:
    examples = {"dur": "2s", "duration": "2s", "cost": "0.05", "since": "2d", "until": "2025-06-01"}
    examples |= {"tool": "search", "failed": "search", "status": "error", "verdict": "failed", "is": "open"}
    examples |= {"customer": "acme", "calls": '"lookup > refund"', "id": "6d09", "looped": "3"}
    return examples.get(key, "100" if key in MEASURES else "value")
