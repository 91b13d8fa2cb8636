"""Read a text file up to a size limit, write one atomically."""

from __future__ import annotations

import codecs
import contextlib
import os
import stat
from pathlib import Path
from typing import NamedTuple
from uuid import uuid4

from agenttrace.core.errors import DatasetError, did_you_mean

_BOMS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)


class FileContent(NamedTuple):
    """The content of a text file: its bytes, and its text without the byte order mark in the `encoding`."""

    content: bytes
    mark: bytes
    encoding: str
    text: str


def read_text(path: Path, max_bytes: int) -> str:
    """Return the text of a file, without its byte order mark: UTF-8, or UTF-16 where a mark says so.

    Line ends are kept as they are.

    Raises:
        DatasetError: no such file (with the nearest name beside it), not a file, larger than `max_bytes`,
            not readable, not text.
    """
    return read_content(path, max_bytes).text


def read_content(path: Path, max_bytes: int) -> FileContent:
    """Read a file to change it later. Raises as `read_text` does."""
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
        return FileContent(content, mark, encoding, content[len(mark) :].decode(encoding))
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, len(mark) + error.start) + 1
        raise DatasetError(
            f"this is not {encoding} text; save the file as UTF-8", path=path, line=line
        ) from None


def write_text(path: Path, text: str, *, is_private: bool = False) -> None:
    """Write a text file in one step: a reader sees the old content or the new, also after a crash.

    Missing directories are made. UTF-8, line ends as given. A file that `is_private` has the mode of the one
    that it replaces; a new one is for this user alone, as a store is.

    Raises:
        DatasetError: the file cannot be written; the old content is then unchanged.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise _not_written(path, error) from None
    _replace(path, text.encode(), _private_mode(path) if is_private else None)


def open_private(path: str, flags: int) -> int:
    """An ``opener`` of files: a new one is for this user alone, as a store is."""
    return os.open(path, flags, 0o600)


def _private_mode(path: Path) -> int:
    try:
        return path.stat().st_mode
    except OSError:
        return 0o600


def write_content(path: Path, before: FileContent, text: str) -> None:
    """Replace a file by a new text in one step, in its encoding and with its mode; a link stays one.

    Raises:
        DatasetError: it is not the one that was read any more, is read-only, or cannot be written; its
            content is then unchanged.
    """
    target = path.resolve()
    try:
        mode = target.stat().st_mode
        if target.read_bytes() != before.content:
            raise DatasetError("the file changed since it was read; nothing was written", path=path)
    except OSError as error:
        raise _not_written(path, error) from None
    if not mode & 0o222 or not os.access(target, os.W_OK):
        raise DatasetError("the file is read-only; nothing was written", path=path)
    _replace(target, before.mark + text.encode(before.encoding), mode)


def _replace(path: Path, content: bytes, mode: int | None = None) -> None:
    if _is_stream(path):
        try:
            path.write_bytes(content)
        except OSError as error:
            raise _not_written(path, error) from None
        return
    temporary = path.parent / f".{path.name}.{uuid4().hex[:8]}.tmp"  # not with_name: "." has none
    try:
        with open(temporary, "xb", opener=None if mode is None else _private) as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        if mode is not None:
            temporary.chmod(stat.S_IMODE(mode))
        temporary.replace(path)
    except OSError as error:
        with contextlib.suppress(OSError):
            temporary.unlink()
        raise _not_written(path, error) from None


def _is_stream(path: Path) -> bool:
    """Returns True for a device or a pipe, ``/dev/null``: it is written to, not replaced."""
    try:
        mode = path.stat().st_mode
    except OSError:
        return False
    return not (stat.S_ISREG(mode) or stat.S_ISDIR(mode))


def _private(path: str, flags: int) -> int:
    return os.open(path, flags, 0o600)


def _not_written(path: Path, error: OSError) -> DatasetError:
    return DatasetError(f"cannot be written: {error.strerror or error}", path=path)


def _nearest(path: Path) -> str:
    try:
        beside = [entry.name for entry in path.parent.iterdir() if entry.suffix == path.suffix]
    except OSError:
        return f"; the directory {str(path.parent)!r} does not exist"
    return did_you_mean(path.name, beside)
