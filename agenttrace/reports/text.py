"""Print recorded text safely: escaped, plain or coloured, also as a table.

Recorded text comes from models, users and the web. Control characters in it could move the cursor, set the
window's title or hide what follows, so they are written as escapes (``\\x1b``); so are lone surrogates and
the characters that change the direction of writing.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import IO, Any

from agenttrace.core.deep_link import DeepLink
from agenttrace.core.jsonable import jsonable, to_json
from agenttrace.core.marks import cut, without_digests
from agenttrace.core.text import UNSAFE, printable, shorten
from agenttrace.reports.hyperlinks import has_hyperlinks

NARROWEST = 60
"""Columns below which nothing is fitted to a terminal: it breaks the lines itself then."""

_NARROWEST_COLUMN = 8
_UNKNOWN = 80


@dataclass(frozen=True, slots=True)
class Line:
    """One line to print; `style` is a rich style, used on a terminal only.

    `links` are parts of the text with the addresses that they lead to, on terminals that show links.
    """

    text: str
    style: str = ""
    links: tuple[tuple[str, str], ...] = ()


def safe(text: str, limit: int = 2_000) -> str:
    """The text with control characters escaped, except line breaks; cut visibly after `limit` characters."""
    return printable(cut(text, limit))


def safe_line(text: str, limit: int = 200) -> str:
    """The text on one line, safe to print."""
    return safe(text, limit).replace("\n", "\\n")


def value_text(value: Any, limit: int = 200) -> str:
    """A recorded value as JSON on one line, safe to print."""
    return safe_line(to_json(without_digests(jsonable(value, limit=4 * limit))), limit)


def safe_json(text: str) -> str:
    """JSON text with control characters as JSON's own escapes: safe to print, and the same data."""
    return UNSAFE.sub(_json_escape, text)


def _json_escape(match: re.Match[str]) -> str:
    return f"\\u{ord(match[0]):04x}"


def plain(lines: Iterable[Line]) -> str:
    """The lines as text, without colour."""
    return "\n".join(line.text for line in lines)


def show(lines: Iterable[Line], file: IO[str] | None = None) -> None:
    """Print the lines: coloured on a terminal, plain in a pipe or a file.

    Characters that the stream's encoding lacks are written as escapes.
    """
    stream = file if file is not None else sys.stdout
    if stream.isatty():
        from rich.console import Console
        from rich.text import Text

        # Rich prints nothing at all where COLUMNS is 0.
        console = Console(file=stream, highlight=False, soft_wrap=True, width=terminal_width(stream))
        is_linking = has_hyperlinks()
        for line in lines:
            text = Text(line.text, style=line.style)
            for part, url in line.links if is_linking else ():
                start = line.text.find(part)
                if start >= 0:
                    text.stylize(f"link {url}", start, start + len(part))
            console.print(text)
        return
    encoding = getattr(stream, "encoding", None) or "utf-8"
    for line in lines:
        stream.write(line.text.encode(encoding, "backslashreplace").decode(encoding) + "\n")


def terminal_width(file: IO[str] | None = None) -> int | None:
    """The columns of the terminal that the stream is, at least 60; None where it is no terminal.

    ``COLUMNS`` in the environment goes first, as everywhere; a terminal that does not know is 80 wide.
    """
    stream = file if file is not None else sys.stdout
    if not stream.isatty():
        return None
    columns = os.environ.get("COLUMNS", "")
    try:
        width = int(columns) if columns.isdecimal() else os.get_terminal_size(stream.fileno()).columns
    except (OSError, ValueError):
        width = 0
    return max(width or _UNKNOWN, NARROWEST)


def see_line(link: DeepLink, indent: str = "  ") -> Line:
    """The line below a failure that says how to look at it."""
    links = () if link.url is None else ((link.text, link.url),)
    return Line(f"{indent}see: {safe_line(link.text, 1_000)}", "dim", links)


def broken_line(text: str, width: int, *, hang: int) -> list[str]:
    """The line in parts of at most `width` characters, broken at blanks where there are any.

    All but the first begin with `hang` blanks, or fewer where that is most of the width.
    """
    indent = " " * min(hang, width // 2)
    parts = []
    while len(text) > width:
        end = text.rfind(" ", len(indent) + 1, width + 1)
        end = width if end <= width // 2 else end  # no blank, or one so early that the line would be a stump
        parts.append(text[:end].rstrip())
        text = indent + text[end:].lstrip()
    return [*parts, text]


def table_lines(
    head: Sequence[str], rows: Sequence[Sequence[str]], *, limit: int = 40, width: int | None = None
) -> Iterator[Line]:
    """The head and the rows, each column as wide as its widest cell and at most `limit` characters.

    With `width`, the widest columns give way until the table is no wider; none below its head, or 8.
    """
    cells = [[safe_line(cell) for cell in row] for row in (head, *rows)]
    widths = [min(max(len(row[column]) for row in cells), limit) for column in range(len(head))]
    if width is not None:
        _give_way(widths, [max(len(title), _NARROWEST_COLUMN) for title in head], width)
    for number, row in enumerate(cells):
        text = "  ".join(shorten(cell, most).ljust(most) for cell, most in zip(row, widths, strict=True))
        yield Line(text.rstrip(), "" if number else "bold")


def _give_way(widths: list[int], least: Sequence[int], width: int) -> None:
    """Make the widest columns narrower, a character at a time, while the table is too wide."""
    while sum(widths) + 2 * (len(widths) - 1) > width:
        column = max(range(len(widths)), key=lambda at: widths[at] if widths[at] > least[at] else -1)
        if widths[column] <= least[column]:
            return
        widths[column] -= 1
