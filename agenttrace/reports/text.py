"""Print recorded text safely: escaped, plain or coloured, also as a table.

Recorded text comes from models, users and the web. Control characters in it could move the cursor, set the
window's title or hide what follows, so they are written as escapes (``\\x1b``); so are lone surrogates and
the characters that change the direction of writing.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import IO, Any

from agenttrace.core.jsonable import jsonable, to_json
from agenttrace.core.marks import cut, without_digests
from agenttrace.core.text import shorten

_UNSAFE = re.compile(
    "[\\x00-\\x09\\x0b-\\x1f\\x7f-\\x9f\\u00ad\\u061c\\u200e\\u200f\\u2028-\\u202e\\u2066-\\u2069\\ufeff\\ud800-\\udfff]"
)


@dataclass(frozen=True, slots=True)
class Line:
    """One line to print; `style` is a rich style, used on a terminal only."""

    text: str
    style: str = ""


def safe(text: str, limit: int = 2_000) -> str:
    """The text with control characters escaped, except line breaks; cut visibly after `limit` characters."""
    return _UNSAFE.sub(_escape, cut(text, limit))


def safe_line(text: str, limit: int = 200) -> str:
    """The text on one line, safe to print."""
    return safe(text, limit).replace("\n", "\\n")


def value_text(value: Any, limit: int = 200) -> str:
    """A recorded value as JSON on one line, safe to print."""
    return safe_line(to_json(without_digests(jsonable(value, limit=4 * limit))), limit)


def _escape(match: re.Match[str]) -> str:
    code = ord(match[0])
    if match[0] == "\t":
        return "    "
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}"


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

        console = Console(file=stream, highlight=False, soft_wrap=True)
        for line in lines:
            console.print(Text(line.text, style=line.style))
        return
    encoding = getattr(stream, "encoding", None) or "utf-8"
    for line in lines:
        stream.write(line.text.encode(encoding, "backslashreplace").decode(encoding) + "\n")


def table_lines(head: Sequence[str], rows: Sequence[Sequence[str]], *, limit: int = 40) -> Iterator[Line]:
    """The head and the rows, each column as wide as its widest cell and at most `limit` characters."""
    cells = [[shorten(safe_line(cell), limit) for cell in row] for row in (head, *rows)]
    widths = [max(len(row[column]) for row in cells) for column in range(len(head))]
    for number, row in enumerate(cells):
        text = "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True))
        yield Line(text.rstrip(), "" if number else "bold")
