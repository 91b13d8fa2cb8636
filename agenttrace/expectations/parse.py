"""`parse_expectation`: read an expectation from plain data: names, mappings, YAML.

Results are cached by the data's content.
"""

from __future__ import annotations

import marshal
from collections import OrderedDict
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from typing import Any, Generic, TypeVar

from agenttrace.core.errors import ExpectationError, did_you_mean
from agenttrace.core.tool_call import ACTUAL_CALL_HINT, ExpectedToolCall, ToolCall
from agenttrace.core.trace import Trace
from agenttrace.expectations.expectation import Expectation, expect
from agenttrace.expectations.pattern import (
    MAX_NESTING,
    Many,
    Pattern,
    Seq,
    any_of,
    as_call,
    checked_call,
    many,
    opt,
    par,
    seq,
    too_deep,
)

T = TypeVar("T")

MAX_BYTES = 16_384
"""Larger data is not cached: reading it again costs little beside comparing it."""

_NO_REFERENCES = 2  # later versions of the format write equal data in different ways


class Memo(Generic[T]):
    """A cache of the last `max_entries` values. Threads may share it: a lost entry is only made again.

    A key is the data's own bytes, so that a list that was changed since is read anew, and ``True``, ``1`` and
    ``1.0`` are three keys. Data that holds anything but plain values has no key.
    """

    def __init__(self, max_entries: int) -> None:
        self._max_entries = max_entries
        self._entries: OrderedDict[bytes, T] = OrderedDict()

    def key(self, raw: Any) -> bytes | None:
        """The bytes of plain data, or None for anything else."""
        try:
            key = marshal.dumps(raw, _NO_REFERENCES)
        except (ValueError, TypeError):
            return None
        return key if len(key) <= MAX_BYTES else None

    def get(self, key: bytes | None) -> T | None:
        """The value under a key, or None."""
        return None if key is None else self._entries.get(key)

    def put(self, key: bytes | None, value: T) -> None:
        """Keep a value, and drop the oldest ones beyond the limit."""
        if key is None:
            return
        self._entries[key] = value
        while len(self._entries) > self._max_entries:
            try:
                self._entries.popitem(last=False)
            except KeyError:  # another thread was faster
                return


_MEMO: Memo[Expectation] = Memo(512)

_CONSTRAINTS = frozenset(Expectation.__dataclass_fields__) - {"source", "path"}
_FIELDS = _CONSTRAINTS | {"path"}
_PATH_WORDS = frozenset({"calls", "call", "steps", "tools", "tool_calls", "expected_tools"})
"""Keys that people write for the path."""


def parse_expectation(raw: Any, source: str | None = None) -> Expectation:
    """Read an expectation in any of its forms.

    A list (names, mappings with ``tool_name``, ``{tool: {parameter: value}}``, patterns, ``{"par": […]}``,
    ``{"opt": …}``, ``{"any_of": […]}``, ``{"many": …, "times": [1, 2]}``, ``{"call": name, "args": …,
    "times": …}``, lists), a pattern, ``expect(…)``, or a mapping with ``path`` and constraints. `source`
    (``file:line``) is kept, and begins the text of errors.

    Raises:
        ExpectationError: anything else; it names what was got, and the nearest known word.
    """
    if isinstance(raw, Expectation):
        return raw if source is None or raw.source is not None else replace(raw, source=source)
    key = _MEMO.key((raw, source))
    cached = _MEMO.get(key)
    if cached is not None:
        return cached
    try:
        _check_nesting(raw)
        parsed = replace(_parse(raw), source=source) if source is not None else _parse(raw)
    except ExpectationError as error:
        if source is None or str(error).startswith(source):
            raise
        raise ExpectationError(f"{source}: {error}") from None
    _MEMO.put(key, parsed)
    return parsed


def parse_pattern(raw: Any) -> Pattern:
    """Read a pattern: an item of a path, or a list of them.

    Raises:
        ExpectationError: `raw` is something else.
    """
    if type(raw) is dict:  # what most are, before what is asked for at length
        return _parse_mapping(raw)
    if isinstance(raw, str | ExpectedToolCall):
        return as_call(ExpectedToolCall.of(raw))
    if isinstance(raw, Pattern):
        return raw
    if isinstance(raw, list | tuple):
        return seq(*map(parse_pattern, raw))
    if isinstance(raw, Mapping):
        return _parse_mapping(raw)
    raise ExpectationError(
        f"an expected call is a tool's name, a mapping or a pattern, got {type(raw).__name__} {raw!r:.200}"
        + (ACTUAL_CALL_HINT if isinstance(raw, ToolCall | Trace) else "")
    )


