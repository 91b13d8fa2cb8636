"""What patterns mean, written down once more for tests: by derivatives, sharing nothing with the engine.

A pattern becomes nested tuples, in which calls are numbers. `accepts` says whether a run holds in a mode;
`best_coverage` is the greatest coverage over every way to align it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from functools import cache, lru_cache
from random import Random
from typing import Any

from agenttrace.expectations import any_of, call, many, opt, par, seq
from agenttrace.expectations.expectation import Mode
from agenttrace.expectations.pattern import AnyOf, Call, Many, Par, Pattern, Seq

Term = tuple[Any, ...]
Run = Sequence[dict[str, Any]]
NOTHING: Term = ("seq",)
UNORDERED = ("any_order", "contains", "only")


def accepts(pattern: Pattern, run: Run, mode: Mode) -> bool:
    """Whether a run holds: the set of what may remain, call by call."""
    expected = list(pattern.calls())
    fits = [[_agreement(one, made) == 1 for made in run] for one in expected]
    free = mode not in UNORDERED
    left = {_term(pattern, iter(range(len(expected))), optional=mode == "only", ordered=free)}
    may_skip = mode in ("in_order", "contains", "lcs")
    for position in range(len(run)):
        after = {rest for term in left for number, rest in _derivatives(term, free) if fits[number][position]}
        left = left | after if may_skip else after
    return any(map(_is_nullable, left))


def best_coverage(pattern: Pattern, run: Run, mode: Mode) -> Fraction:
    """The greatest share of the needed calls that a run can be said to have; 1 where none is needed."""
    expected = list(pattern.calls())
    agreement = [[_agreement(one, made) for made in run] for one in expected]
    ordered = mode not in UNORDERED
    start = roles(pattern, iter(range(len(expected))), "required", ordered)

    @cache
    def outcomes(term: Term, position: int) -> frozenset[tuple[int, Fraction]]:
        """Every number of needed calls from here on, with every total agreement."""
        if position == len(run):
            return frozenset((count, Fraction(0)) for count in end_counts(term))
        reached = set(outcomes(term, position + 1))
        for number, role, skipped, rest in moves(term, ordered):
            share = agreement[number][position]
            if share is None or (role != "required" and share < 1):
                continue
            needed = role == "required"
            for count, total in outcomes(rest, position + 1):
                reached.add((count + skipped + needed, total + (share if needed else 0)))
        return frozenset(reached)

    return max(total / count if count else Fraction(1) for count, total in outcomes(start, 0))


def _agreement(expected: Call, made: dict[str, Any]) -> Fraction | None:
    """How far a call agrees, None where it has another name: arguments are small integers here."""
    if expected.name != made["name"]:
        return None
    if not isinstance(expected.arguments, dict):
        return Fraction(1)
    keys = expected.arguments.keys() | made["arguments"].keys()
    equal = [key for key in expected.arguments if expected.arguments[key] == made["arguments"].get(key)]
    return Fraction(len(equal), len(keys)) if keys else Fraction(1)


def _joined(kind: str, *parts: Term) -> Term:
    """A group in one form, so that there are few different ones."""
    inner = [one for part in parts for one in (part[1:] if part[0] == kind else (part,)) if one != NOTHING]
    if len(inner) == 1:
        return inner[0]
    return (kind, *(sorted(inner, key=repr) if kind == "par" else inner)) if inner else NOTHING


# Recognising: ("call", n), ("seq", …), ("par", …), ("any", …), ("many", part, least, most)


def _term(pattern: Pattern, numbers: Iterator[int], *, optional: bool, ordered: bool) -> Term:
    def inner(part: Pattern) -> Term:
        return _term(part, numbers, optional=optional, ordered=ordered)

    if isinstance(pattern, Call):
        one: Term = ("call", next(numbers))
        return ("many", one, 0, 1) if optional else one
    if isinstance(pattern, Many):
        return ("many", inner(pattern.part), pattern.least, pattern.most)
    word = {Seq: "seq" if ordered else "par", Par: "par", AnyOf: "any"}[type(pattern)]  # type: ignore[index]
    return (word, *map(inner, pattern.parts))  # type: ignore[attr-defined]


@lru_cache(50_000)
def _is_nullable(term: Term) -> bool:
    kind, *parts = term
    if kind == "call":
        return False
    if kind == "many":
        return parts[1] == 0 or _is_nullable(parts[0])
    return (any if kind == "any" else all)(map(_is_nullable, parts))


@lru_cache(50_000)
def _derivatives(term: Term, ordered: bool) -> frozenset[tuple[int, Term]]:
    """Each call that may come next, with what remains then."""
    return frozenset(_each_derivative(term, ordered))


def _each_derivative(term: Term, ordered: bool) -> Iterator[tuple[int, Term]]:
    kind, *parts = term
    if kind == "call":
        yield parts[0], NOTHING
    elif kind == "any":
        for part in parts:
            yield from _derivatives(part, ordered)
    elif kind == "many":
        part, least, most = parts
        if most != 0:
            rest = ("many", part, max(least - 1, 0), None if most is None else most - 1)
            for number, after in _derivatives(part, ordered):
                yield number, _joined("seq" if ordered else "par", after, rest)
    else:
        for at, part in enumerate(parts):
            before = [] if kind == "seq" else parts[:at]
            for number, after in _derivatives(part, ordered):
                yield number, _joined(kind, *before, after, *parts[at + 1 :])
            if kind == "seq" and not _is_nullable(part):
                return


# Aligning, where calls may stay missing: ("call", n, role); for further rounds ("rounds", part, most)


def roles(pattern: Pattern, numbers: Iterator[int], role: str, ordered: bool) -> Term:
    if isinstance(pattern, Call):
        return ("call", next(numbers), role)
    if isinstance(pattern, Many):
        here = list(numbers_of(pattern.part, numbers))
        must = [roles(pattern.part, iter(here), role, ordered) for _ in range(pattern.least)]
        most = None if pattern.most is None else pattern.most - pattern.least
        more = ("rounds", roles(pattern.part, iter(here), "whole", ordered), most)
        return ("seq" if ordered else "par", *must, more)
    word = {Seq: "seq" if ordered else "par", Par: "par", AnyOf: "any"}[type(pattern)]  # type: ignore[index]
    return (word, *(roles(part, numbers, role, ordered) for part in pattern.parts))  # type: ignore[attr-defined]


def numbers_of(pattern: Pattern, numbers: Iterator[int]) -> Iterator[int]:
    """The numbers of the calls that a pattern mentions."""
    return (next(numbers) for _ in pattern.calls())


def end_counts(term: Term) -> set[int]:
    """How many needed calls stay missing where nothing more is called, in every way that is allowed."""
    kind, *parts = term
    if kind == "call":
        return {1} if parts[1] == "required" else set()
    if kind == "rounds":
        return {0}
    if kind == "any":
        return set().union(*map(end_counts, parts))
    counts = {0}
    for part in parts:
        counts = {a + b for a in counts for b in end_counts(part)}
    return counts


def moves(term: Term, ordered: bool) -> Iterator[tuple[int, str, int, Term]]:
    """Each call that may be made next: its role, how many before it stay missing, what remains."""
    kind, *parts = term
    if kind == "call":
        yield parts[0], parts[1], 0, NOTHING
    elif kind == "any":
        for part in parts:
            yield from moves(part, ordered)
    elif kind == "rounds":
        part, most = parts
        if most != 0:
            rest = ("rounds", part, None if most is None else most - 1)
            for number, role, skipped, after in moves(part, ordered):
                yield number, role, skipped, _joined("seq" if ordered else "par", after, rest)
    elif kind == "par":
        for at, part in enumerate(parts):
            for number, role, skipped, after in moves(part, ordered):
                yield number, role, skipped, _joined("par", *parts[:at], after, *parts[at + 1 :])
    else:
        before = {0}
        for at, part in enumerate(parts):
            for number, role, skipped, after in moves(part, ordered):
                for count in before:
                    yield number, role, count + skipped, _joined("seq", after, *parts[at + 1 :])
            before = {a + b for a in before for b in end_counts(part)}


# Drawing patterns and runs


def drawn_pattern(random: Random, depth: int, *, arguments: bool) -> Pattern:
    """A pattern of the whole algebra over three tools."""

    def inner() -> Pattern:
        return drawn_pattern(random, depth - 1, arguments=arguments)

    def several(least: int) -> list[Pattern]:
        return [inner() for _ in range(random.randint(least, 3))]

    kinds: list[Callable[[], Pattern]] = [
        lambda: seq(*several(1)),
        lambda: par(*several(1)),
        lambda: any_of(*_distinct(several(2))),
        lambda: opt(inner()),
        lambda: many(inner(), random.randint(0, 2)),
        lambda: many(inner(), *random.choice([(0, 2), (1, 1), (1, 2), (1, 3), (2, 2), (2, 3)])),
    ]
    if depth == 0 or random.random() < 0.2:
        return call("abc"[random.randrange(3)], _drawn_arguments(random) if arguments else None)
    return random.choice(kinds)()


def _drawn_arguments(random: Random) -> dict[str, int] | None:
    if random.random() < 0.4:
        return None
    return {key: random.randint(0, 1) for key in "xy" if random.random() < 0.7}


def _distinct(patterns: list[Pattern]) -> list[Pattern]:
    return [one for at, one in enumerate(patterns) if one not in patterns[:at]]


def drawn_run(random: Random, pattern: Pattern, most: int) -> list[dict[str, Any]]:
    """A run that the pattern describes, often with calls left out, doubled, moved or of another kind."""
    run = [
        {"name": one.name, "arguments": dict(one.arguments) if isinstance(one.arguments, dict) else {}}
        for one in _word(random, pattern)
    ][:most]
    for _ in range(random.choice([0, 0, 1, 1, 2, 4])):
        at = random.randint(0, len(run))
        kind = random.randrange(4)
        if kind == 0 and len(run) < most:
            arguments = {key: random.randint(0, 1) for key in "xy" if random.random() < 0.5}
            run.insert(at, {"name": random.choice("abc"), "arguments": arguments})
        elif kind == 1:
            del run[at : at + 1]
        elif kind == 2:
            run[at:] = reversed(run[at:])
        elif len(run) < most:
            run[at:at] = [dict(one) for one in run[at : at + 1]]
    return run


def _word(random: Random, pattern: Pattern) -> list[Call]:
    if isinstance(pattern, Call):
        return [pattern]
    if isinstance(pattern, AnyOf):
        return _word(random, random.choice(pattern.parts))
    if isinstance(pattern, Many):
        most = pattern.least + 3 if pattern.most is None else pattern.most
        rounds = random.randint(pattern.least, most)
        return [one for _ in range(rounds) for one in _word(random, pattern.part)]
    assert isinstance(pattern, Seq | Par)
    words = [_word(random, part) for part in pattern.parts]
    if isinstance(pattern, Seq):
        return [one for word in words for one in word]
    merged: list[Call] = []
    while any(words):
        merged.append(random.choice([word for word in words if word]).pop(0))
    return merged
