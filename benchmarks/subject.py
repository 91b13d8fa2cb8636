"""What is measured: one tracing library, set up, behind three functions."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

Observe = Callable[[Callable[..., Any]], Callable[..., Any]]


def untouched(function: Callable[..., Any]) -> Callable[..., Any]:
    """The decorator of the bare call."""
    return function


def nothing() -> None:
    """For a library that has nothing to flush."""


@dataclass(frozen=True)
class Subject:
    """A library ready to record.

    Attributes:
        observe: Decorates a tool: sync, async, generator; inputs and output are recorded.
        observe_root: Decorates what the tools are called in.
        settle: Called between blocks, untimed: lets the library's background work go on or finish.
        flush: Finishes the background work; its time counts as part of storing.
        kept: How many spans have arrived at the exporter or the store so far; None where it is not known.
    """

    observe: Observe
    observe_root: Observe
    settle: Callable[[], None] = nothing
    flush: Callable[[], None] = nothing
    kept: Callable[[], int] | None = None


BARE = Subject(untouched, untouched)
