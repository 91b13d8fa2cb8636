"""``--column``: the columns of a file of examples that are no fields of one."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeVar

import click

from agenttrace.core.errors import DatasetError
from agenttrace.datasets.document import METADATA, columns_of

F = TypeVar("F", bound=Callable[..., Any])


def column_option(command: F) -> F:
    """Add the option to a command, which gets a mapping of columns to fields, as `columns`."""
    return click.option(
        "--column",
        "columns",
        metavar="NAME[=FIELD]",
        multiple=True,
        callback=lambda _context, _parameter, texts: _columns(texts),
        help="A column that is no field: additional_metadata has it, or FIELD; NAME= leaves it out.",
    )(command)


def _columns(texts: tuple[str, ...]) -> Mapping[str, str | None]:
    columns: dict[str, str | None] = {}
    for text in texts:
        name, equals, field = text.rpartition("=")  # a column may have one in its name, a field has none
        columns[(name if equals else field).strip()] = (field.strip() or None) if equals else METADATA
    try:
        return columns_of(columns)
    except DatasetError as error:
        raise click.BadParameter(str(error)) from None
