"""`Remainders`: what remains of a plan once some of its calls were made, in one form for all that is equal.

These are the derivatives of the plan (after Brzozowski 1964 and Antimirov 1996), also for parts that
interleave. Equal remainders have one number: of two equal places it does not matter which one has its call,
and every round leaves the same. With addresses the places are told apart, so that the way to a remainder can
be walked again.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple, TypeAlias

from agenttrace.expectations.plans import Address, Choice, Place, Plan, Role, Rounds, places_of

NOTHING = 0
_MISSING: Mapping[Role, int | None] = {"required": 1, "optional": 0, "all_or_nothing": None}


class Move(NamedTuple):
    """What remains after a call, how many required places before it stay empty, the address of its place."""

    after: int
    missing: int
    address: Address | None


class _Nothing(NamedTuple):
    kind: str = "nothing"


class _Leaf(NamedTuple):
    """One place of a class of equal ones."""

    leaf: int
    role: Role
    address: Address | None
    kind: str = "leaf"


class _Sequence(NamedTuple):
    first: int
    rest: int
    kind: str = "sequence"


class _Parallel(NamedTuple):
    """Parts side by side, ascending, each with how often it is there."""

    parts: tuple[tuple[int, int], ...]
    kind: str = "parallel"


class _Choice(NamedTuple):
    branches: tuple[int, ...]
    kind: str = "choice"


class _Rounds(NamedTuple):
    """From `least` to `most` rounds (None: without limit); with an address, the number of the next one."""

    plan: Rounds
    least: int
    most: int | None
    address: Address | None
    number: int
    kind: str = "rounds"


_Term: TypeAlias = _Nothing | _Leaf | _Sequence | _Parallel | _Choice | _Rounds


class Remainders:
    """The remainders of one plan, as numbers.

    `class_of` has the class of each place: places of one class are filled by the same calls, equally well.
    `instead_of` has, for a class of required places, those of optional ones that want just the calls that
    agree fully.
    """

    def __init__(
        self, class_of: Mapping[Place, int], instead_of: Mapping[int, Collection[int]], *, ordered: bool
    ) -> None:
        self._class_of = class_of
        self._instead_of = instead_of
        self._ordered = ordered
        self._terms: list[_Term] = [_Nothing()]
        self._numbers: dict[_Term, int] = {}
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
            return self._number(_Leaf(self._class_of[plan], plan.role, address))
        if isinstance(plan, Rounds):
            return self._number(_Rounds(plan, plan.least, plan.most, address, 0))
        if isinstance(plan, Choice):
            return self._choice(self.of(part, inner(n)) for n, part in enumerate(plan.branches))
        parts = [(self.of(part, inner(n)), 1) for n, part in enumerate(plan.parts)]
        return self._joined(parts, ordered=plan.ordered)

    # What a call can lead to.

    def moves(self, remainder: int, leaf: int) -> tuple[Move, ...]:
        """What a call can lead to that fills a place of a class."""
        key = (remainder, leaf)
        moves = self._moves.get(key)
        if moves is None:
            moves = self._moves[key] = tuple(dict.fromkeys(self.each_move(remainder, leaf)))
        return moves

    def each_move(self, remainder: int, leaf: int) -> Iterator[Move]:
        """The same one by one, perhaps some of them twice."""
        empty = 0
        while isinstance(term := self._terms[remainder], _Sequence):
            for after, missing, address in self.moves(term.first, leaf):
                both = self._joined([(after, 1), (term.rest, 1)], ordered=True)
                yield Move(both, empty + missing, address)
            skipped = self.missing(term.first)
            if skipped is None:
                return
            empty, remainder = empty + skipped, term.rest
        for after, missing, address in self._moves_of(term, leaf):
            yield Move(after, empty + missing, address)

    def _moves_of(self, term: _Term, leaf: int) -> Iterator[Move]:
        if isinstance(term, _Leaf):
            if term.leaf == leaf:
                yield Move(NOTHING, 0, term.address)
        elif isinstance(term, _Choice):
            for branch in term.branches:
                yield from self.moves(branch, leaf)
        elif isinstance(term, _Parallel):
            yield from self._moves_side_by_side(term.parts, leaf)
        elif isinstance(term, _Rounds):
            part = self.of(term.plan.part, None if term.address is None else (*term.address, term.number))
            rest = self._fewer_rounds(term)
            for after, missing, address in self.moves(part, leaf):
                yield Move(self._joined([(after, 1), (rest, 1)], ordered=True), missing, address)

    def _fewer_rounds(self, term: _Rounds) -> int:
        if term.most == 1:
            return NOTHING
        most = None if term.most is None else term.most - 1
        number = 0 if term.address is None else term.number + 1
        return self._number(term._replace(least=max(term.least - 1, 0), most=most, number=number))

    def _moves_side_by_side(self, parts: Sequence[tuple[int, int]], leaf: int) -> Iterator[Move]:
        awaiting = None if self._ordered else self._awaiting(parts, leaf)
        for part, times in parts if awaiting is None else awaiting:
            moves = self.moves(part, leaf)
            if moves and not self._is_needless(part, leaf, parts):
                others = dict(parts)
                del others[part]
                if times > 1:
                    others[part] = times - 1
                for after, missing, address in moves:
                    counts = others.copy()
                    self._add(after, 1, counts)
                    yield Move(self._side_by_side(counts), missing, address)

    def _awaiting(self, parts: Sequence[tuple[int, int]], leaf: int) -> Sequence[tuple[int, int]] | None:
        """The place that must have such a call in any case: where the order is free, it may have this one.

        None where there is no such place; none at all where a required place should have the call.
        """
        for part, times in parts:
            term = self._terms[part]
            if isinstance(term, _Leaf):
                if term.role == "all_or_nothing" and term.leaf == leaf:
                    return ((part, times),)
                if term.role == "required" and leaf in self._instead_of.get(term.leaf, ()):
                    return ()
        return None

    def _is_needless(self, remainder: int, leaf: int, parts: Sequence[tuple[int, int]]) -> bool:
        """Whether a round would take only calls that rounds of single calls beside it could take as well."""
        term = self._terms[remainder]
        if not isinstance(term, _Rounds) or term.least > 0 or isinstance(term.plan.part, Place):
            return False
        free: set[int] = set()
        for part, _ in parts:
            other = self._terms[part]
            if isinstance(other, _Rounds) and other.most is None and isinstance(other.plan.part, Place):
                free.add(self._class_of[other.plan.part])
        return leaf in free and free.issuperset(self._leaves_in(term.plan))

    def _leaves_in(self, plan: Rounds) -> frozenset[int]:
        leaves = self._leaves.get(plan)
        if leaves is None:
            leaves = self._leaves[plan] = frozenset(self._class_of[place] for place in places_of(plan))
        return leaves

    # What stays empty.

    def missing(self, remainder: int) -> int | None:
        """The least number of required places that stay empty; None where an optional group is unfinished."""
        if remainder not in self._missing:
            self._missing[remainder] = self._count_missing(remainder)
        return self._missing[remainder]

    def _count_missing(self, remainder: int) -> int | None:
        term = self._terms[remainder]
        if isinstance(term, _Leaf):
            return _MISSING[term.role]
        if isinstance(term, _Rounds):
            return self.missing(self.of(term.plan.part, None)) if term.least else 0
        if isinstance(term, _Choice):
            branches = [self.missing(branch) for branch in term.branches]
            return min((count for count in branches if count is not None), default=None)
        total = 0
        for part, times in self._parts(remainder):
            count = self.missing(part)
            if count is None:
                return None
            total += count * times
        return total

    def without(self, remainder: int, leaves: frozenset[int]) -> tuple[int, int] | None:
        """The remainder where places of these classes stay empty, and how many of them are required.

        None where an optional group stays unfinished.
        """
        key = (remainder, leaves)
        if key not in self._without:
            self._without[key] = self._reduced(remainder, leaves)
        return self._without[key]

    def _reduced(self, remainder: int, leaves: frozenset[int]) -> tuple[int, int] | None:
        term = self._terms[remainder]
        if isinstance(term, _Nothing) or (isinstance(term, _Leaf) and term.leaf not in leaves):
            return remainder, 0
        if isinstance(term, _Leaf):
            missing = _MISSING[term.role]
            return None if missing is None else (NOTHING, missing)
        if isinstance(term, _Rounds):
            if self.without(self.of(term.plan.part, None), leaves) is not None:
                return remainder, 0
            return None if term.least else (NOTHING, 0)
        if isinstance(term, _Choice):
            return self._reduced_choice(term, leaves)
        missing = 0
        parts: list[tuple[int, int]] = []
        for part, times in self._parts(remainder):
            reduced = self.without(part, leaves)
            if reduced is None:
                return None
            parts.append((reduced[0], times))
            missing += reduced[1] * times
        return self._joined(parts, ordered=isinstance(term, _Sequence)), missing

    def _reduced_choice(self, term: _Choice, leaves: frozenset[int]) -> tuple[int, int] | None:
        reduced = {branch: self.without(branch, leaves) for branch in term.branches}
        possible = {branch: left for branch, left in reduced.items() if left is not None}
        if not possible:
            return None
        if all(rest == NOTHING for rest, _ in possible.values()):
            return NOTHING, min(missing for _, missing in possible.values())
        if len({self.plain(branch) for branch in possible}) == 1:  # without addresses there is one
            return next(iter(possible.values()))
        # How many stay empty depends on the branch that will be taken: they are counted then.
        return self._choice(possible), 0

    # One form for what is equal.

    def plain(self, remainder: int) -> int:
        """The same remainder without addresses."""
        plain = self._plain.get(remainder)
        if plain is None:
            plain = self._plain[remainder] = self._without_addresses(remainder)
        return plain

    def _without_addresses(self, remainder: int) -> int:
        term = self._terms[remainder]
        if isinstance(term, _Leaf):
            return self._number(term._replace(address=None))
        if isinstance(term, _Rounds):
            return self._number(term._replace(address=None, number=0))
        if isinstance(term, _Choice):
            return self._choice(map(self.plain, term.branches))
        parts = [(self.plain(part), times) for part, times in self._parts(remainder)]
        return self._joined(parts, ordered=isinstance(term, _Sequence))

    def _number(self, term: _Term) -> int:
        number = self._numbers.get(term)
        if number is None:
            number = self._numbers[term] = len(self._terms)
            self._terms.append(term)
        return number

    def _parts(self, remainder: int) -> Iterable[tuple[int, int]]:
        """The parts of a sequence, or of what stands side by side, each with how often it is there."""
        term = self._terms[remainder]
        if isinstance(term, _Parallel):
            return term.parts
        return ((part, 1) for part in self._in_sequence(remainder))

    def _in_sequence(self, remainder: int) -> Iterator[int]:
        while isinstance(term := self._terms[remainder], _Sequence):
            yield term.first
            remainder = term.rest
        if remainder != NOTHING:
            yield remainder

    def _joined(self, parts: Iterable[tuple[int, int]], *, ordered: bool) -> int:
        if not (ordered and self._ordered):
            counts: dict[int, int] = {}
            for part, times in parts:
                self._add(part, times, counts)
            return self._side_by_side(counts)
        rest = NOTHING
        for one in reversed([inner for part, _ in parts for inner in self._in_sequence(part)]):
            rest = one if rest == NOTHING else self._number(_Sequence(one, rest))
        return rest

    def _add(self, part: int, times: int, counts: dict[int, int]) -> None:
        if part == NOTHING:
            return
        term = self._terms[part]
        for one, count in term.parts if isinstance(term, _Parallel) else ((part, 1),):
            total = counts.get(one, 0) + count * times
            counts[one] = 1 if total > 1 and self._is_its_own_double(one) else total

    def _side_by_side(self, counts: Mapping[int, int]) -> int:
        if len(counts) < 2:
            part, times = next(iter(counts.items()), (NOTHING, 1))
            if times == 1:
                return part
        return self._number(_Parallel(tuple(sorted(counts.items()))))

    def _is_its_own_double(self, remainder: int) -> bool:
        """Whether to have it twice is to have it once: rounds without limit, none waiting for another."""
        term = self._terms[remainder]
        if not isinstance(term, _Rounds) or term.least > 0 or term.most is not None:
            return False
        return not self._ordered or isinstance(term.plan.part, Place)

    def _choice(self, branches: Iterable[int]) -> int:
        distinct = tuple(dict.fromkeys(branches))
        return distinct[0] if len(distinct) == 1 else self._number(_Choice(distinct))
