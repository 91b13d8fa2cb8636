"""Small patterns and runs for property tests, with brute-force oracles of what they mean."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import permutations, product

from hypothesis import strategies as st

from agenttrace.core.tool_call import ToolCall
from agenttrace.core.trace import Trace
from agenttrace.expectations.pattern import AnyOf, Call, Many, Par, Pattern, Seq, any_of, call, many, par, seq

NAMES = "abc"


def trace_of(calls: Sequence[str | dict[str, object]]) -> Trace:
    return Trace.from_calls(list(calls))


def expected_calls(arguments: bool = True) -> st.SearchStrategy[Call]:
    names = st.sampled_from(NAMES)
    if not arguments:
        return names.map(call)
    values = st.dictionaries(st.sampled_from("xyz"), st.integers(0, 1), max_size=3)
    return st.one_of(names.map(call), st.builds(lambda n, v: call(n, v), names, values))


def actual_runs(most: int = 6) -> st.SearchStrategy[list[dict[str, object]]]:
    one = st.fixed_dictionaries(
        {
            "name": st.sampled_from(NAMES),
            "arguments": st.dictionaries(st.sampled_from("xyz"), st.integers(0, 1), max_size=3),
        }
    )
    return st.lists(one, max_size=most)


def ordered_terms(most: int = 5, arguments: bool = True) -> st.SearchStrategy[Pattern]:
    """Terms of call, seq and par, with at most so many calls."""
    leaf = expected_calls(arguments)
    return st.recursive(
        leaf,
        lambda inner: st.one_of(
            st.lists(inner, min_size=1, max_size=3).map(lambda parts: seq(*parts)),
            st.lists(inner, min_size=1, max_size=3).map(lambda parts: par(*parts)),
        ),
        max_leaves=most,
    ).filter(lambda term: len(list(term.calls())) <= most)


def terms(most: int = 4, arguments: bool = False) -> st.SearchStrategy[Pattern]:
    """Terms of the whole algebra."""
    leaf = expected_calls(arguments)

    def alternatives(parts: list[Pattern]) -> Pattern:
        kept: list[Pattern] = []
        for part in parts:
            if part not in kept:
                kept.append(part)
        return any_of(*kept)

    return st.recursive(
        leaf,
        lambda inner: st.one_of(
            st.lists(inner, min_size=1, max_size=2).map(lambda parts: seq(*parts)),
            st.lists(inner, min_size=1, max_size=2).map(lambda parts: par(*parts)),
            st.lists(inner, min_size=1, max_size=2).map(alternatives),
            st.tuples(inner, st.sampled_from([(0, 1), (1, 2), (0, 2), (2, 2)])).map(
                lambda drawn: many(drawn[0], *drawn[1])
            ),
        ),
        max_leaves=most,
    ).filter(lambda term: len(list(term.calls())) <= most)


def language(term: Pattern, longest: int) -> set[tuple[str, ...]]:
    """Every sequence of names, up to a length, that a term of plain names describes."""
    if isinstance(term, Call):
        return {(term.name,)}
    if isinstance(term, Seq):
        words = {()}
        for part in term.parts:
            words = {a + b for a in words for b in language(part, longest) if len(a + b) <= longest}
        return words
    if isinstance(term, Par):
        words = {()}
        for part in term.parts:
            words = {
                w
                for a in words
                for b in language(part, longest)
                if len(a + b) <= longest
                for w in shuffles(a, b)
            }
        return words
    if isinstance(term, AnyOf):
        return set().union(*(language(part, longest) for part in term.parts))
    assert isinstance(term, Many)
    assert term.most is not None
    one = language(term.part, longest)
    words: set[tuple[str, ...]] = set()
    power = {()}
    for count in range(term.most + 1):
        if count >= term.least:
            words |= power
        power = {a + b for a in power for b in one if len(a + b) <= longest}
    return words


def shuffles(a: tuple[str, ...], b: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
    if not a or not b:
        yield a + b
        return
    for rest in shuffles(a[1:], b):
        yield (a[0], *rest)
    for rest in shuffles(a, b[1:]):
        yield (b[0], *rest)


def words(longest: int, names: str = NAMES) -> Iterator[tuple[str, ...]]:
    for length in range(longest + 1):
        yield from product(names, repeat=length)


def is_subsequence(inner: Sequence[str], outer: Sequence[str]) -> bool:
    rest = iter(outer)
    return all(item in rest for item in inner)


def orders(term: Pattern) -> tuple[list[Call], set[tuple[int, int]]]:
    """The calls of a term of call, seq and par, and which must come before which."""
    if isinstance(term, Call):
        return [term], set()
    assert isinstance(term, Seq | Par)
    calls: list[Call] = []
    before: set[tuple[int, int]] = set()
    for part in term.parts:
        inner, pairs = orders(part)
        shift = len(calls)
        if isinstance(term, Seq):
            before |= {(a, shift + b) for a in range(shift) for b in range(len(inner))}
        before |= {(shift + a, shift + b) for a, b in pairs}
        calls += inner
    return calls, before


def mappings(places: int, calls: int) -> Iterator[dict[int, int]]:
    """Every one-to-one partial mapping of places to calls."""
    targets = [None, *range(calls)]
    for chosen in product(targets, repeat=places):
        used = [at for at in chosen if at is not None]
        if len(used) == len(set(used)):
            yield {place: at for place, at in enumerate(chosen) if at is not None}


def multiset_words(word: Sequence[str]) -> set[tuple[str, ...]]:
    return set(permutations(word))


def names_of(calls: Sequence[ToolCall]) -> list[str]:
    return [one.name for one in calls]
