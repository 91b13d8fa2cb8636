"""Read a text file up to a size limit, write one atomically."""

from __future__ import annotations

import codecs
import contextlib
import os
from pathlib import Path
from uuid import uuid4

from agenttrace.core.errors import DatasetError, did_you_mean

_BOMS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)


def read_text(path: Path, max_bytes: int) -> str:
    """Return the text of a file, without its byte order mark: UTF-8, or UTF-16 where a mark says so.

    Line ends are kept as they are.

    Raises:
        DatasetError: no such file (with the nearest name beside it), not a file, larger than `max_bytes`,
            not readable, not text.
    """
    try:
        with path.open("rb") as file:
            size = os.fstat(file.fileno()).st_size
            content = file.read(max_bytes + 1) if size <= max_bytes else b""
    except FileNotFoundError:
        raise DatasetError("there is no such file" + _nearest(path), path=path) from None
    except IsADirectoryError:
        raise DatasetError("this is a directory, wanted a file", path=path) from None
    except OSError as error:
        raise DatasetError(f"cannot be read: {error.strerror or error}", path=path) from None
    if max(size, len(content)) > max_bytes:
        raise DatasetError(
            f"the file has {size / 1e6:.1f} MB, at most {max_bytes / 1e6:.0f} MB are read; "
            "split it, or save it as jsonl",
            path=path,
        )
    mark, encoding = next(((m, e) for m, e in _BOMS if content.startswith(m)), (b"", "utf-8"))
    try:
        return content[len(mark) :].decode(encoding)
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, len(mark) + error.start) + 1
        raise DatasetError(
            f"this is not {encoding} text; save the file as UTF-8", path=path, line=line
        ) from None


def write_text(path: Path, text: str) -> None:
    """Write a text file in one step: a reader sees the old content or the new, also after a crash.

    Missing directories are made. UTF-8, line ends as given.

    Raises:
        DatasetError: the file cannot be written; the old content is then unchanged.
    """
    temporary = path.with_name(f".{path.name}.{uuid4().hex[:8]}.tmp")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with temporary.open("x", encoding="utf-8", newline="") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(path)
    except OSError as error:
        with contextlib.suppress(OSError):
            temporary.unlink()
        raise DatasetError(f"cannot be written: {error.strerror or error}", path=path) from None


def _nearest(path: Path) -> str:
    try:
        beside = [entry.name for entry in path.parent.iterdir() if entry.suffix == path.suffix]
    except OSError:
        return f"; the directory {str(path.parent)!r} does not exist"
    return did_you_mean(path.name, beside)
