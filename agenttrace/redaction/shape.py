"""A row of the tables of shapes of secrets: what it is, by whose documentation, and how it is found."""

from __future__ import annotations

import re
from typing import NamedTuple

from agenttrace.core.marks import REDACTED

RUN = 15
"""Letters, digits, ``_`` and ``-`` that stand together in every shape, unless its row says less."""


class Shape(NamedTuple):
    """One row: what it is, where its form is documented, and how it is found.

    `signs` are texts in lower case of which each match holds one, in any case. `run` is how many letters,
    digits, ``_`` and ``-`` stand together somewhere in each match: what has neither needs no closer look.
    Where `random` is set, what reads like words is left alone. `replacement` keeps what is no secret, its
    first group. `needs` is what else stands in each match.
    """

    what: str
    source: str
    signs: tuple[str, ...]
    pattern: re.Pattern[str]
    run: int = RUN
    random: bool = False
    replacement: str = REDACTED
    needs: str = ""


BEGIN = r"(?<![A-Za-z0-9])"
"""Where a value begins."""
END = r"(?![A-Za-z0-9])"
STAND_IN = (
    r"(?:\$\{[^}@]*\}|\$\([^)@]*\)|\$(?:[A-Z_][A-Z0-9_]*|[A-Za-z_]+|\d)|\{\{?[^{}@]*\}\}?|%\(\w+\)s|%\w+%|%[sdr]"
    r"|\*+|<[^<>@]*>)"
)
"""What stands in an address where its password would."""
HEX_ID = r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}"


def shape(what: str, source: str, signs: str, pattern: str, *, random: bool = False, run: int = RUN) -> Shape:
    """A row whose value begins where no letter or digit stands before it."""
    compiled = re.compile(rf"{BEGIN}(?:{pattern})")
    return Shape(what, source, tuple(signs.split()), compiled, run, random)
