"""Secrets in a column with their name at its head: CSV, a table of Markdown, what a database prints."""

from __future__ import annotations

import re
from itertools import pairwise
from typing import NamedTuple

from agenttrace.core.marks import REDACTED
from agenttrace.redaction.generated import is_generated
from agenttrace.redaction.naming import Names
from agenttrace.redaction.shape_search import looks_random
from agenttrace.redaction.taken_out import without_places
from agenttrace.redaction.values import ends_opaque, is_made_up, is_phrase, is_placeholder

_CELL = {
    sign: re.compile(rf'[ ]*"(?:[^"]|"")*"[ ]*(?={re.escape(sign)}|\Z)|[^{re.escape(sign)}]*')
    for sign in "|│\t;,"
}
"""The signs that part columns, and what stands between them."""
_SPACED = re.compile(r"\S+(?: \S+)*")
"""What stands between two spaces or more: as ``pandas``, ``kubectl`` and others print columns."""
_SPACED_VALUE = re.compile(r"""[^\s"'`()\[\]{},;:]*(?::[^\s"'`()\[\]{},;:]*)?[^\s"'`()\[\]{},;:.]""")
"""No value of code: it has neither quotes nor brackets."""
_ONE_ROW = re.compile(r"[ \t]*(?:\d{1,7}[ \t]{1,9})?(?P<cell>\S+)[ \t\r]*")
_ONE_COLUMN = re.compile(
    r"[ \t]*[\w.-]{1,40}[ \t]*\r?\n(?:[ \t]*-{3,}[ \t]*\r?\n|0[ \t]{2,}\S+[ \t]*(?:\r?\n|\Z))"
)
_WHOLE_COLUMN = re.compile(r"(?:[ \t]*[^\s:=]+[ \t]*(?:\r?\n|\Z)){2,10000}")
"""The head of a table of one column: a rule below it, numbers of rows, or a text that is nothing else."""
_WORD = re.compile(r"\S+")
_LINES = str.maketrans("┃║┆┇┊", "│││││")
"""The other signs that part columns, as ``rich`` and ``polars`` draw them."""
_TITLE = re.compile(r"[\w .()/#-]{0,40}")
_RULE = re.compile(r"[-:=|+ \t\r─│┼├┤┬┴┌┐└┘═║╪╞╡━┏┓┗┛┡┩┇┳┻╇╈╂╋┠┨╄╃┍┑┕┙]+")
_NUMBER = re.compile(r"[\d.,:%+-]*\d[\w.+:~-]*")
_ITEM = re.compile(r"[ \t]*[-*•][ \t]")
_AROUND = " \t\r`*\"'"
_SHORTEST_NUMBER = 3
_MOST_RULES = 3
_MANY_WORDS = 4
_LONGEST_ROW = 2_000
_LONGEST_PROSE = 200


