"""Copy plain containers into bytes with the C pickler, which runs no code of the user's and ends in time.

A hook keeps the pickler away from every object that is not a plain builtin: something stands in for it. Its
writer stops it at twice what a value may keep.
"""

from __future__ import annotations

import io
import pickle
from typing import Any

from agenttrace.core.handlers import handler_of, never_changes
from agenttrace.core.limits import RECORDED, Limits
from agenttrace.core.reading_types import Handler, Reader, type_name
from agenttrace.core.small_records import NOT_SMALL, fields_reader, small_content
from agenttrace.core.snapshot import first_snapshot
from agenttrace.core.stand_ins import Fields, StandIn

_SMALL_PACKER = 1 << 17
"""Bytes up to which what was packed leaves the packer small enough to be kept."""


_LONGEST_TEXT = 256

_Way = tuple[str, Reader | None, Handler | None]
"""Of a class: its name; what gives its objects' fields; what writes one as a text, if none ever changes."""


class TooLarge(Exception):
    """A value is more than twice as large as what of it may be kept."""


class _BoundedWriter:
    __slots__ = ("chunks", "room")

    def __init__(self) -> None:
        self.chunks: list[bytes] = []
        self.room = 0

    def write(self, chunk: Any) -> None:
        self.room -= len(chunk)
        if self.room < 0:
            raise TooLarge
        self.chunks.append(chunk if type(chunk) is bytes else bytes(chunk))


class _Packer(pickle.Pickler):
    """`task` are the limits of one dump, and whether it opens records: another object for each dump."""

    def __init__(self) -> None:
        self.task: tuple[Limits, bool] = RECORDED, False
        self.looked_at_in = self.task
        self.ways: dict[int, _Way] = {}
        self.writer = _BoundedWriter()
        super().__init__(self.writer, 5)

    def reducer_override(self, value: Any) -> Any:
        if value is StandIn or value is Fields:  # asked for, too, as part of what is answered below
            return NotImplemented  # packed by its name
        if self.looked_at_in is not self.task:
            self.looked_at_in, self.ways = self.task, {}
        kind = type(value)
        way = self.ways.get(id(kind))
        if way is None:
            way = self.ways[id(kind)] = self._way(kind)
        name, read_fields, read_text = way
        if read_fields is not None:
            try:
                return Fields, (name,), read_fields(value, kind)
            except (LookupError, AttributeError):
                pass
        elif read_text is not None:
            text = read_text(value)
            if type(text) is str and len(text) <= _LONGEST_TEXT:
                return StandIn, (name, text)
        content, _ = small_content(value, kind, self.task[0])
        if content is NOT_SMALL:
            content, _ = first_snapshot(value, limits=self.task[0])
        return StandIn, (name, content)

    def _way(self, kind: type) -> _Way:
        read_text = handler_of(kind) if never_changes(kind) else None
        return type_name(kind), fields_reader(kind) if self.task[1] else None, read_text


_packers: list[_Packer] = []
"""Packers that are free: to make one costs as much as to pack a small value."""


_PACKED_BY_NAME: dict[str, Any] = {kind.__name__: kind for kind in (StandIn, Fields)}


class _Unpacker(pickle.Unpickler):
    def find_class(self, module: str, name: str) -> Any:
        if module == StandIn.__module__ and name in _PACKED_BY_NAME:
            return _PACKED_BY_NAME[name]
        raise pickle.UnpicklingError(f"{module}.{name} is not data")


def pack(value: Any, limits: Limits, opens_records: bool) -> bytes:
    """The bytes of a container, or of an object with declared fields.

    With `opens_records` the pickler packs the fields of such objects, too, which takes a fraction of the
    time of their snapshots, and as much stack as they nest deeply.

    Raises:
        TooLarge: it is much larger than what of it may be kept.
        ValueError, RecursionError, PicklingError: it cannot be packed, or nests too deeply.
    """
    try:
        packer = _packers.pop()
    except IndexError:
        packer = _Packer()
    packer.task = limits, opens_records
    writer = packer.writer
    writer.room = 2 * limits.value
    try:
        packer.dump(value)
    except TooLarge:
        if not opens_records or packer.looked_at_in is not packer.task:
            raise
        # A snapshot keeps of each object what a value may keep: of the whole, more than of what is too large.
        return pack(value, limits, False)
    chunks = writer.chunks
    content = chunks[0] if len(chunks) == 1 else b"".join(chunks)
    if len(content) <= _SMALL_PACKER:  # a packer keeps the room that it made for what it has packed
        chunks.clear()
        packer.clear_memo()
        _packers.append(packer)
    return content


def unpack(content: bytes) -> Any:
    """What was packed, as new objects; stand-ins for all that is no plain builtin."""
    return _Unpacker(io.BytesIO(content)).load()
