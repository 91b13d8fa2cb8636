"""`Pairing`: what is decided of the pairs of labelled calls, while the best alignment is searched."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from agenttrace.expectations.pattern import Call
from agenttrace.expectations.plans import Choice, Place, Plan, Rounds, places_of

Labelled = tuple[Call, int]
"""An expected call with a label, and the position of an actual call."""

Path = tuple[tuple[bool, int], ...]
"""From the outermost group inwards: whether the group is ordered, and which of its parts it is."""


@dataclass(frozen=True, slots=True, eq=False)
class Pairing:
    """Which pairs there may be, and which of them may be the source of a value.

    `paired` has the calls that are surely paired, by position, each with its expected call. `apart` are the
    pairs that there surely are not, by the `id` of the expected call. What is open counts in favour: such a
    pair may be a source, but is none inside `not_`. With `sources`, just these pairs are sources. `paths` say
    where expected calls stand, by `id`: what comes before a paired one in the plan does so in the run.
    """

    paired: Mapping[int, Call] = field(default_factory=dict)
    apart: frozenset[tuple[int, int]] = frozenset()
    sources: frozenset[tuple[int, int]] | None = None
    paths: Mapping[int, Path] = field(default_factory=dict)

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
        return (id(expected), position) not in self.apart and self._is_on_its_side(expected, position)

    def _is_on_its_side(self, expected: Call, position: int) -> bool:
        path = self.paths.get(id(expected))
        if path is None:
            return True
        others = ((self.paths.get(id(other)), at) for at, other in self.paired.items())
        return all(_side(path, other) * (position - at) >= 0 for other, at in others if other is not None)

    def may_be_source(self, expected: Call, position: int, *, in_negation: bool) -> bool:
        """Whether a label may stand for the call at a position because of this pair, if there may be it."""
        if self.sources is not None:
            return (id(expected), position) in self.sources
        return not in_negation or position in self.paired

    def with_pair(self, expected: Call, position: int) -> Pairing:
        """The same where these two are paired."""
        return Pairing({**self.paired, position: expected}, self.apart, None, self.paths)

    def without_pair(self, expected: Call, position: int) -> Pairing:
        """The same where these two are not paired."""
        return Pairing(self.paired, self.apart | {(id(expected), position)}, None, self.paths)


def paths_in(plan: Plan) -> dict[int, Path]:
    """Where each expected call stands, by its `id`; but for those that stand several times, or in rounds."""
    paths: dict[int, Path] = {}
    several: set[int] = set()
    for key, path in _paths_in(plan, ()):
        if path is None or key in paths:
            several.add(key)
        else:
            paths[key] = path
    return {key: path for key, path in paths.items() if key not in several}


def _paths_in(plan: Plan, path: Path) -> Iterator[tuple[int, Path | None]]:
    if isinstance(plan, Place):
        yield from ((id(option), path) for option in plan.options)
    elif isinstance(plan, Rounds):
        yield from ((id(option), None) for place in places_of(plan) for option in place.options)
    elif isinstance(plan, Choice):
        for branch in plan.branches:
            yield from _paths_in(branch, path)
    else:
        for at, part in enumerate(plan.parts):
            yield from _paths_in(part, (*path, (plan.ordered, at)))


def _side(path: Path, other: Path) -> int:
    """-1 where one place comes before another, 1 where it comes after it, 0 where neither is said."""
    for (is_ordered, at), (_, other_at) in zip(path, other, strict=False):
        if at != other_at:
            return ((at > other_at) - (at < other_at)) * is_ordered
    return 0