def _check_nesting(raw: Any) -> None:
    """Refuse data in which patterns nest too deeply, before reading them does."""
    level = [raw]
    for _ in range(2 * MAX_NESTING):  # each may stand in a list of its own
        level = [inner for item in level for inner in _patterns_in(item)]
        if not level:
            return
    words = {word for item in level if isinstance(item, Mapping) for word in item}
    raise too_deep(f"{min(words, key=str)!r}" if words else "a list in lists")


def _patterns_in(raw: Any) -> Iterable[Any]:
    if isinstance(raw, list | tuple):
        return raw
    if type(raw) is str:
        return ()
    if type(raw) is dict and _NESTING_WORDS.isdisjoint(raw):
        return ()
    if isinstance(raw, Mapping):
        return [raw[word] for word in _NESTING_WORDS if word in raw]
    return ()


def _parse(raw: Any) -> Expectation:
    if isinstance(raw, Mapping) and (not raw or _FIELDS & raw.keys()) and not _is_item(raw):
        for key in raw:
            if key not in _FIELDS:
                raise ExpectationError(f"an expectation has no {key!r}{_meant(str(key))}")
        fields = {key: value for key, value in raw.items() if value is not None}
        path = parse_pattern(fields.pop("path")) if "path" in fields else None
        return expect(path, **fields)
    if isinstance(raw, Mapping) and not _is_item(raw) and len(raw) > 1:
        key = next(
            (key for key in raw if did_you_mean(str(key), _FIELDS).startswith("; did")), next(iter(raw))
        )
        raise ExpectationError(f"an expectation has no {key!r}{_meant(str(key))}")
    pattern = parse_pattern(raw)
    return Expectation(path=pattern if type(pattern) is Seq else seq(pattern))


def _meant(key: str) -> str:
    """The suggestion for a key that no expectation has."""
    return "; did you mean 'path'?" if key in _PATH_WORDS else did_you_mean(key, _FIELDS)


def _is_item(raw: Mapping[Any, Any]) -> bool:
    return bool({"tool_name", "name", "call", *_GROUPS} & raw.keys())


def _parse_mapping(raw: Mapping[Any, Any]) -> Pattern:
    if "call" in raw:
        return _parse_call(raw)
    if "tool_name" in raw or "name" in raw:
        return checked_call(**ExpectedToolCall.values_of(raw))
    for word, read_group in _GROUPS.items():
        if word in raw:
            keys = {word, "times"} if word == "many" else {word}
            for key in raw:
                if key not in keys:
                    raise ExpectationError(f"{word!r} stands alone in its mapping, got {key!r} beside it")
            return read_group(raw[word], raw)
    if len(raw) == 1:
        name, arguments = next(iter(raw.items()))
        if isinstance(name, str) and (arguments is None or isinstance(arguments, Mapping)):
            return as_call(ExpectedToolCall.of({"tool_name": name, "parameters": arguments}))
    words = {*_GROUPS, "call", "tool_name"}
    key = next(iter(raw), "")
    raise ExpectationError(f"this is no expected call: {dict(raw)!r}{did_you_mean(str(key), words)}")


def _parse_call(raw: Mapping[Any, Any]) -> Pattern:
    one = as_call(ExpectedToolCall.of({key: value for key, value in raw.items() if key != "times"}))
    return _repeated(one, raw["times"]) if "times" in raw else one


def _repeated(part: Pattern, times: Any) -> Many:
    if isinstance(times, int) and not isinstance(times, bool):
        return many(part, times, times)
    if not isinstance(times, list | tuple) or len(times) != 2:
        raise ExpectationError(f"times is a number, or [least, most] (null: no limit), got {times!r}")
    return many(part, times[0] if times[0] is not None else 0, times[1])


def _items(raw: Any, word: str) -> list[Pattern]:
    if not isinstance(raw, list | tuple):
        raise ExpectationError(f"{word!r} takes a list, got {raw!r}")
    return [parse_pattern(item) for item in raw]


_GROUPS: Mapping[str, Callable[[Any, Mapping[Any, Any]], Pattern]] = {
    "seq": lambda value, _: seq(*_items(value, "seq")),
    "par": lambda value, _: par(*_items(value, "par")),
    "any_of": lambda value, _: any_of(*_items(value, "any_of")),
    "opt": lambda value, _: opt(parse_pattern(value)),
    "many": lambda value, raw: _repeated(parse_pattern(value), raw.get("times", [1, None])),
}

_NESTING_WORDS = frozenset({"path", *_GROUPS})

GROUP_WORDS = tuple(_GROUPS)
"""The words of patterns that hold others."""
