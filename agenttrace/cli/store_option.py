"""The option that says which store a command reads or writes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import click

F = TypeVar("F", bound=Callable[..., Any])


def store_option(command: F) -> F:
    """Add ``--store``."""
    return click.option(
        "--store",
        metavar="PATH",
        help="The store's file. [default: AGENTTRACE_STORE, else ./.agenttrace/traces.db]",
    )(command)
