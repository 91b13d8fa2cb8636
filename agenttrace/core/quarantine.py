"""`Quarantine`: a failure that is known and accepted until a day; which failures an example expects."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import date
from typing import TYPE_CHECKING

from agenttrace.core.errors import ConfigError

if TYPE_CHECKING:
    from agenttrace.core.example import Example

_QUARANTINE = re.compile(
    r"\s*(?P<owner>[^:]+?)\s+until\s+(?P<day>\d{4}-\d{2}-\d{2})\s*:\s*(?P<why>.*\S)\s*", re.S
)


@dataclass(frozen=True, slots=True)
class Quarantine:
    """A failure that is known and accepted until a day: whose it is, and why."""

    owner: str
    day: date
    why: str

    @classmethod
    def parse(cls, text: str) -> Quarantine:
        """Read ``OWNER until YYYY-MM-DD: WHY``.

        Raises:
            ConfigError: no owner, no date, no reason.
        """
        match = _QUARANTINE.fullmatch(text)
        try:
            day = date.fromisoformat(match["day"]) if match else None
        except ValueError:
            day = None
        if match is None or day is None:
            raise ConfigError(f"quarantine is written 'OWNER until YYYY-MM-DD: WHY', got {text!r}")
        return cls(match["owner"], day, match["why"])

    @property
    def is_over(self) -> bool:
        """Whether its last day has passed."""
        return date.today() > self.day

    def __str__(self) -> str:
        return f"{self.day} ({self.owner}: {self.why})"


def quarantine_of(example: Example) -> Quarantine | None:
    """The quarantine of an example.

    Raises:
        ConfigError: it is not written as one; the text says where.
    """
    if example.quarantine is None:
        return None
    try:
        return Quarantine.parse(example.quarantine)
    except ConfigError as error:
        place = example.source or example.name
        raise ConfigError(f"{place}: {error}" if place else str(error)) from None


def why_failure_is_expected(example: Example) -> str | None:
    """Why a failure of an example is an expected one: its xfail, or a quarantine that is not over."""
    if example.xfail:
        return f"xfail: {example.xfail}" if isinstance(example.xfail, str) else "xfail"
    quarantine = quarantine_of(example)
    return None if quarantine is None or quarantine.is_over else f"in quarantine until {quarantine}"
