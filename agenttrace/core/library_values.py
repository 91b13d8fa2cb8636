"""Read the values of numpy and pandas as data, where the program has imported them.

Only objects of exactly their own types are read, never those of a subclass, and of a table never a column of
a type from elsewhere: so what runs is the libraries' code, not the user's. How much is read is decided by
sizes that they keep, before a value is touched.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from agenttrace.core.marks import left_out

_COLUMN_SHARE = 10
"""Of a table, a tenth as many columns as rows: each costs some 30 µs on the thread of the traced call."""

_LIBRARIES = frozenset({"numpy", "pandas"})


@dataclass(frozen=True, slots=True)
class BoundedHandler:
    """Reads values that may be vast: ``read(value, values, items)`` reads no more than so many numbers or
    cells altogether, and so many items of each axis."""

    read: Callable[[Any, int, int], Any]

    def __call__(self, value: Any) -> Any:
        """The whole value."""
        return self.read(value, 1 << 62, 1 << 62)


def library_member(library: str, name: str) -> Any:
    """What an imported library has under a name; None where it is not imported, or has no such thing.

    A ``__getattr__`` of the module, or of what stands in its place, is not called: stubs of the user's may be
    put there, too.
    """
    names = _names_in(library)
    return None if names is None else names.get(name)


def _names_in(library: str) -> Mapping[str, Any] | None:
    module = sys.modules.get(library)
    if module is None:
        return None
    try:
        names = object.__getattribute__(module, "__dict__")
    except AttributeError:
        return None
    return names if type(names) is dict else None


def library_handler(kind: type, bases: tuple[type, ...]) -> Callable[[Any], Any] | None:
    """The function that makes builtin values of objects of a library's own type, or None."""
    for library, handler_of in (("numpy", _numpy_handler), ("pandas", _pandas_handler)):
        names = _names_in(library)
        if names is not None and type(kind) is type:
            handler = handler_of(kind, bases, names)
            if handler is not None:
                return handler
    return None


def _numpy_handler(
    kind: type, bases: tuple[type, ...], names: Mapping[str, Any]
) -> Callable[[Any], Any] | None:
    if names.get("ndarray") is kind:
        return BoundedHandler(_array)
    if names.get(kind.__name__) is not kind or not any(base is names.get("generic") for base in bases):
        return None
    # float64, str_ and bytes_ are builtins, too, and read as such.
    return None if any(base in (float, str, bytes) for base in bases) else _number


def _pandas_handler(
    kind: type, bases: tuple[type, ...], names: Mapping[str, Any]
) -> Callable[[Any], Any] | None:
    if names.get("NaT") is not None and type(names["NaT"]) is kind:
        return lambda _: "NaT"
    if names.get("NA") is not None and type(names["NA"]) is kind:
        return lambda _: None
    if names.get(kind.__name__) is not kind:
        return None
    if any(base is names.get("Index") for base in bases):
        return BoundedHandler(lambda value, _, items: _column(value, items))
    handlers: Mapping[str, Callable[[Any], Any]] = {
        "Timestamp": _timestamp,
        "Timedelta": lambda value: _duration_text(value, value.nanoseconds),
        "Series": BoundedHandler(_series),
        "DataFrame": BoundedHandler(_table),
    }
    return handlers.get(kind.__name__)


def _number(value: Any) -> Any:
    """A numpy scalar as Python's own, times as text. TypeError for what has no equal there."""
    kind = value.dtype.kind
    if kind == "M":
        return str(value)
    if kind == "m":
        item = value.item()
        if type(item) is int and value.dtype == "m8[ns]":
            return _duration_text(timedelta(microseconds=item // 1000), item % 1000)
        return str(item) if type(item) is timedelta else str(value)
    if kind == "c":
        return str(complex(value))
    if kind not in "biuf":
        raise TypeError(f"a value of numpy's type {value.dtype} is not opened")
    number = value.item()
    if kind == "f" and type(number) is not float:  # a long double
        number = float(value)
        if number == number and number != value:
            raise TypeError("a long double between two doubles")
    return number


def _array(array: Any, values: int, items: int) -> Any:
    if array.dtype.kind == "V":
        raise TypeError("an array of records is not opened")
    return _nested(array, values, items)


def _nested(array: Any, room: int, most_items: int) -> Any:
    """An array as nested lists of at most about `room` values, with marks for what is left out."""
    if array.ndim == 0:
        return array[()]
    size = array.shape[0]
    values_each = array.size // size if size else 0
    count = min(size, most_items, max(room // max(values_each, 1), 1))
    if array.ndim > 1:
        items = [_nested(array[at], room // max(count, 1), most_items) for at in range(count)]
    elif array.dtype.kind in "mM":
        items = list(array[:count])
    else:
        items = array[:count].tolist()
    return [*items, left_out(size - count)] if count < size else items


def _timestamp(value: Any) -> str:
    # A zone may be anyone's code: the moment is read without it.
    return str(value.isoformat()) if value.tzinfo is None else f"{value.asm8}+00:00"


def _duration_text(value: timedelta, nanoseconds: int) -> str:
    text = timedelta.__str__(value)
    if not nanoseconds:
        return text
    return f"{text if value.microseconds else text + '.000000'}{nanoseconds:03d}"


def _column(values: Any, most_items: int) -> list[Any]:
    """An index, or a column of a table, as a list. TypeError for a type from elsewhere."""
    if type(values.dtype).__module__.partition(".")[0] not in _LIBRARIES:
        raise TypeError("a column of a type from elsewhere is not opened")
    size = len(values)
    head = (values.iloc if hasattr(values, "iloc") else values)[:most_items].tolist()
    return [*head, left_out(size - len(head))] if len(head) < size else head


def _series(series: Any, _: int, items: int) -> dict[str, Any]:
    return {"name": series.name, "index": _column(series.index, items), "data": _column(series, items)}


def _table(frame: Any, values: int, items: int) -> dict[str, list[Any]]:
    """A table as `DataFrame.to_dict("split")` gives it."""
    rows, columns = frame.shape
    wide = min(columns, max(items // _COLUMN_SHARE, 1))
    count = min(rows, items, max(values // max(wide, 1), 1))
    head = frame.iloc[:count]
    cells = [_column(head.iloc[:, at], items) for at in range(wide)]
    data: list[Any] = [list(row) for row in zip(*cells, strict=True)] if cells else [[]] * count
    if wide < columns:
        for row in data:
            row.append(left_out(columns - wide))
    if count < rows:
        data.append(left_out(rows - count))
    return {"columns": _column(frame.columns, items), "index": _column(frame.index, items), "data": data}
