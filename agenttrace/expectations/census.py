"""How many calls a pattern needs at the least."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

from agenttrace.expectations.pattern import AnyOf, Call, Many, Par, Pattern, Seq


@dataclass(frozen=True, slots=True)
class Census:
    """`least` calls in all, `least_of` each tool, of all the tools that are mentioned."""

    least: int = 0
    least_of: Counter[str] = field(default_factory=Counter)
    names: tuple[str, ...] = ()


def census(pattern: Pattern | None) -> Census:
    """Count what a pattern needs; an alternative needs what its cheapest branch needs, tool by tool."""
    if pattern is None:
        return Census()
    if isinstance(pattern, Call):
        return Census(1, Counter({pattern.name: 1}), (pattern.name,))
    if isinstance(pattern, Many):
        inner = census(pattern.part)
        counts = Counter({name: count * pattern.least for name, count in inner.least_of.items()})
        return Census(inner.least * pattern.least, counts, inner.names)
    assert isinstance(pattern, Seq | Par | AnyOf)
    parts = [census(part) for part in pattern.parts]
    names = tuple(dict.fromkeys(name for part in parts for name in part.names))
    if isinstance(pattern, AnyOf):
        shared = parts[0].least_of
        for part in parts[1:]:
            shared &= part.least_of
        return Census(min(part.least for part in parts), shared, names)
    total: Counter[str] = Counter()
    for part in parts:
        total += part.least_of
    return Census(sum(part.least for part in parts), total, names)
