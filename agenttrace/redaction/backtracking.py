"""Whether a search with a user's regular expression could take longer than anybody waits.

Python's `re` tries every way in which a text can be divided among the parts of a pattern. Where a repetition
stands in a repetition, and nothing between says where one turn ends, there are twice as many ways with each
character: ``(a+)+b`` takes years in thirty of them. Such a search cannot be ended, and holds every thread up.
Patterns are looked at, not tried: see "Runaway regular expressions" in Friedl, Mastering Regular Expressions.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from importlib import import_module
from typing import Any

_FEW_TURNS = 10
"""Repetitions of fewer turns than these try few ways."""

_SAMPLE = frozenset(range(0x250))
"""Characters by which sets of them are compared; others that a pattern names stand for themselves."""

_CATEGORIES = {
    "DIGIT": frozenset(code for code in _SAMPLE if chr(code).isdigit()),
    "SPACE": frozenset(code for code in _SAMPLE if chr(code).isspace()),
    "WORD": frozenset(code for code in _SAMPLE if chr(code).isalnum() or chr(code) == "_"),
}

_Item = tuple[Any, Any]


def runs_away(pattern: re.Pattern[str]) -> bool:
    """Returns True if the steps of a search may double with each character of a text."""
    try:
        parse = import_module("re._parser").parse
    except ImportError:  # another Python's: nothing is known of the pattern
        return False
    return _any_runs_away(list(parse(pattern.pattern, pattern.flags)))


def _any_runs_away(items: list[_Item]) -> bool:
    return any(_is_ambiguous(body) for body in _repeated(items))


def _repeated(items: list[_Item]) -> Iterator[list[_Item]]:
    """The bodies of all repetitions of many turns that can be tried in other ways."""
    for item in items:
        if _name(item) in ("MAX_REPEAT", "MIN_REPEAT") and item[1][1] >= _FEW_TURNS:
            yield list(item[1][2])
        for body in _bodies(item):
            yield from _repeated(body)


def _is_ambiguous(body: list[_Item]) -> bool:
    """Returns True if the same text may be one turn of this body, or several, or one in two ways."""
    for place, item in enumerate(body):
        others = body[:place] + body[place + 1 :]
        for inner in _varying(item):
            consumed = _characters(inner)
            if not any(consumed.isdisjoint(needed) for needed in _needed(others)):
                return True
        if any(_alike(branches) for branches in _choices(item)):
            return True
    return False


def _varying(item: _Item) -> Iterator[list[_Item]]:
    """The bodies of the repetitions in an item whose number of turns may vary, but for what is atomic."""
    if _name(item) in ("MAX_REPEAT", "MIN_REPEAT"):
        least, most, inner = item[1]
        if most > least:
            yield list(inner)
            return
    if _name(item) == "BRANCH" and not all(item[1][1]):  # the rest of an alternative that begins as another
        yield [part for branch in item[1][1] for part in branch]
    if _name(item) not in ("ATOMIC_GROUP", "POSSESSIVE_REPEAT", "ASSERT", "ASSERT_NOT"):
        for body in _bodies(item):
            for part, others in _each_with_others(body):
                for inner_body in _varying(part):
                    # What this group itself needs between its turns says where they end.
                    consumed = _characters(inner_body)
                    if not any(consumed.isdisjoint(needed) for needed in _needed(others)):
                        yield inner_body


def _each_with_others(body: list[_Item]) -> Iterator[tuple[_Item, list[_Item]]]:
    for place, part in enumerate(body):
        yield part, body[:place] + body[place + 1 :]


def _choices(item: _Item) -> Iterator[list[list[_Item]]]:
    """The alternatives that stand in an item, outside of repetitions of their own."""
    if _name(item) == "BRANCH":
        yield [list(branch) for branch in item[1][1]]
    elif _name(item) == "SUBPATTERN":
        for part in item[1][3]:
            yield from _choices(part)


def _alike(branches: list[list[_Item]]) -> bool:
    """Returns True if two alternatives may begin with the same character, or are both empty."""
    begins: set[int] = set()
    empty = 0
    for branch in branches:
        first = _characters(branch[:1])
        empty += not branch
        if empty > 1 or not begins.isdisjoint(first):
            return True
        begins |= first
    return False


def _needed(items: list[_Item]) -> Iterator[frozenset[int]]:
    """For each character that these items need in any case, those that it may be."""
    for item in items:
        name = _name(item)
        if name in ("LITERAL", "NOT_LITERAL", "IN", "ANY"):
            yield _characters([item])
        elif name == "SUBPATTERN":
            yield from _needed(list(item[1][3]))
        elif name == "ATOMIC_GROUP":
            yield from _needed(list(item[1]))
        elif name in ("MAX_REPEAT", "MIN_REPEAT", "POSSESSIVE_REPEAT") and item[1][0] > 0:
            yield from _needed(list(item[1][2]))


def _characters(items: list[_Item]) -> frozenset[int]:
    """Every character that stands in what these items match."""
    members: set[int] = set()
    for item in items:
        name, value = _name(item), item[1]
        if name == "LITERAL":
            members |= {value, ord(chr(value).swapcase()[0])}
        elif name == "NOT_LITERAL":
            members |= _SAMPLE - {value}
        elif name == "RANGE":
            members |= {code for code in _SAMPLE if value[0] <= code <= value[1]} | set(value)
        elif name == "CATEGORY":
            category = str(value).removeprefix("CATEGORY_")
            known = _CATEGORIES[category.removeprefix("NOT_")]
            members |= _SAMPLE - known if category.startswith("NOT_") else known
        elif name == "IN":
            negated = _name(value[0]) == "NEGATE"
            inside = _characters(value[negated:])
            members |= _SAMPLE - inside if negated else inside
        elif name in ("ANY", "GROUPREF"):
            members |= _SAMPLE
        elif name not in ("ASSERT", "ASSERT_NOT", "AT"):
            for body in _bodies(item):
                members |= _characters(body)
    return frozenset(members)


def _bodies(item: _Item) -> list[list[_Item]]:
    """The sequences that stand directly in an item."""
    name, value = _name(item), item[1]
    if name == "SUBPATTERN":
        return [list(value[3])]
    if name == "BRANCH":
        return [list(branch) for branch in value[1]]
    if name in ("MAX_REPEAT", "MIN_REPEAT", "POSSESSIVE_REPEAT"):
        return [list(value[2])]
    if name == "ATOMIC_GROUP":
        return [list(value)]
    if name in ("ASSERT", "ASSERT_NOT"):
        return [list(value[1])]
    if name == "GROUPREF_EXISTS":
        return [list(body) for body in value[1:] if body is not None]
    return []


def _name(item: _Item) -> str:
    return str(item[0])