def without_columns(text: str, places: list[int], names: Names, *, is_cut: bool = False) -> tuple[str, int]:
    """The text without the values of secret columns, and how many were found.

    `places` are those of signs of names, in their order. The last row of a text that is cut may be shorter.
    """
    whole, text = text, text.translate(_LINES) if not text.isascii() else text
    pieces: list[str] = []
    done = read = 0
    another = -1
    for place in places:
        if place < read:
            continue
        read = text.find("\n", place)
        if read < 0:
            break
        begin = text.rfind("\n", 0, place) + 1
        head = _head(text[begin:read], names)
        if "  " in text[begin:read].strip() and (
            head is None or (head.sign == "  " and not _has_rows(text, read + 1, head))
        ):
            head = _head(text[begin:read], names, sign=" ")  # columns that are as wide as their titles
        if head is not None and (begin == another or head.is_said or _is_first(text, begin, head)):
            secrets, read = _secrets(text, read + 1, head, names, is_cut)
            for first, last in secrets:
                pieces += (whole[done:first], REDACTED)
                done = last
            another = read
    return ("".join((*pieces, whole[done:])), len(pieces) // 2) if pieces else (whole, 0)


class _Head(NamedTuple):
    """A line of names: the sign between them, where they stand, the secret ones by their place, the others,
    whether prose is before, and whether that ends with a colon."""

    sign: str
    places: list[tuple[int, int]]
    secret: dict[int, str]
    others: frozenset[str]
    in_prose: bool
    is_said: bool


def _has_rows(text: str, start: int, head: _Head) -> bool:
    """Returns True if what stands below a head is one of its rows, or a rule."""
    stop = text.find("\n", start)
    line = text[start : len(text) if stop < 0 else stop]
    return _RULE.fullmatch(line) is not None or _row(line, head, is_cut=False) is not None


def _head(line: str, names: Names, sign: str = "") -> _Head | None:
    prose, colon, rest = line.rpartition(": ")  # as a log or an error has it: ``ValueError: user,password``
    is_table = any(sign in rest for sign in "\t;,") or rest.lstrip()[:1] in ("|", "│")
    is_said = colon != "" and len(prose) <= _LONGEST_PROSE and is_table
    line = rest if is_said else line
    sign = sign or next((sign for sign in _CELL if sign in line), "  " if "  " in line.strip() else " ")
    places = _cells(line, sign)
    titles = [line[first:last].strip(_AROUND) for first, last in places]
    in_prose = sign not in "|│ " and (is_said or any(" " in title for title in titles))
    titles[:1] = [titles[0].rpartition(" ")[2].strip(_AROUND)] if in_prose else titles[:1]
    if not all(map(_is_title, titles)) or (sign.strip(" ") and not _are_several(line, sign, titles)):
        return None
    if _ITEM.match(line) is not None:
        return None
    secret = {place: title for place, title in enumerate(titles) if title and names.is_secret(title)}
    others = frozenset(title for place, title in enumerate(titles) if title and place not in secret)
    return _Head(sign, places, secret, others, in_prose, is_said) if secret else None


def _is_title(text: str) -> bool:
    """Returns True for what may be the name of a column: no number, no path, no part of a call."""
    return (
        _TITLE.fullmatch(text) is not None
        and _NUMBER.fullmatch(text) is None
        and text[:1] != "/"
        and text.count("(") == text.count(")")
    )


def _is_first(text: str, begin: int, head: _Head) -> bool:
    """Returns True where no row of the same table stands above the line that begins there, but for rules."""
    line = ""
    for _ in range(_MOST_RULES):
        before = text.rfind("\n", 0, max(begin - 1, 0)) + 1
        line, begin = text[before : max(begin - 1, 0)], before
        if not line.strip() or not _RULE.fullmatch(line):
            break
    if not line.strip() or len(line) > _LONGEST_ROW or head.sign == " " or line.rstrip()[-1:] == ":":
        return True
    cells = _cells(line, head.sign)
    return len(cells) != len(head.places) or len(cells) == 1 or _are_words(line, cells)


def _are_words(line: str, cells: list[tuple[int, int]]) -> bool:
    """Returns True for a sentence: of its parts one has many words."""
    return any(line[first:last].count(" ") >= _MANY_WORDS for first, last in cells if line.count("|") < 2)


def _secrets(
    text: str, start: int, head: _Head, names: Names, is_cut: bool
) -> tuple[list[tuple[int, int]], int]:
    """Where the values stand in the lines from `start` on, and where these lines end."""
    places: list[tuple[int, int]] = []
    begin = text.rfind("\n", 0, start - 1) + 1
    is_one = len(head.places) == 1 and (
        _ONE_COLUMN.match(text, begin) is not None
        or (not begin and _WHOLE_COLUMN.fullmatch(text) is not None)
    )
    of_index = _names_of_index(text, start, head)
    if of_index is not None:
        start, head = of_index
    while start < len(text):
        stop = _end_of_row(text, start, head)
        line = text[start : len(text) if stop < 0 else stop]
        if not _RULE.fullmatch(line):
            again = (
                None if head.others.isdisjoint(line.replace(head.sign, " ").split()) else _head(line, names)
            )
            if again is not None and not again.others.isdisjoint(head.others):
                break  # another table, with columns of the same names
            cells = _one_cell(line) if is_one else _row(line, head, is_cut and stop < 0)
            if cells is None:
                break
            for place, name in head.secret.items():
                if place >= len(cells):
                    continue
                first, last = cells[place]
                value = line[first:last].strip(_AROUND)
                if (
                    _is_secret(name, value, names)
                    and (not head.in_prose or looks_random(value.split()[0]))
                    and (
                        head.sign.strip(" ")
                        or _SPACED_VALUE.fullmatch(value) is not None
                        or is_generated(value, is_whole=True)
                    )
                    and (head.sign.strip(" ") or is_made_up(value) or _is_mixed(value) or _is_number(value))
                ):
                    first = start + line.index(value, first)
                    places.append((first, first + len(value)))
        start += len(line) + 1
    return places, start


def _names_of_index(text: str, start: int, head: _Head) -> tuple[int, _Head] | None:
    """Where the rows of a frame begin whose index has names, on a line of their own below the head, and the
    head with them before its own: ``DataFrame.set_index("user").to_string()``."""
    stop = text.find("\n", start)
    line = text[start:stop].rstrip() if stop > 0 else ""
    if head.sign.strip(" ") or not line or line[0] == " " or len(line) > head.places[0][0]:
        return None
    names = _cells(line, " ")
    secret = {place + len(names): title for place, title in head.secret.items()}
    return stop + 1, head._replace(sign="  ", places=[*names, *head.places], secret=secret)


def _end_of_row(text: str, start: int, head: _Head) -> int:
    """Where the row ends that begins at a place; -1 for the end of the text.

    A cell in quotes may have ends of lines in it, where the row has as many cells as its head then.
    """
    first = stop = text.find("\n", start)
    if head.sign[0] in _MAY_BE_QUOTED and text.count('"', start, len(text) if stop < 0 else stop) % 2:
        closing = text.find('"', stop, start + _LONGEST_ROW) if stop > 0 else -1
        stop = text.find("\n", closing) if closing > 0 else -1
        end = len(text) if stop < 0 else stop
        if closing < 0 or end - start > _LONGEST_ROW:
            return first
        cells = _cells(text[start:end], head.sign)
        return stop if len(cells) == len(head.places) else first
    return stop


_MAY_BE_QUOTED = "|\t;,"


def _are_several(line: str, sign: str, titles: list[str]) -> bool:
    """Returns True for the head of a table: code ends lines with a comma, and types begin with ``|``."""
    line = line.strip()
    return sum(map(bool, titles)) > 1 or (line[:1] == sign == line[-1:] and len(line) > 1)


def _one_cell(line: str) -> list[tuple[int, int]] | None:
    """The one word of a row, behind its number if it has one."""
    row = _ONE_ROW.fullmatch(line)
    return None if row is None else [row.span("cell")]


def _row(line: str, head: _Head, is_cut: bool) -> list[tuple[int, int]] | None:
    """Where the cells of a line stand; None for one that is no row below this head."""
    width = len(head.places)
    if head.sign != " ":
        cells = _cells(line, head.sign)
        if head.sign == "  " and len(cells) == width + 1:  # the first is the number of the row
            del cells[0]
        if len(cells) == width or (is_cut and 1 < len(cells) < width):
            return cells
    if head.sign.strip(" "):
        return None
    return _ending_below(line, head.places, is_cut) or _beginning_below(line, head.places)


def _ending_below(line: str, titles: list[tuple[int, int]], is_cut: bool) -> list[tuple[int, int]] | None:
    """The cells of a line of which each ends below the end of its title: ``DataFrame.to_string``."""
    ends = [last for _, last in titles]
    if is_cut and len(line) < ends[-1]:
        ends = [*(end for end in ends if end < len(line)), len(line)]
    if len(line.rstrip()) != ends[-1]:
        return None
    if len(titles) == 1 and len(line) - len(line.lstrip()) == titles[0][0]:
        return None  # any word below another of its length
    if any(line[end - 1].isspace() or line[end : end + 1].strip() for end in ends):
        return None
    return list(pairwise((0, *ends)))


def _beginning_below(line: str, titles: list[tuple[int, int]]) -> list[tuple[int, int]] | None:
    """The cells of a line of which each begins below its title, with one space or more before it."""
    starts = [first for first, _ in titles]
    if len(titles) == 1 or len(line) <= starts[-1]:
        return None
    if any(line[start].isspace() or line[:start][-1:].strip() for start in starts):
        return None
    return list(pairwise((*starts, len(line))))


def _is_number(text: str) -> bool:
    return len(text) >= _SHORTEST_NUMBER and text.replace("-", "").isdecimal()


def _is_mixed(text: str) -> bool:
    return any(map(str.isdigit, text)) and any(map(str.isalpha, text))


def _cells(line: str, sign: str) -> list[tuple[int, int]]:
    if sign[0] == " ":
        return [cell.span() for cell in (_SPACED if sign == "  " else _WORD).finditer(line)]
    cells: list[tuple[int, int]] = []
    place, line = 0, line.removesuffix("\r")
    while place <= len(line):
        cell = _CELL[sign].match(line, place)
        end = place if cell is None else cell.end()
        cells.append((place, end))
        place = end + 1
    return cells


_SERIES = re.compile(r"\nName: (?P<name>[\w.-]{1,60}), (?:Length: \d{1,12}, )?dtype: ")
_OF_SERIES = re.compile(r"\S[^\n]*?[ ]{2,}(?P<value>\S+)[ ]*")


def without_series(text: str, names: Names) -> tuple[str, int]:
    """The text without the values of a secret `Series`, whose name stands below them."""
    places: list[tuple[int, int]] = []
    before = 0  # where the last one ended
    for footer in _SERIES.finditer(text):
        stop, first = footer.start() if names.is_secret(footer["name"]) else 0, before
        before = footer.end()
        while stop > first:
            begin = text.rfind("\n", 0, stop) + 1
            row = _OF_SERIES.fullmatch(text, begin, stop)
            if row is None:
                break
            if _is_secret(footer["name"], row["value"], names):
                places.append(row.span("value"))
            stop = begin - 1
    return (without_places(text, sorted(places)), len(places)) if places else (text, 0)


_ARGUMENT = re.compile(r"\*\*\w+|[a-z_]+\d?=[\w.]+")
"""``**options`` and ``seed=seed`` of a call."""


def _is_secret(name: str, text: str, names: Names) -> bool:
    if not text or text.startswith(REDACTED) or is_placeholder(text) or _ARGUMENT.fullmatch(text):
        return False
    value = int(text) if text.isdecimal() and len(text) < 40 else text
    is_number = type(value) is int and len(text) >= _SHORTEST_NUMBER
    return (is_number or ends_opaque(text) or is_phrase(text)) and names.hides(name, value)
