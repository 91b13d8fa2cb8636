"""The values of a record as plain data, opened without a copy of what is plain already."""

from __future__ import annotations

from typing import Any

from agenttrace.tracing.freeze import Frozen
from agenttrace.tracing.packing import unpack


class NotPlain(Exception):
    """A value has to go the long way."""


def by_name(names: tuple[str, ...], arguments: tuple[Any, ...]) -> dict[str, Any]:
    """The arguments of a call by their names.

    Raises:
        NotPlain: one of them is no plain data.
    """
    return {
        name: content_of(value) if type(value) is Frozen else value
        for name, value in zip(names, arguments)  # noqa: B905 - the keyword costs as much as the dict
    }


def content_of(value: Frozen) -> Any:
    """What a snapshot holds, as plain data.

    Raises:
        NotPlain: it is another object, kept whole.
    """
    form = value.form
    if form == "packed":
        return unpack(value.content)
    if form == "items":
        return [content_of(item) if type(item) is Frozen else item for item in value.content]
    if form == "whole" and type(value.content) is not dict:
        raise NotPlain
    return value.content
