"""Texts made from a regular expression: what leads to one of its repetitions, and then that many times over.

An expression with two ways through the same characters, `(a+)+b`, takes twice as long with each turn. What an
expression takes is known from its parts, so each repetition in it can be tried with what it repeats itself.
"""

import importlib
import pkgutil
import random
import re
from collections.abc import Iterator
from re import _constants as codes  # type: ignore[attr-defined]
from re import _parser as parser  # type: ignore[attr-defined]
from types import ModuleType
from typing import Any

CHARACTERS = [chr(code) for code in range(32, 127)] + ["\n", "\t", "\r", "é", "\x1b"]
REPEATS = (codes.MAX_REPEAT, codes.MIN_REPEAT, codes.POSSESSIVE_REPEAT)
MANY = 10
ENDS = ("", "\x00", "!", "x", " z", "'", '"', "\n")


def expressions_of(package: ModuleType) -> dict[str, re.Pattern[str]]:
    """All compiled expressions that the modules of a package have, by where they stand."""
    places: dict[re.Pattern[str], str] = {}
    for module in pkgutil.iter_modules(package.__path__, f"{package.__name__}."):
        for name, value in vars(importlib.import_module(module.name)).items():
            for place, pattern in enumerate(_patterns_in(value)):
                places.setdefault(pattern, f"{module.name}.{name}[{place}]")
    return {where: pattern for pattern, where in places.items()}


def _patterns_in(value: Any, depth: int = 0) -> Iterator[re.Pattern[str]]:
    if isinstance(value, re.Pattern):
        if isinstance(value.pattern, str):
            yield value
    elif depth < 3 and isinstance(value, list | tuple | set | frozenset):
        for one in value:
            yield from _patterns_in(one, depth + 1)
    elif depth < 3 and isinstance(value, dict):
        for one in value.values():
            yield from _patterns_in(one, depth + 1)
    elif depth < 3 and type(value).__module__.startswith("agenttrace") and hasattr(value, "__dict__"):
        for one in vars(value).values():
            yield from _patterns_in(one, depth + 1)


def pumped(pattern: re.Pattern[str], chance: random.Random, samples: int, times: int) -> Iterator[str]:
    """So many texts for each repetition of an expression."""
    tree = parser.parse(pattern.pattern, pattern.flags)
    for repeat in _repeats(tree):
        for _ in range(samples):
            sampler = _Sampler(chance)
            yield sampler.up_to(tree, repeat, times)[0] + chance.choice(ENDS)


def _bodies(item: Any) -> list[Any]:
    code, operand = item
    if code in REPEATS:
        return [operand[2]]
    if code is codes.BRANCH:
        return list(operand[1])
    if code is codes.SUBPATTERN:
        return [operand[3]]
    if code is codes.ATOMIC_GROUP:
        return [operand]
    if code in (codes.ASSERT, codes.ASSERT_NOT):
        return [operand[1]]
    return [body for body in operand[1:] if body] if code is codes.GROUPREF_EXISTS else []


def _repeats(sequence: Any) -> Iterator[Any]:
    for item in sequence:
        if item[0] in REPEATS and item[1][1] >= MANY:
            yield item
        for body in _bodies(item):
            yield from _repeats(body)


class _Sampler:
    """Makes texts that an expression takes, its assertions aside."""

    def __init__(self, chance: random.Random) -> None:
        self._chance = chance
        self._groups: dict[int, str] = {}

    def up_to(self, sequence: Any, repeat: Any, times: int) -> tuple[str, bool]:
        """What leads to a repetition and then its body over and over; whether it stands in the sequence."""
        text = ""
        for item in sequence:
            if item[1] is repeat[1]:
                turns = self._chance.choice((1, 1, 1, 2, 3))
                return text + "".join(self.sequence(item[1][2]) for _ in range(turns)) * times, True
            for body in _bodies(item):
                lead, is_here = self.up_to(body, repeat, times)
                if is_here:
                    return text + lead, True
            text += self._one(item)
        return text, False

    def sequence(self, sequence: Any) -> str:
        return "".join(map(self._one, sequence))

    def _one(self, item: Any) -> str:
        code, operand = item
        if code is codes.LITERAL:
            return chr(operand)
        if code in (codes.IN, codes.NOT_LITERAL, codes.ANY):
            characters = _characters(item)
            return self._chance.choice(characters) if characters else ""
        if code in REPEATS:
            least, most, body = operand
            turns = self._chance.choice([least, min(int(most), least + 1), min(int(most), least + 3)])
            return "".join(self.sequence(body) for _ in range(min(turns, 40)))
        if code is codes.GROUPREF:
            return self._groups.get(operand, "")
        if code in (codes.ASSERT, codes.ASSERT_NOT) or not (bodies := _bodies(item)):
            return ""
        if code is codes.GROUPREF_EXISTS:
            bodies = bodies[:1] if operand[0] in self._groups else bodies[1:]
        text = self.sequence(self._chance.choice(bodies)) if bodies else ""
        if code is codes.SUBPATTERN and operand[0] is not None:
            self._groups[operand[0]] = text
        return text


def _characters(item: Any) -> list[str]:
    """What one place of an expression takes."""
    code, operand = item
    if code is codes.ANY:
        return CHARACTERS[:95]
    if code is codes.NOT_LITERAL:
        return [one for one in CHARACTERS if one != chr(operand)]
    wanted: set[str] = set()
    for kind, part in operand:
        if kind is codes.LITERAL:
            wanted.add(chr(part))
        elif kind is codes.RANGE:
            wanted.update(map(chr, range(part[0], min(part[1], part[0] + 300) + 1)))
        elif kind is codes.CATEGORY:
            wanted.update(one for one in CHARACTERS if _is_of(part, one))
    if operand[0][0] is codes.NEGATE:
        return [one for one in CHARACTERS if one not in wanted]
    return sorted(wanted)


def _is_of(category: Any, one: str) -> bool:
    name = str(category)
    is_of = {
        "DIGIT": one.isdigit(),
        "SPACE": one.isspace(),
        "WORD": one.isalnum() or one == "_",
    }[name.rpartition("_")[2]]
    return is_of != ("NOT" in name)
