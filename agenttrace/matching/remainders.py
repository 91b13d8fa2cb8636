"""`Remainders`: what remains of a plan once some of its calls were made, in one form for all that is equal.

The derivatives of the plan (after Brzozowski 1964 and Antimirov 1996), also for parts that interleave. Equal
remainders have one number: of two equal places it does not matter which has its call, and one round leaves
what every other leaves. A remainder with addresses tells its places apart, so that a way can be gone again.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any, TypeAlias

from agenttrace.expectations.plans import Address, Choice, Place, Plan, Role, Rounds, places_of

Counted: TypeAlias = Sequence[tuple[int, int]]
"""Remainders that stand side by side, each with how often it does."""

Move: TypeAlias = tuple[int, int, Address | None]
"""The remainder after a call, how many required places before it stay empty, the address of its place."""

NOTHING = 0
_LEAF, _SEQUENCE, _PARALLEL, _CHOICE, _ROUNDS = "leaf", "sequence", "parallel", "choice", "rounds"
_MISSING: Mapping[Role, int | None] = {"required": 1, "optional": 0, "all_or_nothing": None}
_ENDLESS = -1


class Remainders:
    """The remainders of one plan, as numbers. Its leaves are classes of equal places (`class_of`).

    `instead_of` are, for a class of required places, those of optional places that the same calls would fill.
    """

    def __init__(
        self, class_of: Callable[[Place], int], instead_of: Mapping[int, Collection[int]], *, ordered: bool
    ) -> None:
        self._class_of = class_of
        self._instead_of = instead_of
        self._ordered = ordered
        self._terms: list[tuple[Any, ...]] = [()]
        self._numbers: dict[tuple[Any, ...], int] = {}
        self._moves: dict[tuple[int, int], tuple[Move, ...]] = {}
        self._missing: dict[int, int | None] = {}
        self._without: dict[tuple[int, frozenset[int]], tuple[int, int] | None] = {}
        self._plain: dict[int, int] = {}
        self._leaves: dict[Rounds, frozenset[int]] = {}

    def __len__(self) -> int:
        return len(self._terms)

    def of(self, plan: Plan, address: Address | None) -> int:
        """All of a plan; with addresses that begin so, or without any."""

        def inner(number: int) -> Address | None:
            return None if address is None else (*address, number)

        if isinstance(plan, Place):
            return self._number((_LEAF, self._class_of(plan), plan.role, address))
        if isinstance(plan, Rounds):
            return self._rounds(plan, plan.least, _ENDLESS if plan.most is None else plan.most, address, 0)
        if isinstance(plan, Choice):
            return self._choice([self.of(part, inner(n)) for n, part in enumerate(plan.branches)])
        parts = [self.of(part, inner(n)) for n, part in enumerate(plan.parts)]
        if plan.ordered and self._ordered:
            return self._sequence(parts)
        return self._parallel((part, 1) for part in parts)

    def moves(self, remainder: int, leaf: int) -> tuple[Move, ...]:
        """What a call can lead to that fills a place of a class."""
        key = (remainder, leaf)
        moves = self._moves.get(key)
        if moves is None:
            moves = self._moves[key] = tuple(dict.fromkeys(self.each_move(remainder, leaf)))
        return moves

    def missing(self, remainder: int) -> int | None:
        """The least number of required places that stay empty; None where an optional group is unfinished."""
        if remainder not in self._missing:
            self._missing[remainder] = self._count_missing(remainder)
        return self._missing[remainder]

    def without(self, remainder: int, leaves: frozenset[int]) -> tuple[int, int] | None:
        """The remainder where places of these classes stay empty, and how many of them are required.

        None where an optional group stays unfinished.
        """
        key = (remainder, leaves)
        if key not in self._without:
            self._without[key] = self._reduce(remainder, leaves)
        return self._without[key]

    def plain(self, remainder: int) -> int:
        """The same remainder without addresses."""
        plain = self._plain.get(remainder)
        if plain is None:
            plain = self._plain[remainder] = self._without_addresses(remainder)
        return plain

    def _reduce(self, remainder: int, leaves: frozenset[int]) -> tuple[int, int] | None:
        if remainder == NOTHING:
            return NOTHING, 0
        term = self._terms[remainder]
        if term[0] == _LEAF:
            if term[1] not in leaves:
                return remainder, 0
            missing = _MISSING[term[2]]
            return None if missing is None else (NOTHING, missing)
        if term[0] == _ROUNDS:
            if self.without(self.of(term[1].part, None), leaves) is not None:
                return remainder, 0
            return (NOTHING, 0) if term[2] == 0 else None
        if term[0] == _CHOICE:
            return self._choice_without(remainder, leaves)
        is_sequence = term[0] == _SEQUENCE
        parts = [(part, 1) for part in self._in_sequence(remainder)] if is_sequence else term[1]
        left = [(self.without(part, leaves), times) for part, times in parts]
        reduced = [(rest[0], rest[1], times) for rest, times in left if rest is not None]
        if len(reduced) < len(left):
            return None
        missing = sum(count * times for _, count, times in reduced)
        if is_sequence:
            return self._sequence([rest for rest, _, _ in reduced]), missing
        return self._parallel((rest, times) for rest, _, times in reduced), missing

    def each_move(self, remainder: int, leaf: int) -> Iterator[Move]:
        """The same one by one, perhaps some of them twice."""
        empty = 0
        while self._terms[remainder][:1] == (_SEQUENCE,):
            _, first, rest = self._terms[remainder]
            for after, missing, address in self.moves(first, leaf):
                yield self._sequence([after, rest]), empty + missing, address
            skipped = self.missing(first)
            if skipped is None:
                return
            empty, remainder = empty + skipped, rest
        for after, missing, address in self._moves_of_one(remainder, leaf):
            yield after, empty + missing, address

    def _moves_of_one(self, remainder: int, leaf: int) -> Iterator[Move]:
        kind, *term = self._terms[remainder] or ("",)
        if kind == _LEAF:
            if term[0] == leaf:
                yield NOTHING, 0, term[2]
        elif kind == _CHOICE:
            for branch in term[0]:
                yield from self.moves(branch, leaf)
        elif kind == _PARALLEL:
            yield from self._moves_side_by_side(term[0], leaf)
        elif kind == _ROUNDS:
            plan, least, most, address, count = term
            most = most if most == _ENDLESS else most - 1
            rest = self._rounds(plan, max(least - 1, 0), most, address, count + 1)
            part = self.of(plan.part, None if address is None else (*address, count))
            for after, missing, place in self.moves(part, leaf):
                both = (
                    self._sequence([after, rest])
                    if self._ordered
                    else self._parallel(((after, 1), (rest, 1)))
                )
                yield both, missing, place

    def _moves_side_by_side(self, parts: Counted, leaf: int) -> Iterator[Move]:
        awaited = None if self._ordered else self._awaited(parts, leaf)
        for part, times in parts if awaited is None else awaited:
            moves = self.moves(part, leaf)
            if moves and not self._is_needless(part, leaf, parts):
                others = dict(parts)
                del others[part]
                if times > 1:
                    others[part] = times - 1
                for after, missing, address in moves:
                    counts = others.copy()
                    self._add(after, 1, counts)
                    yield self._side_by_side(counts), missing, address

    def _awaited(self, parts: Counted, leaf: int) -> Counted | None:
        """Where a place waits for such a call that would be missed: in any order, it may have this one.

        None where there is no such place; empty where it is a required one, whose own class goes first.
        """
        for part, times in parts:
            kind, *term = self._terms[part]
            if kind == _LEAF and term[1] == "all_or_nothing" and term[0] == leaf:
                return ((part, times),)
            if kind == _LEAF and term[1] == "required" and leaf in self._instead_of.get(term[0], ()):
                return ()
        return None

    def _is_needless(self, remainder: int, leaf: int, parts: Counted) -> bool:
        """Whether all that a round could take is free in any case, in rounds of single calls beside it."""
        kind, *term = self._terms[remainder]
        if kind != _ROUNDS or term[1] > 0 or isinstance(term[0].part, Place):
            return False
        places = (self._endless_place(part) for part, _ in parts)
        free = {self._class_of(place) for place in places if place is not None}
        return leaf in free and free.issuperset(self._leaves_in(term[0]))

    def _endless_place(self, remainder: int) -> Place | None:
        """The place of a single call that may be made as often as one likes."""
        kind, *term = self._terms[remainder]
        if kind == _ROUNDS and term[2] == _ENDLESS and isinstance(term[0].part, Place):
            return term[0].part
        return None

    def _leaves_in(self, plan: Rounds) -> frozenset[int]:
        leaves = self._leaves.get(plan)
        if leaves is None:
            leaves = self._leaves[plan] = frozenset(map(self._class_of, places_of(plan)))
        return leaves

    def _count_missing(self, remainder: int) -> int | None:
        if remainder == NOTHING:
            return 0
        kind, *term = self._terms[remainder]
        if kind == _LEAF:
            return _MISSING[term[1]]
        if kind == _ROUNDS:
            return self.missing(self.of(term[0].part, None)) if term[1] else 0
        if kind == _CHOICE:
            counts = [self.missing(branch) for branch in term[0]]
            return min((count for count in counts if count is not None), default=None)
        total = 0
        for part, times in (
            ((part, 1) for part in self._in_sequence(remainder)) if kind == _SEQUENCE else term[0]
        ):
            missing = self.missing(part)
            if missing is None:
                return None
            total += missing * times
        return total

    def _choice_without(self, remainder: int, leaves: frozenset[int]) -> tuple[int, int] | None:
        branches = self._terms[remainder][1]
        left = {branch: self.without(branch, leaves) for branch in branches}
        possible = {branch: one for branch, one in left.items() if one is not None}
        if not possible:
            return None
        if all(rest == NOTHING for rest, _ in possible.values()):
            return NOTHING, min(missing for _, missing in possible.values())
        if len(possible) == 1:
            (one,) = possible.values()
            return one
        # How many stay empty depends on the branch that will be taken: it is counted then.
        return self._choice(list(possible)), 0

    def _without_addresses(self, remainder: int) -> int:
        if remainder == NOTHING:
            return NOTHING
        kind, *term = self._terms[remainder]
        if kind == _LEAF:
            return self._number((_LEAF, term[0], term[1], None))
        if kind == _ROUNDS:
            return self._rounds(term[0], term[1], term[2], None, 0)
        if kind == _SEQUENCE:
            return self._sequence([self.plain(part) for part in self._in_sequence(remainder)])
        if kind == _CHOICE:
            return self._choice([self.plain(part) for part in term[0]])
        return self._parallel((self.plain(part), times) for part, times in term[0])

    # One form for what is equal.

    def _number(self, term: tuple[Any, ...]) -> int:
        number = self._numbers.get(term)
        if number is None:
            number = self._numbers[term] = len(self._terms)
            self._terms.append(term)
        return number

    def _in_sequence(self, remainder: int) -> Iterator[int]:
        while self._terms[remainder][:1] == (_SEQUENCE,):
            _, first, remainder = self._terms[remainder]
            yield first
        yield remainder

    def _sequence(self, parts: list[int]) -> int:
        rest = NOTHING
        for part in reversed([one for each in parts[:-1] for one in self._in_sequence(each)] + parts[-1:]):
            if rest == NOTHING:
                rest = part
            elif part != NOTHING:
                rest = self._number((_SEQUENCE, part, rest))
        return rest

    def _parallel(self, parts: Iterable[tuple[int, int]]) -> int:
        counts: dict[int, int] = {}
        for part, times in parts:
            self._add(part, times, counts)
        return self._side_by_side(counts)

    def _add(self, part: int, times: int, counts: dict[int, int]) -> None:
        if part == NOTHING:
            return
        term = self._terms[part]
        for one, count in term[1] if term[0] == _PARALLEL else ((part, 1),):
            total = counts.get(one, 0) + count * times
            counts[one] = 1 if total > 1 and self._is_its_own_double(one) else total

    def _side_by_side(self, counts: dict[int, int]) -> int:
        if len(counts) < 2:
            part, times = next(iter(counts.items()), (NOTHING, 1))
            if times == 1:
                return part
        return self._number((_PARALLEL, tuple(sorted(counts.items()))))

    def _choice(self, branches: list[int]) -> int:
        distinct = tuple(dict.fromkeys(branches))
        return distinct[0] if len(distinct) == 1 else self._number((_CHOICE, distinct))

    def _rounds(self, plan: Rounds, least: int, most: int, address: Address | None, count: int) -> int:
        if most == 0:
            return NOTHING
        return self._number((_ROUNDS, plan, least, most, address, 0 if address is None else count))

    def _is_its_own_double(self, remainder: int) -> bool:
        """Whether to have it twice is to have it once: endless rounds that need not wait for each other."""
        kind, *term = self._terms[remainder]
        if kind != _ROUNDS or term[1] > 0 or term[2] != _ENDLESS:
            return False
        return not self._ordered or isinstance(term[0].part, Place)
