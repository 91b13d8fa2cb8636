"""The expected output of an example as files have it: with matchers as ``$`` operators, as expected calls."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from agenttrace.core.errors import DatasetError, ExpectationError
from agenttrace.core.tagged import untagged
from agenttrace.core.tool_call import ANY
from agenttrace.expectations.matcher import Matcher, Unordered, read_value, write_value


def read_output(raw: Any) -> Any:
    """The value of a file, its operators read.

    One with an unknown operator stays as it is written: it may be a JSON schema, with ``$ref``, or a query.
    """
    try:
        return read_value(raw) if _holds_operators(raw) else raw
    except ExpectationError:
        return raw


def output_to_write(value: Any, place: str) -> Any:
    """The value to write to a file, from which `read_output` gives it back.

    Raises:
        DatasetError: it holds a predicate, which has no written form; it names the `place`.
    """
    if not _holds_operators(value):
        return value
    try:
        return write_value(value)
    except ExpectationError as error:
        raise DatasetError(str(error), field=place) from error


def _holds_operators(value: Any) -> bool:
    if value is ANY or isinstance(value, Matcher | Unordered | set | frozenset):
        return True
    if isinstance(value, Mapping):
        if untagged(value) is not value:
            return False
        return any((type(key) is str and key[:1] == "$") or _holds_operators(value[key]) for key in value)
    return isinstance(value, list | tuple) and any(map(_holds_operators, value))
