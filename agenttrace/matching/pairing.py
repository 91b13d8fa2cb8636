"""`Pairing`: what is decided of the pairs of labelled calls, while the best alignment is searched."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from agenttrace.expectations.pattern import Call

Labelled = tuple[Call, int]
"""An expected call with a label, and the position of an actual call."""


@dataclass(frozen=True, slots=True, eq=False)
class Pairing:
    """Which pairs there may be, and which of them may be the source of a value.

    `paired` has the calls that are surely paired, by position, each with its expected call. `apart` are the
    pairs that there surely are not, by the `id` of the expected call. What is open counts in favour: such a
    pair may be a source, but is none inside `not_`. With `sources`, just these pairs are sources.
    """

    paired: Mapping[int, Call] = field(default_factory=dict)
    apart: frozenset[tuple[int, int]] = frozenset()
    sources: frozenset[tuple[int, int]] | None = None

    @classmethod
    def with_sources(cls, pairs: Iterable[Labelled]) -> Pairing:
        """Just these pairs are sources; any others may be there, too."""
        return cls(sources=frozenset((id(expected), position) for expected, position in pairs))

    @property
    def decides(self) -> bool:
        """Whether some pairs must be there, or may not be."""
        return bool(self.paired or self.apart)

    def may_pair(self, expected: Call, position: int) -> bool:
        """Whether an expected call may be paired with the call at a position."""
        if position in self.paired:
            return self.paired[position] is expected
        return (id(expected), position) not in self.apart

    def may_be_source(self, expected: Call, position: int, *, in_negation: bool) -> bool:
        """Whether a label may stand for the call at a position because of this pair."""
        if self.sources is not None:
            return (id(expected), position) in self.sources
        return self.may_pair(expected, position) and (not in_negation or position in self.paired)

    def with_pair(self, expected: Call, position: int) -> Pairing:
        """The same where these two are paired."""
        return Pairing({**self.paired, position: expected}, self.apart)

    def without_pair(self, expected: Call, position: int) -> Pairing:
        """The same where these two are not paired."""
        return Pairing(self.paired, self.apart | {(id(expected), position)})
