"""`DeepLink`: how a person gets from a printed failure to its page."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple


class DeepLink(NamedTuple):
    """What to type, or where to click: a command, or an address, which is then in `url`, too."""

    text: str
    url: str | None = None


See = Callable[[str], DeepLink]
"""The link to the trace of an id."""
